"""See migrate.sh. Python standard library only; PyIceberg and Spark run in their own Pythons."""
import argparse, json, os, shutil, signal, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from server import ROOT, Reference, Timelake, call

NAMESPACES = [["flat"], ["ü name"], ["deep"], ["deep", "er"], ["deep", "er", "still"], *[[f"n{i}"] for i in range(15)]]
TABLES_WITH_ROWS, ROWS, COMMITTED, LINES_SHOWN = 20, 10, 50, 8
SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}, {"id": 2, "name": "note", "required": False, "type": "string"}]}
VIEW = {"name": "seen", "schema": SCHEMA, "properties": {}, "view-version": {
    "version-id": 1, "schema-id": 0, "timestamp-ms": 1_700_000_000_000, "summary": {}, "default-namespace": ["flat"],
    "representations": [{"type": "sql", "sql": "select id, note from flat.t0", "dialect": "spark"}]}}
passed, failures = 0, []


def check(ok, sentence):
    global passed
    if ok:
        passed += 1
    else:
        failures.append(sentence)
        print(f"FAILED {sentence}", flush=True)


class Catalog:
    """What this script asks of a catalog, ours or the reference, over plain HTTP."""

    def __init__(self, server, warehouse=None):
        self.uri, self.warehouse = server.uri, warehouse
        _, config = call("GET", f"{self.uri}/v1/config" + (f"?warehouse={warehouse}" if warehouse else ""))
        settings = {**config["defaults"], **config["overrides"]}
        self.base = "/".join([f"{self.uri}/v1", *([settings["prefix"]] if "prefix" in settings else [])])
        self.separator = settings.get("namespace-separator", "%1F")

    def path(self, levels, *rest):
        segment = self.separator.join(quote(level, safe="") for level in levels)
        return "/".join([f"{self.base}/namespaces", segment, *(quote(part, safe="") for part in rest)])

    def pointer(self, levels, name, kind="table"):
        status, answer = call("GET", self.path(levels, f"{kind}s", name))
        if status != 200:
            return f"{status} {str(answer)[:200]}"
        return answer["metadata"][f"{kind}-uuid"], answer["metadata-location"]

    def pointers(self, tables):
        with ThreadPoolExecutor(8) as pool:
            return dict(zip(tables, pool.map(lambda table: self.pointer(list(table[0]), table[1]), tables)))


def fill(catalog, tables):
    for levels in NAMESPACES:
        status, answer = call("POST", f"{catalog.base}/namespaces", {"namespace": levels, "properties": {"owner": "ops"}})
        assert status == 200, answer

    def make(table):
        status, answer = call("POST", catalog.path(list(table[0]), "tables"), {"name": table[1], "schema": SCHEMA})
        assert status == 200, answer

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(make, tables))
    status, answer = call("POST", catalog.path(["flat"], "views"), VIEW)
    assert status == 200, answer


def append_rows(catalog, tables):
    cache = Path(os.environ.get("INTEROP_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "timelake-interop")
    python = next(iter(sorted(cache.glob("pyiceberg-*/bin/python"))), None)
    assert python, f"no PyIceberg in {cache}: run tools/interop/provision.sh"
    names = ["\t".join([*levels, name]) for levels, name in tables]
    subprocess.run([python, HERE / "append_rows.py", catalog.uri, str(ROWS), *names], check=True)


def migrate(step, source, target, report, *more):
    """Runs the command; (seconds, exit code, report lines)."""
    arguments = ["migrate", "--from", source.uri, "--to", target.uri, "--report", str(report), *more]
    for option, catalog in (("--from-warehouse", source), ("--to-warehouse", target)):
        arguments += [option, catalog.warehouse] if catalog.warehouse else []
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TIMELAKE_")}
    began = time.monotonic()
    done = subprocess.run(["node", "scripts/run.mjs", "cli", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True)
    seconds = time.monotonic() - began
    last = "\n".join(f"{done.stdout}{done.stderr}".splitlines()[-LINES_SHOWN:])
    print(f"--- {step}: {seconds:.1f} s, exit code {done.returncode}\n{last}\n", flush=True)
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    return seconds, done.returncode, lines


def outcomes(lines, kind):
    counts = {}
    for line in lines:
        if line["kind"] == kind:
            counts[line["outcome"]] = counts.get(line["outcome"], 0) + 1
    return counts


def commit_some(catalog, tables):
    for levels, name in tables:
        body = {"requirements": [], "updates": [{"action": "set-properties", "updates": {"moved": "yes"}}]}
        status, answer = call("POST", catalog.path(list(levels), "tables", name), body)
        assert status == 200, answer


def same_everywhere(step, expected, found):
    wrong = [table for table in expected if found[table] != expected[table]]
    check(not wrong, f"{step}: {len(wrong)} of {len(expected)} tables differ, for example {[(t, expected[t], found[t]) for t in wrong[:1]]}")
    print(f"{step}: {len(expected) - len(wrong)} of {len(expected)} tables load with their uuid and metadata file", flush=True)


def spark(catalog, tables, work):
    expected = work / "expected.json"
    names = [[*levels, name] for levels, name in tables]
    with_rows = [[[*levels, name], ROWS] for levels, name in tables_with_rows(tables)]
    expected.write_text(json.dumps({"tables": names, "rows": with_rows}))
    environment = {**os.environ, "SPARK_SCRIPT": "../migrate/load_tables.py"}
    arguments = [catalog.uri, *([catalog.warehouse] if catalog.warehouse else []), "--", str(expected)]
    began = time.monotonic()
    done = subprocess.run(["bash", str(HERE.parent / "spark/run.sh"), *arguments], env=environment, capture_output=True, text=True)
    print(f"{done.stdout}{done.stderr}Spark: {time.monotonic() - began:.0f} s", flush=True)
    check(done.returncode == 0, f"Spark reads every table of {catalog.uri}")


def tables_with_rows(tables):
    # PyIceberg cannot reach a nested namespace of the reference: its URLs turn %2E into a dot.
    return [table for table in tables if len(table[0]) == 1][:TABLES_WITH_ROWS]


def run(work, table_count, with_spark):
    tables = [(tuple(NAMESPACES[i % len(NAMESPACES)]), f"t{i}" if i % 7 else f"t {i}") for i in range(table_count)]
    ours_settings = {"TIMELAKE_EXTRA_ALLOWED_LOCATIONS": f"file://{work / 'first'}", "TIMELAKE_MAINTENANCE": "off"}
    with Reference(work / "first") as first, Timelake(work / "ours", **ours_settings) as server:
        source, ours = Catalog(first), Catalog(server, "main")
        fill(source, tables)
        append_rows(source, tables_with_rows(tables))
        before = source.pointers(tables)
        check(all(isinstance(pointer, tuple) for pointer in before.values()), "the source loads its own tables")

        _, _, lines = migrate("a dry run", source, ours, work / "dry.jsonl", "--dry-run")
        check(outcomes(lines, "table") == {"to-migrate": table_count}, f"dry run: {outcomes(lines, 'table')}")
        check(call("GET", ours.path(["flat"]))[0] == 404, "a dry run makes nothing")

        seconds, code, lines = migrate("reference to ours", source, ours, work / "there.jsonl", "--freeze-check")
        check(code == 0 and outcomes(lines, "table") == {"migrated": table_count}, f"there: exit {code}, {outcomes(lines, 'table')}")
        print(f"{table_count} tables in {seconds:.1f} s, {table_count / seconds:.0f} tables/s", flush=True)
        same_everywhere("ours", before, ours.pointers(tables))
        check(source.pointers(tables[::10]) == {table: before[table] for table in tables[::10]}, "the source is unchanged")

        _, code, lines = migrate("the same again", source, ours, work / "again.jsonl")
        check(code == 0 and outcomes(lines, "table") == {"already-there": table_count}, f"again: exit {code}, {outcomes(lines, 'table')}")

        commit_some(ours, tables[:COMMITTED])
        _, code, lines = migrate("the source is behind", source, ours, work / "behind.jsonl", "--overwrite")
        check(code == 4 and outcomes(lines, "table") == {"already-there": table_count - COMMITTED, "skipped": COMMITTED},
              f"behind: exit {code}, {outcomes(lines, 'table')}")

        _, code, lines = migrate("ours to the reference that has them", ours, source, work / "kept.jsonl", "--overwrite")
        check(code == 4 and outcomes(lines, "table") == {"already-there": table_count - COMMITTED, "skipped": COMMITTED},
              f"a target that does not move tables: exit {code}, {outcomes(lines, 'table')}")

        after = ours.pointers(tables)
        check(sum(after[table] != before[table] for table in tables) == COMMITTED, "the commits moved their tables alone")
        check(all(after[table][0] == before[table][0] for table in tables), "commits keep the uuids")
        if with_spark:
            spark(ours, tables, work)
        with Reference(work / "second") as second:
            back = Catalog(second)
            seconds, code, lines = migrate("ours to an empty reference", ours, back, work / "back.jsonl")
            check(code == 0 and outcomes(lines, "table") == {"migrated": table_count}, f"back: exit {code}, {outcomes(lines, 'table')}")
            print(f"{table_count} tables in {seconds:.1f} s, {table_count / seconds:.0f} tables/s", flush=True)
            same_everywhere("back", after, back.pointers(tables))
            views = [line["outcome"] for line in lines if line["kind"] == "view"]
            check(views == ["migrated"], f"the view came back: {views}")
            if with_spark:
                spark(back, tables, work)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    # Ends the servers too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    work = Path(tempfile.mkdtemp(prefix="timelake-migrate-"))
    try:
        run(work, options.tables, options.spark)
    finally:
        if options.keep:
            print(f"kept {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
