#!/usr/bin/env python3
"""A fault proxy between the server and its store, at every kind of Iceberg file, during commits, transactions and compactions.

    store.py --services FOLDER --work FOLDER [--only REGEX]

One server works through the proxy (without a metadata cache, so every load reads the store), a second one on the same lake does
not, and looks. Expected, whatever breaks: a change is there once or not at all, and where the client was told, as it was told;
a 5xx of the store never becomes a 404 of ours; every error has the protocol's envelope; every file that any snapshot refers to
exists; the next change works. Compactions end by themselves or after one more request, and land once.
Last line: N passed, N failed.
"""
import argparse, re, sys
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import pyarrow as pa, requests
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from answers import Answers
from faults import ChaosProxy
from server import wait_until
from services import Services
from table_files import connect, live_files, missing_files, stray_files

SCHEMA = Schema(NestedField(1, "a", LongType(), required=False))
SMALL_FILES = 5  # the fewest that are merged by default
COMPACTION_SECONDS_MAX = 180
BUSY_TWICE = {"do": "status", "status": 503, "times": 2}
BUSY = {"do": "status", "status": 503}
BROKEN = {"do": "status", "status": 500, "times": 1}
SLOW = {"do": "delay", "ms": 1500, "times": 2}
HANG = {"do": "hang", "times": 1}
CUT = {"do": "drop-request", "times": 1}
LOST = {"do": "drop-answer", "times": 1}
LOST_500 = {"do": "status-after", "status": 500, "times": 1}
TRUNCATED = {"do": "truncate", "bytes": 10, "times": 1}
READS = {"503 twice": BUSY_TWICE, "500": BROKEN, "slow": SLOW, "hang": HANG, "cut": LOST, "truncated": TRUNCATED}
WRITES = {"503 twice": BUSY_TWICE, "slow": SLOW, "hang": HANG, "not sent": CUT, "applied, answer lost": LOST, "applied, answered 500": LOST_500}
FILES = ("metadata", "manifest-list", "manifest", "data")


def batch(*values):
    return pa.table({"a": pa.array(values, pa.int64())})


def numbers(table):
    return sorted(table.scan().to_arrow()["a"].to_pylist())


class Judge:
    def __init__(self, proxy, faulty, calm, lake, answers, only):
        self.proxy, self.faulty, self.calm, self.answers, self.only = proxy, faulty, calm, answers, only
        self.through, self.beside = connect(faulty.uri, **lake.pyiceberg()), connect(calm.uri, **lake.pyiceberg())
        self.passed = self.failed = 0

    def that(self, name, problems):
        """`problems`: what is wrong, as sentences; none is a pass."""
        problems = [p for p in problems if p]
        self.passed, self.failed = self.passed + (not problems), self.failed + bool(problems)
        print(f"{'FAIL' if problems else 'ok  '} {name}{': ' + '; '.join(problems)[:700] if problems else ''}", flush=True)

    def chosen(self, name):
        return re.search(self.only, name)

    # Commits.
    def commits(self):
        self.beside.create_namespace("commits")
        faults = [("get", n, f) for n, f in {**READS, "503 for ever": BUSY}.items()] + [("put", n, f) for n, f in {**WRITES, "503 for ever": BUSY}.items()]
        for number, (kind, label, fault) in enumerate(faults):
            name = f"commit, {kind} of metadata: {label}"
            if self.chosen(name):
                self.one_commit(name, f"t{number}", {**fault, "kind": kind, "file": "metadata"})

    def one_commit(self, name, table_name, rule):
        table = self.beside.create_table(("commits", table_name), SCHEMA)
        table.append(batch(1))
        self.answers.forget()
        self.proxy.rules(rule)
        told = self.attempt(lambda: self.through.load_table(("commits", table_name)).append(batch(2)))
        met = self.proxy.hits()[0]
        self.proxy.rules()
        looked = self.beside.load_table(("commits", table_name))
        rows = numbers(looked)
        statuses = self.answers.statuses()
        problems = ["" if met else "the fault was never met", *self.shape()]
        problems.append("" if rows in ([1], [1, 2]) else f"once or not at all: rows {rows}")
        problems.append("" if told != "success" or rows == [1, 2] else "the client was told success, and the row is not there")
        problems.append("" if not (told == "refused" and rows == [1, 2]) else "the client was told a known failure, and the row is there")
        problems.append("" if 404 not in statuses else f"a fault of the store became a 404: {statuses}")
        problems.append("" if missing_files(looked) == [] else f"missing: {missing_files(looked)[:2]}")
        again = self.attempt(lambda: self.through.load_table(("commits", table_name)).append(batch(3)))
        problems.append("" if again == "success" else f"the next append: {again}")
        looked = self.beside.load_table(("commits", table_name))
        problems.append("" if numbers(looked) == rows + [3] and len(looked.snapshots()) == len(rows) + 1 else f"after the next append: rows {numbers(looked)}")
        self.that(f"{name} ({told}, {statuses})", problems)

    def attempt(self, work):
        """success; refused (the last answer was a 4xx); unknown (a 5xx or no answer)."""
        try:
            work()
            return "success"
        except Exception as broken:
            last = (self.answers.statuses() or [None])[-1]
            print(f"info {type(broken).__name__}: {str(broken)[:160]}", flush=True)
            return "refused" if last and 400 <= last < 500 else "unknown"

    def shape(self):
        return [f"outside the envelope: {e['method']} {e['url']} {e['status']} {e['body'][:120]}" for e in self.answers.outside_envelope()[:2]]

    # Creates and transactions.
    def creates(self):
        self.beside.create_namespace("creates")
        for number, (label, fault) in enumerate({**WRITES, "503 for ever": BUSY}.items()):
            name = f"create, put of metadata: {label}"
            if not self.chosen(name):
                continue
            self.answers.forget()
            self.proxy.rules({**fault, "kind": "put", "file": "metadata"})
            told = self.attempt(lambda: self.through.create_table(("creates", f"t{number}"), SCHEMA))
            met = self.proxy.hits()[0]
            self.proxy.rules()
            exists = self.beside.table_exists(("creates", f"t{number}"))
            problems = ["" if met else "the fault was never met", *self.shape()]
            problems.append("" if told != "success" or exists else "the client was told success, and the table is not there")
            problems.append("" if told != "refused" or not exists else "the client was told a known failure, and the table is there")
            table = self.beside.load_table(("creates", f"t{number}")) if exists else self.beside.create_table(("creates", f"t{number}"), SCHEMA)
            table.append(batch(1))
            problems.append("" if numbers(table) == [1] and missing_files(table) == [] else "the table cannot be used")
            self.that(f"{name} ({told})", problems)

    def transactions(self):
        self.beside.create_namespace("sets")
        names = ["a", "b", "c"]
        tables = {name: self.beside.create_table(("sets", name), SCHEMA) for name in names}
        url = f"{self.faulty.uri}/v1/{self.through.properties['prefix']}/transactions/commit"
        for number, (label, fault) in enumerate({**WRITES, "503 for ever": BUSY}.items()):
            name = f"transaction over three tables, put of one metadata file: {label}"
            if not self.chosen(name):
                continue
            value = str(number)
            body = {"table-changes": [{"identifier": {"namespace": ["sets"], "name": n}, "requirements": [], "updates": [{"action": "set-properties", "updates": {"step": value}}]} for n in names]}
            self.answers.forget()
            self.proxy.rules({**fault, "kind": "put", "file": "metadata", "path": re.escape(urlsplit(tables["b"].location()).path)})
            told = self.attempt(lambda: requests.post(url, json=body).raise_for_status())
            met = self.proxy.hits()[0]
            self.proxy.rules()
            changed = {self.beside.load_table(("sets", n)).properties.get("step") == value for n in names}
            problems = ["" if met else "the fault was never met", *self.shape()]
            problems.append("" if len(changed) == 1 else "it has happened to some of the tables")
            problems.append("" if told != "success" or changed == {True} else "the client was told success, and nothing happened")
            problems.append("" if told != "refused" or changed == {False} else "the client was told a known failure, and it happened")
            again = self.attempt(lambda: requests.post(url, json=body).raise_for_status())
            problems.append("" if again == "success" else f"the same transaction again: {again}")
            problems += [f"missing files of {n}" for n in names if missing_files(self.beside.load_table(("sets", n)))]
            self.that(f"{name} ({told})", problems)

    # Compactions: each table meets one fault, all at the same time.
    def compactions(self):
        self.beside.create_namespace("merges")
        cases = [(f"compaction, get of {file}: {label}", {**fault, "kind": "get", "file": file}) for file in FILES for label, fault in READS.items()]
        cases += [(f"compaction, put of {file}: {label}", {**fault, "kind": "put", "file": file}) for file in FILES for label, fault in WRITES.items()]
        cases = [(name, rule) for name, rule in cases if self.chosen(name)]
        tables = {}
        for number, (name, _) in enumerate(cases):
            table = self.beside.create_table(("merges", f"t{number}"), SCHEMA)
            for value in range(SMALL_FILES):
                table.append(batch(value))
            tables[name] = table
        self.answers.forget()
        self.proxy.rules(*[{**rule, "path": re.escape(urlsplit(tables[name].location()).path + "/")} for name, rule in cases])
        _, listed = self.calm.get("/admin/v1/tables?pageSize=1000")
        ids = {t["name"]: t["id"] for t in listed["tables"] if t["namespace"] == ["merges"]}
        self.request(ids)
        settled = lambda: [n for n in ids if not self.is_settled(ids[n])] == []
        self.within(settled, "every compaction has run once")
        hits = dict(zip(tables, self.proxy.hits()))
        self.proxy.rules()
        unfinished = {n: i for n, i in ids.items() if self.plan(i)["outcome"] != "nothing-to-do"}
        print(f"info {len(ids) - len(unfinished)} of {len(ids)} compactions were done at the first try, in spite of their faults", flush=True)
        self.request(unfinished)
        self.within(lambda: all(self.is_settled(i) and self.plan(i)["outcome"] == "nothing-to-do" for i in ids.values()), "every compaction is done")
        for name, table in tables.items():
            self.that(name, ["" if hits[name] else "the fault was never met", *self.after_compaction(table)])

    def within(self, condition, what):
        try:
            wait_until(condition, COMPACTION_SECONDS_MAX, what)
        except AssertionError as late:
            self.that(what, [str(late)])

    def request(self, ids):
        for table_id in ids.values():
            status, answer = self.calm.post(f"/admin/v1/tables/{table_id}/compact")
            assert status == 202, f"POST …/compact: {status} {answer}"

    def is_settled(self, table_id):
        _, state = self.calm.get(f"/admin/v1/tables/{table_id}/maintenance")
        return len(state["runs"]) > 0 and all(run["state"] != "running" for run in state["runs"])

    def plan(self, table_id):
        status, plan = self.calm.post(f"/admin/v1/tables/{table_id}/compact?dry-run=true")
        assert status == 200, f"dry run: {status} {plan}"
        return plan

    def after_compaction(self, table):
        table.refresh()
        rows, replaces = numbers(table), [s.summary.operation.value for s in table.snapshots()].count("replace")
        missing = missing_files(table)
        stray = [f.rsplit("/", 1)[1] for f in stray_files(table) if f.endswith((".parquet", ".avro"))]
        return ["" if rows == list(range(SMALL_FILES)) else f"rows {rows}", "" if replaces == 1 else f"{replaces} compactions landed",
                "" if len(live_files(table)) == 1 else f"{len(live_files(table))} live files", "" if not missing else f"missing: {missing[:2]}",
                "" if not stray else f"left behind: {stray}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--services", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    work = Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    services = Services(options.services).start()
    with ChaosProxy(services.values["S3_ENDPOINT"], work / "proxy.log") as proxy:
        lake = services.lake(s3_endpoint=proxy.uri)
        beside = {"TIMELAKE_S3_ENDPOINT": services.values["S3_ENDPOINT"], "TIMELAKE_MAINTENANCE": "off"}
        with lake.server(work / "faulty", TIMELAKE_METADATA_CACHE_BYTES_MAX="0B", TIMELAKE_COMPACTION_QUIET="1h", TIMELAKE_COMPACTION_FILE_COUNT="100000",
                         TIMELAKE_JOB_CONCURRENCY="4") as faulty, lake.server(work / "calm", **beside) as calm, Answers(faulty.uri) as answers:
            judge = Judge(proxy, faulty, calm, lake, answers, options.only)
            judge.commits()
            judge.creates()
            judge.transactions()
            judge.compactions()
    print(f"{judge.passed} passed, {judge.failed} failed")
    return 1 if judge.failed or not judge.passed else 0


if __name__ == "__main__":
    sys.exit(main())
