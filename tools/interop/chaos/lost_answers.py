#!/usr/bin/env python3
"""Answers of the catalog that never arrive: Spark, Trino, PyIceberg and DuckDB commit through a proxy that lets the catalog work and
keeps its answer to itself.

    lost_answers.py --services FOLDER --work FOLDER --extensions FOLDER [--only ENGINE[,ENGINE…]]

For each engine the ways to lose it: the connection is cut; 500 instead, once; 500 as often in a row as the engine repeats the
request. Spark repeats five times, with an Idempotency-Key, DuckDB three times, without one: both must see success. The others may
report an unknown outcome. In every case the row is there exactly once, in exactly one new snapshot, every referenced file exists
(nobody deleted what had landed), and the next insert works.
Not tried: a fourth 500 for DuckDB 1.5.5, after which it deletes the data file of the commit, which had landed. No catalog can help.
Last line: N passed, N failed.
"""
import argparse, sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import pyarrow as pa
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from engines import Spark, Trino, attach_duckdb
from faults import ChaosProxy
from services import Services
from table_files import connect, missing_files

SCHEMA = Schema(NestedField(1, "a", LongType(), required=False))
COMMITS = {"method": "POST", "path": "/tables/[^/?]+$|/transactions/commit$"}
CUT = {"do": "drop-answer", "times": 1}
REPEATS = {"spark": 5, "duckdb": 3, "pyiceberg": 0, "trino": 0}


class Judge:
    def __init__(self, proxy, server, lake):
        self.proxy, self.catalog = proxy, connect(server.uri, **lake.pyiceberg())
        self.passed = self.failed = 0

    def that(self, name, condition, detail=""):
        self.passed, self.failed = self.passed + bool(condition), self.failed + (not condition)
        print(f"{'ok  ' if condition else 'FAIL'} {name}{'' if condition else f': {str(detail)[:500]}'}", flush=True)

    def engine(self, name, insert):
        """`insert` writes one value into the table lost.NAME with the engine."""
        table = self.catalog.create_table(("lost", name), SCHEMA)
        value, expected = 0, []
        times = sorted({1, REPEATS[name] or 1})
        faults = {"cut": CUT, **{f"500 {'once' if n == 1 else f'{n} times'}": {"do": "status-after", "status": 500, "times": n} for n in times}}
        for label, fault in faults.items():
            value += 1
            self.proxy.reset()
            self.proxy.rules({**fault, **COMMITS})
            try:
                insert(name, value)
                told = "success"
            except Exception as broken:
                told = f"{type(broken).__name__}: {str(broken)[:120]}"
            hits = self.proxy.hits()[0]
            posts = sum(1 for e in self.proxy.log_entries() if e["method"] == "POST" and e.get("fault"))
            self.proxy.rules()
            expected.append(value)
            print(f"info {name}, {label}: {hits} answers lost in {posts} tries; the client says {told}", flush=True)
            self.that(f"{name}, {label}: an answer was lost", hits >= 1)
            if REPEATS[name] and label != "cut":
                self.that(f"{name}, {label}: the client sees success", told == "success", told)
            self.look(f"{name}, {label}", table, expected)
            value += 1
            expected.append(value)
            try:
                insert(name, value)
            except Exception as broken:
                self.that(f"{name}, after {label}: the next insert", False, broken)
            self.look(f"{name}, after {label}", table, expected)

    def look(self, name, table, expected):
        table.refresh()
        missing = missing_files(table)
        self.that(f"{name}: every referenced file exists", missing == [], missing[:3])
        if missing:
            return
        rows = sorted(table.scan().to_arrow()["a"].to_pylist())
        self.that(f"{name}: each row once, one snapshot each", (rows, len(table.snapshots())) == (expected, len(expected)), f"expected {expected}, found {rows} in {len(table.snapshots())} snapshots")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--services", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--extensions", required=True)
    parser.add_argument("--only", default="pyiceberg,duckdb,spark,trino")
    options = parser.parse_args()
    work, engines = Path(options.work), options.only.split(",")
    work.mkdir(parents=True, exist_ok=True)
    lake = Services(options.services).start().lake()
    with lake.server(work / "data", TIMELAKE_MAINTENANCE="off") as server, ChaosProxy(server.uri, work / "proxy.log") as proxy:
        judge = Judge(proxy, server, lake)
        judge.catalog.create_namespace("lost")
        if "pyiceberg" in engines:
            through = connect(proxy.uri, **lake.pyiceberg())
            judge.engine("pyiceberg", lambda name, value: through.load_table(("lost", name)).append(pa.table({"a": pa.array([value], pa.int64())})))
        if "duckdb" in engines:
            connection = attach_duckdb(proxy.uri, options.extensions, lake.duckdb_secret())
            judge.engine("duckdb", lambda name, value: connection.execute(f"INSERT INTO lake.lost.{name} VALUES ({value})"))
        if "spark" in engines:
            with Spark(proxy.uri, lake.environment(), work / "spark.log") as spark:
                judge.engine("spark", lambda name, value: spark.sql(f"INSERT INTO lost.{name} VALUES ({value})"))
        if "trino" in engines:
            with Trino(proxy.uri, lake.environment(), work / "trino.log") as trino:
                judge.engine("trino", lambda name, value: trino.sql(f"INSERT INTO lost.{name} VALUES ({value})"))
    print(f"{judge.passed} passed, {judge.failed} failed")
    return 1 if judge.failed or not judge.passed else 0


if __name__ == "__main__":
    sys.exit(main())
