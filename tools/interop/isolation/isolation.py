#!/usr/bin/env python3
"""What others may not do to a commit that needs the state it was made for, and what they must let pass.

    isolation.py --work FOLDER [--services FOLDER] [--full] [--only REGEX]

Two Spark sessions and PyIceberg on one server (`beside-ingest` judges MERGEs beside a stream of appends):
- two serializable MERGEs of the same keys, both arms, copy on write and merge on read: one row for each key, or a refusal;
- on a table that asks for rebased appends: an append that carries a stream's offsets, one after a rollback and one after CREATE
  OR REPLACE are 409, and a snapshot is cherry-picked once;
- writers whose clocks are five minutes behind and a day ahead, and one whose commit was held back: Spark loads the table.
Last line: N passed, N failed. Exit status 0 only if all passed.
"""
import argparse, json, re, sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import pyarrow as pa, requests
from pyiceberg.exceptions import CommitFailedException

from engines import Spark
from server import Timelake
from services import Services
from table_files import connect, missing_files

MERGE_ROUNDS = 3
# (usual, --full)
HELD_SECONDS = (5, 90)
CALM = {"TIMELAKE_COMPACTION_QUIET": "1h", "TIMELAKE_COMPACTION_FILE_COUNT": "100000"}
MINUTE_MS, DAY_MS = 60_000, 86_400_000


def rows_of(values, word):
    return pa.table({"k": pa.array(values, pa.int64()), "s": pa.array([word] * len(values), pa.large_string())})


class ChangedCommit:
    """Lets PyIceberg's next commit go through `change`, which gets the decoded body."""

    def __init__(self, change):
        self.change, self.original = change, requests.Session.send

    def __enter__(self):
        def send(session, request, **more):
            if request.method == "POST" and b'"add-snapshot"' in (request.body or b""):
                body = json.loads(request.body)
                self.change(body)
                request.body = json.dumps(body).encode()
                request.headers["Content-Length"] = str(len(request.body))
            return self.original(session, request, **more)
        requests.Session.send = send

    def __exit__(self, *_):
        requests.Session.send = self.original


def snapshot_in(body):
    return next(update["snapshot"] for update in body["updates"] if update["action"] == "add-snapshot")


class Isolation:
    def __init__(self, server, lake, sparks, options):
        self.server, self.sparks, self.size = server, sparks, 1 if options.full else 0
        self.catalog = connect(server.uri, **(lake.pyiceberg() if lake else {}))
        self.passed = self.failed = 0

    def that(self, name, condition, detail=""):
        self.passed, self.failed = self.passed + bool(condition), self.failed + (not condition)
        print(f"{'ok  ' if condition else 'FAIL'} {name}{'' if condition else f': {str(detail)[:600]}'}", flush=True)

    def step(self, work):
        try:
            work()
        except Exception as broken:
            self.that(work.__name__, False, f"{type(broken).__name__}: {broken}")

    def make(self, name, **properties):
        listed = "".join(f", '{key}' = '{value}'" for key, value in properties.items())
        self.sparks[0].sql(f"CREATE TABLE i.{name} (k bigint, s string) USING iceberg TBLPROPERTIES ('format-version' = '2'{listed})")
        return self.catalog.load_table(("i", name))

    def keys(self, name):
        table = self.catalog.load_table(("i", name))
        same = missing_files(table)
        assert same == [], f"missing files of {name}: {same[:3]}"
        return sorted(table.scan().to_arrow()["k"].to_pylist())

    # Steps.
    def merges_of_the_same_keys(self):
        for mode in ("copy-on-write", "merge-on-read"):
            name = "merged_" + mode.replace("-", "_")
            self.make(name, **{"write.merge.mode": mode, "write.merge.isolation-level": "serializable"})
            refused, wrong = [], []
            for round_ in range(MERGE_ROUNDS):
                low = round_ * 3
                source = f"(SELECT id AS k FROM range({low}, {low + 5}))"
                statement = f"MERGE INTO i.{name} t USING {source} s ON t.k = s.k WHEN MATCHED THEN UPDATE SET s = 'again' WHEN NOT MATCHED THEN INSERT (k, s) VALUES (s.k, 'new')"

                def merge(spark):
                    try:
                        spark.sql(statement)
                    except RuntimeError as error:
                        refused.append(str(error))
                with ThreadPoolExecutor(2) as pool:
                    list(pool.map(merge, self.sparks))
                found = self.keys(name)
                if found != list(range(low + 5)):
                    wrong.append(found)
            strange = [r for r in refused if not re.search("Validation|CommitFailed|conflicting|Cannot commit", r)]
            self.that(f"two MERGEs at once, {mode}: one row for each key or a refusal ({len(refused)} refused)", not wrong and not strange, wrong or strange)

    def commits_that_are_no_plain_appends(self):
        table = self.make("strict", **{"commit.rebase-appends": "true"})
        table.append(rows_of([1], "first"))
        stale = [self.catalog.load_table(("i", "strict")) for _ in range(3)]
        table.append(rows_of([2], "second"))
        stale[0].append(rows_of([3], "rebased"))
        self.that("a plain append with a stale base lands", self.keys("strict") == [1, 2, 3], self.keys("strict"))

        def with_offsets(body):
            snapshot_in(body)["summary"]["kafka.connect.offsets.control.1"] = "{\"0\":5}"
        with ChangedCommit(with_offsets):
            self.refused("an append with a stream's offsets and a stale base is 409", lambda: once(stale[1]).append(rows_of([4], "stream")))
        snapshots = [s.snapshot_id for s in self.catalog.load_table(("i", "strict")).snapshots()]
        before = self.catalog.load_table(("i", "strict"))
        self.sparks[0].sql(f"CALL lake.system.rollback_to_snapshot('i.strict', {snapshots[0]})")
        self.refused("an append after a rollback is 409", lambda: once(before).append(rows_of([5], "lost")))
        before = self.catalog.load_table(("i", "strict"))
        self.sparks[0].sql("CREATE OR REPLACE TABLE i.strict USING iceberg TBLPROPERTIES ('commit.rebase-appends' = 'true') AS SELECT CAST(9 AS bigint) AS k, 'replaced' AS s")
        self.refused("an append after CREATE OR REPLACE is 409", lambda: once(before).append(rows_of([6], "lost")))
        self.that("and the replaced table is what the replacement made", self.keys("strict") == [9], self.keys("strict"))

    def refused(self, name, append):
        try:
            append()
            self.that(name, False, "it landed")
        except CommitFailedException as error:
            self.that(f"{name}: {str(error)[:160]}", "not rebased" in str(error) or "Requirement failed" in str(error), error)

    def cherry_picks(self):
        spark = self.sparks[0]
        self.make("picked", **{"commit.rebase-appends": "true", "write.wap.enabled": "true"})
        spark.sql("INSERT INTO i.picked VALUES (1, 'main')")
        spark.sql("SET spark.wap.id = audit-1")
        spark.sql("INSERT INTO i.picked VALUES (2, 'staged')")
        spark.sql("RESET spark.wap.id")
        spark.sql("INSERT INTO i.picked VALUES (3, 'main')")
        [[staged]] = spark.sql("SELECT snapshot_id FROM i.picked.snapshots WHERE summary['wap.id'] = 'audit-1'")
        outcomes = []
        for session in self.sparks:
            try:
                session.sql(f"CALL lake.system.cherrypick_snapshot('i.picked', {staged})")
                outcomes.append("picked")
            except RuntimeError as error:
                outcomes.append(str(error))
        self.that("a snapshot is cherry-picked once", outcomes[0] == "picked" and outcomes[1] != "picked" and self.keys("picked") == [1, 2, 3], (outcomes, self.keys("picked")))

    def clocks(self):
        table = self.make("clocks", **{"commit.rebase-appends": "true"})
        for at, shift_ms in enumerate((-5 * MINUTE_MS, DAY_MS, -5 * MINUTE_MS, 0)):
            def shift(body):
                snapshot_in(body)["timestamp-ms"] += shift_ms
            with ChangedCommit(shift):
                table.append(rows_of([at], "shifted"))
        held = self.catalog.load_table(("i", "clocks"))

        def wait(_body):
            table.refresh()
            for at in (10, 11):
                requests_append(table, at)
            time.sleep(HELD_SECONDS[self.size])

        def requests_append(handle, at):
            original, requests.Session.send = requests.Session.send, changed.original
            try:
                handle.append(rows_of([at], "between"))
            finally:
                requests.Session.send = original
        changed = ChangedCommit(wait)
        with changed:
            held.append(rows_of([20], "held"))
        want = [0, 1, 2, 3, 10, 11, 20]
        in_spark = [row[0] for row in self.sparks[0].sql("SELECT k FROM i.clocks ORDER BY k")]
        self.that("Spark loads what writers with odd clocks and a held commit made", in_spark == want, in_spark)
        times = [row[0] for row in self.sparks[0].sql("SELECT unix_millis(made_current_at) FROM i.clocks.history")]
        self.that("and its history is in order of time", times == sorted(times) and len(times) == len(want), times)


def once(table):
    """The same handle, whose commits are not tried again."""
    table.metadata.properties["commit.retry.num-retries"] = "0"
    return table


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--services")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    work = Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    lake = Services(options.services).start().lake() if options.services else None
    server = lake.server(work / "data", **CALM) if lake else Timelake(work / "data", **CALM)
    environment = lake.environment() if lake else {}
    with server, Spark(server.uri, environment, work / "spark1.log") as first, Spark(server.uri, environment, work / "spark2.log") as second:
        run = Isolation(server, lake, (first, second), options)
        first.sql("CREATE NAMESPACE i")
        for step in (run.merges_of_the_same_keys, run.commits_that_are_no_plain_appends, run.cherry_picks, run.clocks):
            if re.search(options.only, step.__name__):
                run.step(step)
    print(f"{run.passed} passed, {run.failed} failed")
    return 1 if run.failed or not run.passed else 0


if __name__ == "__main__":
    sys.exit(main())
