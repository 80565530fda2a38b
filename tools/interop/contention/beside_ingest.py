#!/usr/bin/env python3
"""Spark changes rows and rewrites files of a table that takes in 20 appends a second.

    beside_ingest.py URI [--seconds N] [--work FOLDER]

The appends are intents by path: the server reads the footers of files that were written before. Every 5 s a MERGE changes one row that no
append touches; then, still beside the appends and with rebase by table property, rewrite_data_files. Checked: every append is acknowledged; each MERGE lands in at most 3 attempts, told
by the commits that the server refused with 409, which can only be Spark's; the rewrite lands; Spark reads each row once.
Environment as judge.py. Last line: N passed, N failed.
"""
import argparse, itertools, json, os, re, sys, threading, time, urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from contention.data_files import SCHEMA, write_row_file
from contention.writing import row_of
from engines import Spark
from server import call
from table_files import connect

NAMESPACE, TABLE = "contention", "ingest"
APPENDS_PER_SECOND = 20
SENDERS = 8
MERGE_EVERY_SECONDS = 5
ATTEMPTS_MAX = 3
# For the rewrite and what a busy machine adds; the appends end before if Spark is done.
SPARE_SECONDS = 120


class Ingest:
    """Appends at a steady rate in threads of its own until it is stopped."""

    def __init__(self, uri, files):
        self.url, self.files, self.stopped = f"{uri}/lake/v1/main/namespaces/{NAMESPACE}/tables/{TABLE}/appends", files, threading.Event()
        self.landed, self.refused, self.lock = [], [], threading.Lock()

    def append(self, turn, location):
        status, answer = call("POST", self.url, {"batch-id": f"turn-{turn}", "paths": [location]})
        with self.lock:
            if status == 200 and answer["outcome"] == "added":
                self.landed.append(turn)
            else:
                self.refused.append((turn, status, str(answer)[:200]))

    def run(self):
        began = time.monotonic()
        with ThreadPoolExecutor(SENDERS) as senders:
            for turn, location in enumerate(self.files):
                if self.stopped.wait(max(0, began + turn / APPENDS_PER_SECOND - time.monotonic())):
                    break
                senders.submit(self.append, turn, location)
        self.seconds = time.monotonic() - began

    def __enter__(self):
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()


class Judge:
    def __init__(self, options):
        self.options, self.passed, self.failed = options, 0, 0
        self.catalog = connect(options.uri, **json.loads(os.environ.get("CATALOG_PROPS") or "{}"))

    def that(self, name, condition, detail=""):
        self.passed, self.failed = self.passed + bool(condition), self.failed + (not condition)
        print(f"{'ok  ' if condition else 'FAIL'} {name}{'' if condition else f': {str(detail)[:600]}'}", flush=True)

    def refused_commits(self):
        """How many commits of the table protocol were answered 409 so far; intents are another operation."""
        with urllib.request.urlopen(f"{self.options.uri}/metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        return sum(int(float(line.rsplit(" ", 1)[1])) for line in lines if re.match(r'timelake_http_requests_total\{operation="updateTable",status="409"\}', line))

    def merge(self, spark, number):
        """Attempts that the MERGE took; raises when it does not land."""
        before = self.refused_commits()
        spark.sql(f"MERGE INTO {NAMESPACE}.{TABLE} t USING (SELECT -1L AS v, {number} AS turn) s ON t.v = s.v AND t.v < 0 "
                  "WHEN MATCHED THEN UPDATE SET turn = s.turn WHEN NOT MATCHED THEN INSERT (v, writer, turn) VALUES (s.v, 0, s.turn)")
        return 1 + self.refused_commits() - before

    def change_rows(self, spark):
        attempts, end = [], time.monotonic() + self.options.seconds
        for number in itertools.count():
            due = time.monotonic() + MERGE_EVERY_SECONDS
            try:
                attempts.append(self.merge(spark, number))
            except RuntimeError as broken:
                attempts.append(f"MERGE {number}: {broken}")
            if due >= end:
                break
            time.sleep(max(0, due - time.monotonic()))
        print(f"info attempts of each MERGE: {' '.join(str(one) for one in attempts)}", flush=True)
        self.that(f"each MERGE lands in at most {ATTEMPTS_MAX} attempts", all(isinstance(one, int) and one <= ATTEMPTS_MAX for one in attempts), attempts)
        return len(attempts)

    def rewrite(self, spark):
        spark.sql(f"ALTER TABLE {NAMESPACE}.{TABLE} SET TBLPROPERTIES ('commit.rebase-appends' = 'true')")
        before = self.refused_commits()
        try:
            rows = spark.sql(f"CALL lake.system.rewrite_data_files(table => '{NAMESPACE}.{TABLE}', options => map('min-input-files', '2'))")
        except RuntimeError as broken:
            rows = [[0, str(broken)]]
        print(f"info rewrite_data_files: {rows[0][0]} files in {1 + self.refused_commits() - before} attempts", flush=True)
        self.that("rewrite_data_files lands", rows[0][0] > 0, rows)

    def run(self):
        self.catalog.create_namespace(NAMESPACE)
        table = self.catalog.create_table((NAMESPACE, TABLE), SCHEMA, properties={"format-version": "2"})
        files = [write_row_file(table, 0, turn)[0] for turn in range((self.options.seconds + SPARE_SECONDS) * APPENDS_PER_SECOND)]
        with Spark(self.options.uri, dict(os.environ), self.options.work / "spark.log") as spark:
            spark.sql(f"INSERT INTO {NAMESPACE}.{TABLE} VALUES (-1L, 0, 0)")
            self.merge(spark, 0)  # What a Spark that has just started needs for its first one is its own affair.
            with Ingest(self.options.uri, files) as ingest:
                merges = self.change_rows(spark)
                self.rewrite(spark)
            print(f"info {len(ingest.landed)} appends in {ingest.seconds:.0f} s", flush=True)
            self.that("every append lands", not ingest.refused, ingest.refused[:3])
            expected = sorted(row_of(0, turn)["v"] for turn in ingest.landed)
            found = sorted(int(v) for v, in spark.sql(f"SELECT v FROM {NAMESPACE}.{TABLE} WHERE v >= 0"))
            self.that("each row is there once", found == expected, f"{len(expected)} acknowledged, {len(found)} found")
            changed = spark.sql(f"SELECT turn FROM {NAMESPACE}.{TABLE} WHERE v < 0")
            self.that("the row of the MERGEs has the last value", changed == [[merges - 1]], changed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("uri")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    judge = Judge(options)
    judge.run()
    print(f"{judge.passed} passed, {judge.failed} failed")
    return 1 if judge.failed else 0


if __name__ == "__main__":
    sys.exit(main())
