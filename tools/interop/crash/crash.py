#!/usr/bin/env python3
"""kill -9 at each named fault point, restart, and look with PyIceberg.

    crash.py --work FOLDER [--services FOLDER] [--only REGEX] [--list]

Scenes follow one another on a few grounds, each in a namespace of its own; a ground is a data directory or, with --services, a
database, a Redis database and a place in a bucket (tools/services, started in FOLDER). The server that looks after one crash prepares
the next, so a scene costs two starts. After a failure its ground is not used again.

The points come from packages/timelake/src/contract/fault-points.ts, so a new one is tested (or fails as unknown) without a
change here. Commits come in several ways (lanes): strict, an append whose stale base is asked to be rebased, the rewrite of another
program that is asked to be attached to appends, a batch of files for the server to append, and many at once. The server kills itself at
the point (TIMELAKE_FAULT_POINT) after it wrote a line into a file (TIMELAKE_FAULT_PROOF): a point that is never reached is a failure.
After the restart, without a fault: the table loads; the change is there once or not at all, and where the point decides which, as it
decides; every file that any snapshot refers to exists; a repeat of the cut-off request, byte for byte, succeeds and changes nothing
twice, under its idempotency key (which gets the first answer, also when the table has gone on) and without; the next append works; a
cut-off compaction is finished by the server itself, the rows are equal, and the files that it had already uploaded are gone (on
services: gone or recorded for removal). A transaction over ten tables has happened in all of them or in none.
Last line: N passed, N failed. Exit status 0 only if all passed.
"""
import argparse, http.server, itertools, json, os, re, sys, threading, time, uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import pyarrow.parquet as pq, requests
from pyiceberg.io.pyarrow import _dataframe_to_data_files, schema_to_pyarrow
from pyiceberg.table.snapshots import Operation, Summary

from ground import FINISH_SECONDS_MAX, SCHEMA, Ground, LastRequest, Scene, batch, cut_off, keep_requests, numbers, same, settled
from server import ROOT, wait_until
from services import Services
from table_files import live_files, missing_files, stray_files

GROUNDS_AT_ONCE = 2  # starts of servers take a core each
SLOW_SCENES = 4
SMALL_FILES = 12
TRANSACTION_TABLES = 10
GROUP_COMMITS = 8
# Whether the change must be there after a restart: True, False, or None where both are right.
LANDED = {"commit.requirements-checked": False, "commit.metadata-written": False, "commit.swapped": True,
          "create.metadata-written": False, "create.row-written": True,
          "transaction.requirements-checked": False, "transaction.metadata-written": False, "transaction.half-swapped": False, "transaction.swapped": True}


def fault_points():
    text = (ROOT / "packages/timelake/src/contract/fault-points.ts").read_text()
    return re.findall(r"'([a-z-]+\.[a-z-]+)'", text[text.index("FAULT_POINTS"):text.index("as const")])


def commit_cut_off(scene):
    scene.prepare([1, 2])
    scene.arm()
    table = scene.load(scene.faulty)
    with LastRequest(scene.faulty.uri) as request:
        with cut_off("append"):
            table.append(batch(3))
    scene.wait_for_death()
    with scene.calm() as server:
        table = scene.load(server)
        rows = numbers(table)
        assert rows in ([1, 2], [1, 2, 3]), f"once or not at all: found {rows}"
        if LANDED.get(scene.point) is not None:
            same(rows == [1, 2, 3], LANDED[scene.point], "whether the cut-off append has landed")
        same(missing_files(table), [], "files missing after the restart")
        scene.repeat(request, table, ([1, 2, 3], 3, 3, []), [1, 2, 3, 4])


def rebase_cut_off(scene):
    """The same for an append whose base is stale, on a table that asks for such appends to be attached to its newest state."""
    with stale_table(scene, [1]) as stale, LastRequest(scene.faulty.uri) as request:
        with cut_off("append"):
            stale.append(batch(3))
    scene.wait_for_death()
    with scene.calm() as server:
        table = scene.load(server)
        same(numbers(table) == [1, 2, 3], LANDED[scene.point], f"whether the cut-off append has landed ({numbers(table)})")
        same(missing_files(table), [], "files missing after the restart")
        scene.repeat(request, table, ([1, 2, 3], 3, 3, []), [1, 2, 3, 4])


def rewrite_cut_off(scene):
    """Another program replaces two files by one while a third is appended; the table asks for rewrites to be attached to appends."""
    with stale_table(scene, [1, 3]) as stale, LastRequest(scene.faulty.uri) as request:
        with cut_off("rewrite"):
            rewrite_all(stale)
    scene.wait_for_death()
    with scene.calm() as server:
        table = scene.load(server)
        landed = LANDED[scene.point]
        same((numbers(table), len(live_files(table)), replaces(table)), ([1, 2, 3], 2 if landed else 3, int(landed)), "rows, live files and rewrites after the restart")
        same(missing_files(table), [], "files missing after the restart")
        scene.repeat(request, table, ([1, 2, 3], 2, 4, []), [1, 2, 3, 4])
        same(replaces(table), 1, "rewrites that landed")


@contextmanager
def stale_table(scene, values):
    """The table as it was before row 2 was appended, when the server is armed."""
    scene.prepare(values)
    with scene.calm() as server:
        newest = scene.load(server)
        newest.transaction().set_properties({"commit.rebase-appends": "true"}).commit_transaction()
        stale = scene.load(server)
        newest.append(batch(2))
    scene.arm()
    yield stale


def rewrite_all(table):
    """Replaces all files of the table by one with the same rows. PyIceberg overwrites but does not rewrite: its overwrite gets the name of a rewrite."""
    files = [task.file for task in table.scan().plan_files()]
    with table.transaction() as transaction:
        with transaction.update_snapshot().overwrite() as rewrite:
            summary_of_overwrite = rewrite._summary
            rewrite._summary = lambda *properties: Summary(Operation.REPLACE, **summary_of_overwrite(*properties).additional_properties)
            for file in files:
                rewrite.delete_data_file(file)
            for file in _dataframe_to_data_files(table.metadata, table.scan().to_arrow(), table.io):
                rewrite.append_data_file(file)


def replaces(table):
    return [snapshot.summary.operation for snapshot in table.snapshots()].count(Operation.REPLACE)


def intent_cut_off(scene):
    """The same for a batch of files that the server makes a snapshot of."""
    scene.prepare([1])
    scene.arm()
    catalog = scene.connect(scene.faulty)
    table = catalog.load_table((scene.space, "t"))
    path = f"{table.location()}/data/{uuid.uuid4()}.parquet"
    with table.io.new_output(path).create() as out:
        # Columns without field ids are told apart by their names only where the table says how, so they carry ids.
        pq.write_table(batch(2).cast(schema_to_pyarrow(table.schema())), out)
    url = f"{scene.faulty.uri}/lake/v1/{catalog.properties['prefix']}/namespaces/{scene.space}/tables/t/appends"
    body = {"batch-id": "batch 1", "paths": [path]}
    with cut_off("append"):
        requests.post(url, json=body, timeout=60)
    scene.wait_for_death()
    with scene.calm() as server:
        table = scene.load(server)
        same(numbers(table) == [1, 2], LANDED[scene.point], f"whether the cut-off batch has landed ({numbers(table)})")
        for attempt in ("same batch again", "same batch a third time"):
            answer = requests.post(url, json=body, timeout=60)
            same(answer.status_code, 200, f"the answer to the {attempt} ({answer.text[:200]})")
            table.refresh()
            same((numbers(table), len(table.snapshots()), missing_files(table)), ([1, 2], 2, []), f"rows, snapshots and missing files after the {attempt}")


def group_cut_off(scene):
    """Commits of one table that are sent at once, each under a key of its own: those that were in the group land together or not at all."""
    scene.prepare([1])
    scene.arm()
    catalog = scene.connect(scene.faulty)
    url = f"{scene.faulty.uri}/v1/{catalog.properties['prefix']}/namespaces/{scene.space}/tables/t"
    keys = [str(uuid.uuid4()) for _ in range(GROUP_COMMITS)]

    def send(n):
        body = {"requirements": [], "updates": [{"action": "set-properties", "updates": {f"k{n}": "1"}}]}
        try:
            return settled(lambda: requests.post(url, json=body, headers={"Idempotency-Key": keys[n]}, timeout=60)).status_code
        except (requests.exceptions.RequestException, OSError):
            return None
    with ThreadPoolExecutor(GROUP_COMMITS) as pool:
        same(set(pool.map(send, range(GROUP_COMMITS))), {None}, "answers although the server dies")
    scene.wait_for_death()
    with scene.calm() as server:
        table = scene.load(server)
        landed = [table.properties.get(f"k{n}") == "1" for n in range(GROUP_COMMITS)]
        if not LANDED[scene.point]:
            same(any(landed), False, "whether a cut-off commit has landed")
        else:
            assert any(landed), "the group that was swapped has landed"
        for attempt in ("again", "a third time"):
            with ThreadPoolExecutor(GROUP_COMMITS) as pool:
                answers = list(pool.map(send, range(GROUP_COMMITS)))
            same(answers, [200] * GROUP_COMMITS, f"answers under the same keys {attempt}")
            table.refresh()
            same([table.properties.get(f"k{n}") for n in range(GROUP_COMMITS)], ["1"] * GROUP_COMMITS, f"properties after the same requests {attempt}")
        same((numbers(table), missing_files(table)), ([1], []), "rows and missing files")


def create_cut_off(scene):
    scene.prepare([1])
    scene.arm()
    catalog = scene.connect(scene.faulty)
    with cut_off("create"):
        catalog.create_table((scene.space, "new"), SCHEMA)
    scene.wait_for_death()
    with scene.calm() as server:
        catalog = scene.connect(server)
        exists = catalog.table_exists((scene.space, "new"))
        if LANDED.get(scene.point) is not None:
            same(exists, LANDED[scene.point], "whether the cut-off create has landed")
        same((scene.space, "new") in catalog.list_tables(scene.space), exists, "listed as it exists")
        table = catalog.load_table((scene.space, "new")) if exists else catalog.create_table((scene.space, "new"), SCHEMA)
        table.append(batch(1))
        same((numbers(table), missing_files(table)), ([1], []), "rows and missing files of the new table")
        same(numbers(catalog.load_table((scene.space, "t"))), [1], "the other table")


def compaction_cut_off(scene):
    """The appends happen without maintenance: their events wait in the database and set the faulty server to work."""
    values = list(range(SMALL_FILES))
    scene.prepare(values)
    scene.arm()
    scene.wait_for_death()
    with scene.calm() as server:
        catalog = scene.connect(server)
        table = catalog.load_table((scene.space, "t"))
        same((numbers(table), missing_files(table)), (values, []), "rows and missing files right after the restart")

        def finished():
            table.refresh()
            state, plan = server.maintenance(scene.space, "t")
            return len(live_files(table)) == 1 and plan["outcome"] == "nothing-to-do" and all(run["state"] != "running" for run in state["runs"])
        wait_until(finished, FINISH_SECONDS_MAX, "the job is finished after the restart")
        same((numbers(table), missing_files(table)), (values, []), "rows and missing files after the compaction")
        same([s.summary.operation.value for s in table.snapshots()].count("replace"), 1, "compactions that landed")
        table.append(batch(99))
        same((numbers(table), missing_files(table)), (values + [99], []), "rows and missing files after the next append")
        stray = {f for f in stray_files(table) if f.endswith((".parquet", ".avro"))} - scene.awaiting_removal()
        same([os.path.basename(f) for f in stray], [], "data files and manifests that the cut-off job left behind, and that nobody will remove")


def transaction_cut_off(scene):
    """Ten tables get a property, and an eleventh is made, in one request: all of it or nothing."""
    names = [f"t{n}" for n in range(TRANSACTION_TABLES)]
    scene.prepare([1], names)
    scene.arm()
    url, request = transaction_request(scene, names)
    with cut_off("transaction"):
        requests.post(url, json=request, timeout=60)
    scene.wait_for_death()
    with scene.calm() as server:
        catalog = scene.connect(server)
        changed = [catalog.load_table((scene.space, name)).properties.get("step") == "one" for name in names] + [catalog.table_exists((scene.space, "made"))]
        assert len(set(changed)) == 1, f"all or nothing: found {changed}"
        if LANDED.get(scene.point) is not None:
            same(changed[0], LANDED[scene.point], "whether the cut-off transaction has landed")
        answer = requests.post(url, json=request, timeout=60)
        # Without a key, a server may tell a repeat from a second attempt to make the table, or refuse it.
        expected = (204, 409) if changed[0] else (204,)
        assert answer.status_code in expected, f"the answer to the same request again: {answer.status_code} {answer.text[:200]}"
        for name in names + ["made"]:
            table = catalog.load_table((scene.space, name))
            same((table.properties.get("step"), missing_files(table)), ("one", []), f"property and missing files of {name}")
        catalog.load_table((scene.space, "t0")).append(batch(2))
        same(numbers(catalog.load_table((scene.space, "t0"))), [1, 2], "rows after the next append")


def transaction_request(scene, names):
    """(URL, body) of a transaction; the table that it makes keeps a repeat from landing a second time."""
    catalog = scene.connect(scene.faulty)
    url = f"{scene.faulty.uri}/v1/{catalog.properties['prefix']}"
    staged = requests.post(f"{url}/namespaces/{scene.space}/tables", timeout=60, json={"name": "made", "stage-create": True, "schema": json.loads(SCHEMA.model_dump_json())})
    same(staged.status_code, 200, f"the staged create ({staged.text[:200]})")
    made = staged.json()["metadata"]
    updates = [{"action": "assign-uuid", "uuid": made["table-uuid"]}, {"action": "upgrade-format-version", "format-version": made["format-version"]},
               {"action": "add-schema", "schema": made["schemas"][0], "last-column-id": made["last-column-id"]}, {"action": "set-current-schema", "schema-id": -1},
               {"action": "add-spec", "spec": made["partition-specs"][0]}, {"action": "set-default-spec", "spec-id": -1},
               {"action": "add-sort-order", "sort-order": made["sort-orders"][0]}, {"action": "set-default-sort-order", "sort-order-id": -1},
               {"action": "set-location", "location": made["location"]}, {"action": "set-properties", "updates": {"step": "one"}}]
    changes = [{"identifier": {"namespace": [scene.space], "name": name}, "requirements": [], "updates": [{"action": "set-properties", "updates": {"step": "one"}}]} for name in names]
    changes.append({"identifier": {"namespace": [scene.space], "name": "made"}, "requirements": [{"type": "assert-create"}], "updates": updates})
    return f"{url}/transactions/commit", {"table-changes": changes}


class Receiver(http.server.ThreadingHTTPServer):
    """Takes every event of a webhook; the ids in the order in which they came."""

    def __init__(self):
        self.ids = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(handler):
                handler.rfile.read(int(handler.headers["content-length"]))
                self.ids.append(handler.headers["webhook-id"])
                handler.send_response(204)
                handler.end_headers()

            def log_message(handler, *_):
                pass
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def webhook_cut_off(scene):
    """The events of two appends are sent; the server dies before it has written down that the first ones were taken."""
    scene.prepare([1])
    receiver = Receiver()
    with scene.calm() as server:
        hook = {"name": "crash", "url": f"http://127.0.0.1:{receiver.server_port}/hook", "filter": {"kinds": ["table-committed"]}}
        status, answer = server.post("/admin/v1/webhooks", hook)
        same(status, 201, f"the answer to a new webhook ({str(answer)[:200]})")
        status, answer = server.post("/admin/v1/webhooks/crash/pause")
        assert status in (200, 204), f"the answer to its pause: {status} {str(answer)[:200]}"
        table = scene.load(server)
        for value in (2, 3):
            table.append(batch(value))
    scene.arm()
    try:
        scene.faulty.post("/admin/v1/webhooks/crash/resume")
    except OSError:
        pass  # it may die before it answers
    scene.wait_for_death()
    sent = list(receiver.ids)
    assert sent, "something was sent before the server died"
    with scene.calm() as server:
        wait_until(lambda: len(set(receiver.ids)) >= 2 and len(receiver.ids) > len(sent), FINISH_SECONDS_MAX, "what was not written down is sent again, and the rest")
        again = list(dict.fromkeys(receiver.ids))
        same(again, sorted(again, key=lambda one: int(one.rsplit("-", 1)[1])), "the order of the events")
        same(numbers(scene.load(server)), [1, 2, 3], "rows")


# The scenes of each kind of fault point, by the way in which what is cut off comes.
KINDS = {"commit": {"strict": commit_cut_off, "rebase": rebase_cut_off, "rewrite": rewrite_cut_off, "append": intent_cut_off, "group": group_cut_off},
         "create": {"strict": create_cut_off}, "compaction": {"job": compaction_cut_off}, "transaction": {"strict": transaction_cut_off}, "webhooks": {"sender": webhook_cut_off}}


def scenes_of(points):
    """(point, lane) of every scene; a point of an unknown kind has one, which fails."""
    return [(point, lane) for point in points for lane in KINDS.get(point.split(".")[0], {"": None})]


def play(point, lane, ground):
    """Whether the scene went as it must; says so."""
    began, scene, kind = time.monotonic(), None, point.split(".")[0]
    try:
        assert kind in KINDS, f"no scene for fault points of the kind {kind}"
        scene = Scene(point, lane, ground)
        KINDS[kind][lane](scene)
        print(f"ok   {point} {lane} {time.monotonic() - began:.1f} s", flush=True)
        return True
    except Exception as broken:
        print(f"FAIL {point} {lane} {time.monotonic() - began:.1f} s {type(broken).__name__}: {broken}", flush=True)
        for server in (ground.calm, *([scene.faulty] if scene else [])):
            if server.is_alive():
                server.kill()
        return False


def play_all(places, make_ground):
    """Scenes one after another on one ground, on a new one after a failure."""
    ended, ground = [], None
    for place in places:
        ground = ground or make_ground(place)
        ended.append(play(*place, ground))
        ground = ground if ended[-1] else None
    if ground:
        ground.end()
    return ended


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--services")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    places = [place for place in scenes_of(fault_points()) if re.search(options.only, " ".join(place))]
    if options.list:
        print("\n".join(" ".join(place) for place in places))
        return 0
    services = Services(options.services).start() if options.services else None
    keep_requests()

    def make_ground(place):
        return Ground(Path(options.work) / "-".join(place).replace(".", "-"), services, "on" if is_job(place) else "off")

    def is_job(place):
        return place[0].startswith("compaction.")
    # A job finds work in its own ground alone. Where it waits for the lease of the run that died, many wait at once.
    jobs, others = [place for place in places if is_job(place)], [place for place in places if not is_job(place)]
    chains = [others[nth::GROUNDS_AT_ONCE] for nth in range(GROUNDS_AT_ONCE)]
    with ThreadPoolExecutor(GROUNDS_AT_ONCE) as pool, ThreadPoolExecutor(SLOW_SCENES) as patient:
        waiting = [patient.submit(play_all, [place], make_ground) for place in jobs] if services else []
        chained = [pool.submit(play_all, chain, make_ground) for chain in chains]
        chained += [] if services else [pool.submit(play_all, [place], make_ground) for place in jobs]
        ended = list(itertools.chain(*(one.result() for one in waiting + chained)))
    passed, failed = ended.count(True), ended.count(False)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
