#!/usr/bin/env python3
"""PostgreSQL and then Redis go away under load and come back; two catalogs on one lake, four writers.

    outage.py --work FOLDER [--postgres-seconds 10] [--redis-seconds 60]

Expected: no acknowledged append is lost, none that was refused is there, none twice; every answer is in the protocol's envelope;
/health/ready says 503 while PostgreSQL is away and 200 before and after; commits go on without Redis; everything recovers by
itself; the events of the time without Redis are delivered, seen by the compactions that they cause. Redis forgets everything
when it stops. Last line: N passed, N failed.
"""
import argparse, itertools, sys, threading, time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import pyarrow as pa
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from answers import Answers
from server import call, wait_until
from services import Services
from table_files import connect, missing_files

SCHEMA = Schema(NestedField(1, "a", LongType(), required=False))
WRITERS = 4
CALM_SECONDS = 4
RECOVERY_SECONDS_MAX = 60
COMPACTION_SECONDS_MAX = 120


class Writer(threading.Thread):
    """Appends one row after the other to a table of its own, through one server and then the other."""

    def __init__(self, name, catalogs):
        super().__init__(daemon=True)
        self.table_name, self.catalogs, self.ended = name, catalogs, threading.Event()
        self.acknowledged, self.refused, self.unknown, self.last_success = [], [], [], 0.0

    def run(self):
        for value, catalog in zip(itertools.count(), itertools.cycle(self.catalogs)):
            if self.ended.is_set():
                return
            try:
                catalog.load_table(("outage", self.table_name)).append(pa.table({"a": pa.array([value], pa.int64())}))
            except Exception as broken:
                # PyIceberg calls a 409 CommitFailedException; everything else may have landed.
                (self.refused if type(broken).__name__ == "CommitFailedException" else self.unknown).append(value)
                time.sleep(0.2)
            else:
                self.acknowledged.append(value)
                self.last_success = time.monotonic()


class Outage:
    def __init__(self, services, lake, servers, answers, writers):
        self.services, self.servers, self.answers, self.writers = services, servers, answers, writers
        self.catalog = connect(servers[0].uri, **lake.pyiceberg())
        self.passed = self.failed = 0

    def that(self, name, condition, detail=""):
        self.passed, self.failed = self.passed + bool(condition), self.failed + (not condition)
        print(f"{'ok  ' if condition else 'FAIL'} {name}{'' if condition else f': {str(detail)[:600]}'}", flush=True)

    def within(self, name, condition, seconds):
        began = time.monotonic()
        try:
            wait_until(condition, seconds, name)
            self.that(f"{name} ({time.monotonic() - began:.1f} s)", True)
        except AssertionError as late:
            self.that(name, False, late)

    def ready(self):
        """The statuses of /health/ready; 0 where nothing answers."""
        found = []
        for server in self.servers:
            try:
                found.append(call("GET", f"{server.uri}/health/ready")[0])
            except OSError:
                found.append(0)
        return found

    def all_write(self, since):
        return all(writer.last_success > since for writer in self.writers)

    def without(self, service, seconds, during):
        print(f"info {service} is away for {seconds} s", flush=True)
        before = sum(len(w.acknowledged) for w in self.writers)
        self.services.stop(service)
        gone = time.monotonic()
        during()
        time.sleep(max(0, gone + seconds - time.monotonic()))
        print(f"info {sum(len(w.acknowledged) for w in self.writers) - before} appends were acknowledged without {service}", flush=True)

    def postgres(self, seconds):
        self.that("both catalogs are ready", self.ready() == [200, 200], self.ready())
        self.without("postgres", seconds, lambda: self.within("both catalogs say that they are not ready", lambda: self.ready() == [503, 503], seconds))
        self.that("nothing is acknowledged without PostgreSQL", all(time.monotonic() - w.last_success > seconds / 2 for w in self.writers))
        self.services.start("postgres", "--durable")
        back = time.monotonic()
        self.within("both catalogs are ready again", lambda: self.ready() == [200, 200], RECOVERY_SECONDS_MAX)
        self.within("all writers go on", lambda: self.all_write(back), RECOVERY_SECONDS_MAX)

    def redis(self, seconds):
        began = time.monotonic()
        self.without("redis", seconds, lambda: self.within("all writers go on without Redis", lambda: self.all_write(began + 2), RECOVERY_SECONDS_MAX))
        self.that("they still do at the end of it", self.all_write(time.monotonic() - 5), [time.monotonic() - w.last_success for w in self.writers])
        self.that("both catalogs are ready without Redis", self.ready() == [200, 200], self.ready())
        for writer in self.writers:
            writer.ended.set()
        for writer in self.writers:
            writer.join(timeout=120)
        before = {w.table_name: self.latest(w.table_name) for w in self.writers}
        self.services.start("redis")
        for name, newest in before.items():
            self.within(f"what waited for {name} is delivered, and leads to a compaction", lambda: self.is_compacted(name, newest), COMPACTION_SECONDS_MAX)

    def latest(self, name):
        return self.catalog.load_table(("outage", name)).current_snapshot().sequence_number

    def is_compacted(self, name, newest):
        current = self.catalog.load_table(("outage", name)).current_snapshot()
        return current.summary.operation.value == "replace" and current.sequence_number > newest

    def totals(self):
        for writer in self.writers:
            table = self.catalog.load_table(("outage", writer.table_name))
            rows = sorted(table.scan().to_arrow()["a"].to_pylist())
            name = f"{writer.table_name}: {len(writer.acknowledged)} acknowledged, {len(writer.refused)} refused, {len(writer.unknown)} unknown"
            self.that(f"{name}; none lost", set(writer.acknowledged) <= set(rows), sorted(set(writer.acknowledged) - set(rows))[:10])
            self.that(f"{name}; none twice, none refused and yet there", len(rows) == len(set(rows)) and not set(writer.refused) & set(rows), rows[-20:])
            self.that(f"{writer.table_name}: every referenced file exists", missing_files(table) == [], missing_files(table)[:3])
        outside = self.answers.outside_envelope()
        self.that(f"all {len(self.answers.kept)} answers are in the envelope", outside == [], [(e["status"], e["body"][:200]) for e in outside[:3]])
        absent = [e for e in self.answers.kept if e["status"] == 404]
        self.that("nothing that is there was called absent", absent == [], absent[:3])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--postgres-seconds", type=int, default=10)
    parser.add_argument("--redis-seconds", type=int, default=60)
    options = parser.parse_args()
    work = Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    work.chmod(0o711)
    services = Services(work / "services")
    try:
        services.start("postgres", "--durable").start("redis,s3")
        lake = services.lake()
        with lake.server(work / "one") as one, lake.server(work / "two") as two, Answers((one.uri, two.uri)) as answers:
            catalogs = [connect(server.uri, **lake.pyiceberg()) for server in (one, two)]
            catalogs[0].create_namespace("outage")
            writers = [Writer(f"t{n}", catalogs) for n in range(WRITERS)]
            for writer in writers:
                catalogs[0].create_table(("outage", writer.table_name), SCHEMA)
            outage = Outage(services, lake, (one, two), answers, writers)
            for writer in writers:
                writer.start()
            time.sleep(CALM_SECONDS)
            outage.postgres(options.postgres_seconds)
            time.sleep(CALM_SECONDS)
            outage.redis(options.redis_seconds)
            outage.totals()
    finally:
        services.stop()
    print(f"{outage.passed} passed, {outage.failed} failed")
    return 1 if outage.failed or not outage.passed else 0


if __name__ == "__main__":
    sys.exit(main())
