#!/usr/bin/env python3
"""Many writers on one table at once: (a) strict, each client with its ordinary retries; (b) rebase by table property, client retries off.

    judge.py URI --engine pyiceberg|duckdb|spark [--writers N] [--appends N] [--long N] [--extensions FOLDER] [--work FOLDER] [--only strict|rebase] [--history N] [--seconds N] [--figures-only]

Every writer appends one row at a time, all start together. `spark` is half Spark sessions and half Java clients, the last of which
makes --long appends, past the number of manifests at which the client merges them. Environment: CATALOG_PROPS, DUCKDB_SETUP,
CATALOG_*, S3_* as the scripts of each engine want them.

Checked, for both: how many appends land (all; of DuckDB, which has no retries, 99 % after each writer's first in (a)); what fails
failed by a lost race; the rows are those acknowledged and no others; Java reads the table: every manifest that any snapshot lists
exists, after all the clients' own clean-up, with one snapshot and one entry of the history for each append that landed.
--history asks the catalog to keep so many snapshots, because PyIceberg copies all of them many times for each append; --seconds lets no
writer begin another append after that time. --figures-only prints how it went and checks nothing, for other catalogs. Last line: N passed, N failed.
"""
import argparse, json, os, subprocess, sys, time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from pyiceberg.exceptions import NamespaceAlreadyExistsError

from contention.data_files import SCHEMA, write_row_file
from contention.writing import row_of
from table_files import connect

NAMESPACE = "contention"
PROCESSES_MAX = 8
WRITING_SECONDS_MAX = 1800
REBASE = {"commit.rebase-appends": "true", "commit.retry.num-retries": "0"}
# DuckDB does not retry: only its turns can help it, and the table has to be contended first.
LANDED_SHARE_MIN = {("duckdb", "strict"): 0.99}
TRIM = {"timelake.history.trim.enabled": "true"}
# A client that merges manifests does so from 100 on; a short run must get there too.
SHORT_RUN_MERGE = {"commit.manifest.min-count-to-merge": "10"}
LONG_WHOLE = 250


class Party:
    """A process with some of the writers."""

    def __init__(self, command, log):
        self.log = log
        self.child = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(log, "w"), text=True)

    def line(self):
        found = self.child.stdout.readline()
        assert found, f"a process of writers ended with status {self.child.wait()}: {Path(self.log).read_text()[-800:]}"
        return found.strip()

    def wait_ready(self):
        while self.line() != "ready":
            pass

    def go(self):
        self.child.stdin.write("go\n")
        self.child.stdin.flush()

    def outcomes(self):
        found = json.loads(self.line())
        self.child.stdin.close()
        self.child.wait(timeout=60)
        return found

    def end(self):
        if self.child.poll() is None:
            self.child.kill()


class Contest:
    """One table, one way to write."""

    def __init__(self, options, way):
        self.options, self.way = options, way
        self.engine, self.table_name = options.engine, f"{options.engine}_{way}"
        self.label = f"{self.engine}, {way}"
        self.catalog = connect(options.uri, **json.loads(os.environ.get("CATALOG_PROPS") or "{}"))

    def create(self):
        try:
            self.catalog.create_namespace(NAMESPACE)
        except NamespaceAlreadyExistsError:
            pass
        merge = SHORT_RUN_MERGE if self.options.long < LONG_WHOLE else {}
        trim = {**TRIM, "timelake.history.max-snapshots": str(self.options.history)} if self.options.history else {}
        properties = {"format-version": "2", **merge, **trim, **(REBASE if self.way == "rebase" else {})}
        self.catalog.create_table((NAMESPACE, self.table_name), SCHEMA, properties=properties)

    def order(self, writers):
        return json.dumps({"uri": self.options.uri, "namespace": NAMESPACE, "table": self.table_name, "writers": writers,
                           "appends": self.options.appends, "seconds": self.options.seconds, "extensions": self.options.extensions})

    def commands(self):
        everybody = list(range(self.options.writers))
        if self.engine == "spark":
            half = len(everybody) // 2
            return [[HERE / "spark_writers.sh", self.options.uri, self.order(everybody[:half])],
                    [HERE.parent / "rck/contention.sh", "writers", self.options.uri, NAMESPACE, self.table_name, self.java_files(everybody[half:])]]
        processes = min(PROCESSES_MAX, len(everybody))
        return [[sys.executable, "-W", "ignore", HERE / f"{self.engine}_writers.py", self.order(everybody[first::processes])] for first in range(processes)]

    def java_files(self, writers):
        """Writes the data files that the Java writers append, and the list of them."""
        table, lines = self.catalog.load_table((NAMESPACE, self.table_name)), []
        for writer in writers:
            for turn in range(self.options.long if writer == writers[-1] else self.options.appends):
                location, size = write_row_file(table, writer, turn)
                lines.append(f"{writer} {turn} {location} {size}")
        listed = self.options.work / f"{self.table_name}.files"
        listed.write_text("\n".join(lines))
        return listed

    def write(self):
        """[writer, turn, ms, outcome, detail] of every append, and the seconds that all of them took."""
        parties = [Party(command, self.options.work / f"{self.table_name}-{number}.log") for number, command in enumerate(self.commands())]
        try:
            for party in parties:
                party.wait_ready()
            began = time.monotonic()
            for party in parties:
                party.go()
            return [outcome for party in parties for outcome in party.outcomes()], time.monotonic() - began
        finally:
            for party in parties:
                party.end()

    def audit(self):
        done = subprocess.run([str(HERE.parent / "rck/contention.sh"), "audit", self.options.uri, NAMESPACE, self.table_name],
                              capture_output=True, text=True, timeout=WRITING_SECONDS_MAX)
        assert done.returncode == 0, f"the audit fails: {done.stderr[-800:]}"
        return json.loads(done.stdout.splitlines()[-1])

    def values(self):
        return sorted(self.catalog.load_table((NAMESPACE, self.table_name)).scan(selected_fields=("v",)).to_arrow()["v"].to_pylist())


def figures(label, outcomes, seconds):
    landed = sorted(ms for _, _, ms, outcome, _ in outcomes if outcome == "landed")
    at = lambda share: landed[min(len(landed) - 1, int(share * len(landed)))] if landed else float("nan")
    return (f"info {label}: {len(landed)} of {len(outcomes)} appends ({100 * len(landed) / len(outcomes):.1f} %) in {seconds:.1f} s, {len(landed) / seconds:.1f}/s, "
            f"p50 {at(0.5):.0f} ms, p99 {at(0.99):.0f} ms")


class Judge:
    def __init__(self, options):
        self.options, self.passed, self.failed = options, 0, 0

    def that(self, name, condition, detail=""):
        self.passed, self.failed = self.passed + bool(condition), self.failed + (not condition)
        print(f"{'ok  ' if condition else 'FAIL'} {name}{'' if condition else f': {str(detail)[:600]}'}", flush=True)

    def contest(self, way):
        contest = Contest(self.options, way)
        contest.create()
        outcomes, seconds = contest.write()
        print(figures(contest.label, outcomes, seconds), flush=True)
        if not self.options.figures_only:
            self.verdict(contest, outcomes)

    def verdict(self, contest, outcomes):
        label, share = contest.label, LANDED_SHARE_MIN.get((contest.engine, contest.way), 1)
        landed = [(writer, turn) for writer, turn, _, outcome, _ in outcomes if outcome == "landed"]
        counted = [(turn, outcome, detail) for _, turn, _, outcome, detail in outcomes if share == 1 or turn > 0]
        lost = [(turn, detail) for turn, outcome, detail in counted if outcome != "landed"]
        self.that(f"{label}: {'all' if share == 1 else f'{share:.0%} of the'} appends land", len(lost) <= (1 - share) * len(counted), f"{len(lost)} of {len(counted)} do not, e.g. {lost[:2]}")
        broken = [detail for _, _, _, outcome, detail in outcomes if outcome == "broken"]
        self.that(f"{label}: what fails has lost a race", not broken, f"{len(broken)} others: {broken[:2]}")
        expected, found = sorted(row_of(writer, turn)["v"] for writer, turn in landed), contest.values()
        self.that(f"{label}: the rows are those acknowledged", found == expected,
                  f"{len(expected)} acknowledged, {len(found)} found; lost {sorted(set(expected) - set(found))[:5]}, not acknowledged {sorted(set(found) - set(expected))[:5]}")
        audit = contest.audit()
        print(f"info {label}: {audit['manifests']} manifests in all snapshots, {audit['listed']} in the last", flush=True)
        self.that(f"{label}: Java finds every listed file", not audit["faults"], audit["faults"])
        counts, kept = {name: audit[name] for name in ("files", "rows", "snapshots", "history")}, min(len(landed), self.options.history or len(landed))
        expected = {"files": len(landed), "rows": len(landed), "snapshots": kept, "history": kept}
        self.that(f"{label}: a file, a snapshot and an entry of the history for each", counts == expected, f"{len(landed)} landed, Java finds {counts}, expected {expected}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("uri")
    parser.add_argument("--engine", choices=("pyiceberg", "duckdb", "spark"), required=True)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--appends", type=int, default=10)
    parser.add_argument("--long", type=int, default=40)
    parser.add_argument("--extensions", default="")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", choices=("strict", "rebase"))
    parser.add_argument("--history", type=int, help="snapshots that the table keeps; all without it")
    parser.add_argument("--seconds", type=int, help="after which no append begins")
    parser.add_argument("--figures-only", action="store_true")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    judge = Judge(options)
    for way in ("strict", "rebase"):
        if options.only in (None, way):
            judge.contest(way)
    print(f"{judge.passed} passed, {judge.failed} failed")
    return 1 if judge.failed else 0


if __name__ == "__main__":
    sys.exit(main())
