#!/usr/bin/env python3
"""Compacts every table of a namespace as far as it goes, and compares what became of each with what is expected.

    compact.py URI [--namespace foreign] [--warehouse main] [--expected FILE] [--write]

The tables get `timelake.compaction.min-input-files` = 2, so that everything eligible is merged. A table passes when no run failed,
the last run found nothing more to do or must leave the table alone, and its runs are those of the expectation: {table: {"merged": what
the runs did, "ends": state, "reason": why nothing more}}. `--write` makes the expectation instead; read the difference before you keep it.
Run the server with a long TIMELAKE_COMPACTION_QUIET, so that nothing is merged before. Last line: N passed, N failed.
"""
import argparse, json, re, sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from server import Running, wait_until

SECONDS_MAX = 180
RUNS_MAX = 10
PROPERTIES = {"timelake.compaction.min-input-files": "2"}
FILE_NAME = re.compile(r"[^/ ]+\.(parquet|orc|avro)")


def run_once(server, table):
    """The run that a request leads to, once it has ended."""
    path = f"/admin/v1/tables/{table['id']}"
    known = {run["id"] for run in server.get(f"{path}/maintenance")[1]["runs"]}
    status, answer = server.post(f"{path}/compact")
    assert status == 202, f"POST …/compact: {status} {answer}"

    def ended():
        runs = [run for run in server.get(f"{path}/maintenance")[1]["runs"] if run["id"] not in known]
        return next((run for run in runs if run["state"] != "running"), None)
    return wait_until(ended, SECONDS_MAX, "the run ends")


def compact(server, table, prefix):
    """What became of a table, without anything that differs from run to run."""
    namespace = "%1F".join(table["namespace"])
    status, answer = server.post(f"/v1/{prefix}/namespaces/{namespace}/tables/{table['name']}",
                                 {"updates": [{"action": "set-properties", "updates": PROPERTIES}]})
    assert status == 200, f"set-properties: {status} {answer}"
    merged = []
    for _ in range(RUNS_MAX):
        run = run_once(server, table)
        assert run["state"] in ("succeeded", "nothing-to-do", "skipped"), f"{run['state']}: {run['reason']}"
        reason = FILE_NAME.sub(r"*.\1", run["reason"].replace(table["location"], "<table>"))
        if run["state"] != "succeeded":
            return {"merged": merged, "ends": run["state"], "reason": reason}
        merged.append(reason)
    raise AssertionError(f"{RUNS_MAX} runs were not enough: {merged}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("uri")
    parser.add_argument("--namespace", default="foreign")
    parser.add_argument("--warehouse", default="main")
    parser.add_argument("--expected", default=HERE / "expected.json")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    server, passed, failed, found = Running(options.uri), 0, 0, {}
    _, config = server.get(f"/v1/config?warehouse={options.warehouse}")
    prefix = config["overrides"]["prefix"]
    _, listed = server.get("/admin/v1/tables?pageSize=1000")
    expected = {} if options.write else json.loads(Path(options.expected).read_text())
    tables = {t["name"]: t for t in listed["tables"] if t["namespace"] == [options.namespace]}
    for name in sorted(tables.keys() | expected.keys()):
        try:
            assert name in tables, "the table is not there"
            found[name] = compact(server, tables[name], prefix)
            assert options.write or found[name] == expected.get(name), f"expected {expected.get(name)}, found {found[name]}"
            passed += 1
            print(f"info ok   {name}: {'; '.join(found[name]['merged'] + [found[name]['reason']])[:300]}", flush=True)
        except AssertionError as broken:
            failed += 1
            print(f"FAIL {name}: {str(broken)[:600]}", flush=True)
    if options.write:
        Path(options.expected).write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
