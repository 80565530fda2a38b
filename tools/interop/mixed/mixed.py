#!/usr/bin/env python3
"""One table, written by Spark, PyIceberg and DuckDB in turns, with our compaction between.

    mixed.py --services FOLDER --work FOLDER --extensions FOLDER [--rounds N]

After every step all three read the same: how many rows, the sum and the smallest and largest of `v`, and the sum for each host.
Steps of a round: appends of each engine, a delete and an update of Spark (copy on write), a delete of PyIceberg, a compaction, which
must land. Then deletes by row of Spark and DuckDB (position deletes), which all three must read, and which merging must leave
alone with a reason. In the end every file that any snapshot refers to exists.
Last line: N passed, N failed.
"""
import argparse, datetime as d, sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import pyarrow as pa

from engines import Spark, attach_duckdb
from server import wait_until
from services import Services
from table_files import connect, live_files, missing_files

COMPACTION_SECONDS_MAX = 120
HOSTS = ("a", "b", "c")
DAY = d.datetime(2026, 1, 1)


class Mixed:
    def __init__(self, server, lake, spark, options):
        self.server, self.spark, self.passed, self.failed, self.next, self.rows = server, spark, 0, 0, 0, {}
        self.duckdb = attach_duckdb(server.uri, options.extensions, lake.duckdb_secret())
        self.catalog = connect(server.uri, **lake.pyiceberg())

    def that(self, name, condition, detail=""):
        self.passed, self.failed = self.passed + bool(condition), self.failed + (not condition)
        print(f"{'ok  ' if condition else 'FAIL'} {name}{'' if condition else f': {str(detail)[:600]}'}", flush=True)

    def new_rows(self, count):
        """(v, host, ts) of rows that nobody has written yet; remembered as expected."""
        made = [(v, HOSTS[v % 3], DAY + d.timedelta(minutes=30 * v)) for v in range(self.next, self.next + count)]
        self.next += count
        self.rows.update({v: host for v, host, _ in made})
        return made

    def expected(self):
        values = list(self.rows)
        return [len(values), sum(values), min(values), max(values)], {h: sum(v for v in values if self.rows[v] == h) for h in HOSTS}

    def step(self, name, work):
        """Runs the step, then reads with all three."""
        try:
            work()
        except Exception as broken:
            return self.that(name, False, f"{type(broken).__name__}: {broken}")
        want = self.expected()
        for engine, read in (("Spark", self.in_spark), ("PyIceberg", self.in_pyiceberg), ("DuckDB", self.in_duckdb)):
            try:
                found = read()
            except Exception as broken:
                found = f"{type(broken).__name__}: {broken}"
            self.that(f"{name}: {engine} reads it", found == want, f"expected {want}, found {found}")

    def in_spark(self):
        totals = self.spark.sql("SELECT count(*), sum(v), min(v), max(v) FROM mixed.t")[0]
        return totals, {h: s for h, s in self.spark.sql("SELECT host, sum(v) FROM mixed.t GROUP BY host")}

    def in_duckdb(self):
        totals = [int(n) for n in self.duckdb.execute("SELECT count(*), sum(v), min(v), max(v) FROM lake.mixed.t").fetchone()]
        return totals, {h: int(s) for h, s in self.duckdb.execute("SELECT host, sum(v) FROM lake.mixed.t GROUP BY host").fetchall()}

    def in_pyiceberg(self):
        rows = self.table().scan().to_arrow().select(["v", "host"]).to_pylist()
        values = [row["v"] for row in rows]
        return [len(values), sum(values), min(values), max(values)], {h: sum(row["v"] for row in rows if row["host"] == h) for h in HOSTS}

    def table(self):
        return self.catalog.load_table(("mixed", "t"))

    # Steps.
    def create(self):
        self.spark.sql("CREATE NAMESPACE mixed")
        self.spark.sql("CREATE TABLE mixed.t (v bigint, host string, ts timestamp_ntz) USING iceberg PARTITIONED BY (days(ts)) TBLPROPERTIES "
                       "('format-version' = '2', 'write.delete.mode' = 'copy-on-write', 'write.update.mode' = 'copy-on-write', 'timelake.compaction.min-input-files' = '2')")

    def append_spark(self):
        for v, host, ts in self.new_rows(4):
            self.spark.sql(f"INSERT INTO mixed.t VALUES ({v}, '{host}', TIMESTAMP_NTZ '{ts}')")

    def append_duckdb(self):
        for v, host, ts in self.new_rows(6):
            self.duckdb.execute(f"INSERT INTO lake.mixed.t VALUES ({v}, '{host}', TIMESTAMP '{ts}')")

    def append_pyiceberg(self):
        table = self.table()
        for v, host, ts in self.new_rows(6):
            table.append(pa.table({"v": pa.array([v], pa.int64()), "host": pa.array([host], pa.large_string()), "ts": pa.array([ts], pa.timestamp("us"))}))

    def delete_spark(self):
        self.spark.sql("DELETE FROM mixed.t WHERE v % 10 = 3")
        self.forget(v for v in self.rows if v % 10 == 3)

    def update_spark(self):
        self.spark.sql("UPDATE mixed.t SET host = 'c' WHERE v % 10 = 5")
        self.rows.update({v: "c" for v in self.rows if v % 10 == 5})

    def delete_pyiceberg(self):
        chosen = max(self.rows)
        self.table().delete(f"v = {chosen}")
        self.forget([chosen])

    def delete_rows_spark(self):
        self.spark.sql("ALTER TABLE mixed.t SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
        self.spark.sql("DELETE FROM mixed.t WHERE v % 10 = 4")
        self.forget(v for v in self.rows if v % 10 == 4)

    def delete_rows_duckdb(self):
        self.duckdb.execute("DELETE FROM lake.mixed.t WHERE v % 10 = 6")
        self.forget(v for v in self.rows if v % 10 == 6)

    def forget(self, values):
        for v in list(values):
            del self.rows[v]

    def compact(self):
        """Asks the server and waits until nothing is left to do."""
        _, listed = self.server.get("/admin/v1/tables?pageSize=1000")
        row = next(t for t in listed["tables"] if t["namespace"] == ["mixed"] and t["name"] == "t")
        status, answer = self.server.post(f"/admin/v1/tables/{row['id']}/compact")
        assert status in (200, 202), f"POST …/compact: {status} {answer}"

        def finished():
            state, plan = self.server.maintenance("mixed", "t")
            return plan["outcome"] == "nothing-to-do" and all(run["state"] != "running" for run in state["runs"])
        wait_until(finished, COMPACTION_SECONDS_MAX, "the compaction has finished")

    def replaces(self):
        return sum(1 for s in self.table().snapshots() if s.summary.operation.value == "replace")

    def run(self, rounds):
        self.create()
        for number in range(1, rounds + 1):
            for step in (self.append_spark, self.append_pyiceberg, self.append_duckdb, self.delete_spark, self.update_spark, self.delete_pyiceberg):
                self.step(f"round {number}, {step.__name__.replace('_', ' by ')}", step)
            before = self.replaces(), len(live_files(self.table()))
            self.step(f"round {number}, compaction", self.compact)
            after = self.replaces(), len(live_files(self.table()))
            print(f"info round {number}: {before[1]} data files became {after[1]}")
            self.that(f"round {number}: a compaction landed and left fewer files", after[0] > before[0] and after[1] < before[1], (before, after))
        self.step("deletes of single rows by Spark", self.delete_rows_spark)
        self.step("deletes of single rows by DuckDB", self.delete_rows_duckdb)
        self.step("appends by Spark over them", self.append_spark)
        _, plan = self.server.maintenance("mixed", "t")
        self.that("the plan says why the table is left alone now", plan["outcome"] == "skipped" and "delete file" in plan["reason"], plan)
        missing = missing_files(self.table())
        self.that("every referenced file exists, of every snapshot", missing == [], missing[:3])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--services", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--extensions", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    work = Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    lake = Services(options.services).start().lake()
    with lake.server(work / "data", TIMELAKE_COMPACTION_QUIET="1h", TIMELAKE_COMPACTION_FILE_COUNT="100000") as server:
        with Spark(server.uri, lake.environment(), work / "spark.log") as spark:
            mixed = Mixed(server, lake, spark, options)
            mixed.run(options.rounds)
    print(f"{mixed.passed} passed, {mixed.failed} failed")
    return 1 if mixed.failed or not mixed.passed else 0


if __name__ == "__main__":
    sys.exit(main())
