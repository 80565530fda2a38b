#!/usr/bin/env python3
"""kill -9 at each named fault point, restart, and look with PyIceberg.

    crash.py --work FOLDER [--only REGEX] [--list]

The points come from packages/timelake/src/contract/fault-points.ts, so a new one is tested (or fails as unknown) without a
change here. The server kills itself at the point (TIMELAKE_FAULT_POINT) after it wrote a line into a file
(TIMELAKE_FAULT_PROOF): a point that is never reached is a failure. After the restart, without a fault:
the table loads; the change is there once or not at all, and where the point decides which, as it decides; every file
that any snapshot refers to exists; a repeat of the cut-off request, byte for byte, succeeds and changes nothing twice;
the next append works; a cut-off compaction is finished by the server itself, the rows are equal, and the files that it had
already uploaded are gone.
Last line: N passed, N failed. Exit status 0 only if all passed.
"""
import argparse, os, re, sys, time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import pyarrow as pa, requests
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

from server import ROOT, Timelake, wait_until
from table_files import connect, live_files, missing_files, stray_files

DIE_SECONDS_MAX = 60
FINISH_SECONDS_MAX = 90
SMALL_FILES = 12
SCHEMA = Schema(NestedField(1, "a", LongType(), required=False), NestedField(2, "s", StringType(), required=False))
# Whether the change must be there after a restart: True, False, or None where both are right.
LANDED = {"commit.requirements-checked": False, "commit.metadata-written": False, "commit.swapped": True,
          "create.metadata-written": False, "create.row-written": True}


def fault_points():
    text = (ROOT / "packages/timelake/src/contract/fault-points.ts").read_text()
    return re.findall(r"'([a-z-]+\.[a-z-]+)'", text[text.index("FAULT_POINTS"):text.index("as const")])


def batch(*values):
    return pa.table({"a": pa.array(values, pa.int64()), "s": pa.array([f"row {v}" for v in values], pa.large_string())})


def numbers(table):
    return sorted(table.scan().to_arrow()["a"].to_pylist())


def same(got, want, what):
    assert got == want, f"{what}: expected {want}, found {got}"


class LastRequest:
    """Keeps the last POST that PyIceberg sent to a path, to send it again."""

    def __init__(self):
        self.kept = None
        self.original = requests.Session.send

    def __enter__(self):
        def send(session, request, **more):
            if request.method == "POST":
                self.kept = (request.url, dict(request.headers), request.body)
            return self.original(session, request, **more)
        requests.Session.send = send
        return self

    def __exit__(self, *_):
        requests.Session.send = self.original

    def again(self):
        url, headers, body = self.kept
        return requests.post(url, headers=headers, data=body, timeout=60)


class Scene:
    """One data directory and the fault that its server meets."""

    def __init__(self, point, work):
        self.point, self.data = point, Path(work) / point.replace(".", "-")
        self.proof = self.data.with_name(self.data.name + ".proof")
        # The port stays, so that a recorded request can be sent again.
        self.calm = Timelake(self.data, TIMELAKE_COMPACTION_QUIET="3s", TIMELAKE_MAINTENANCE="on" if self.compacts() else "off")
        self.faulty = Timelake(self.data, port=self.calm.port, TIMELAKE_FAULT_POINT=point, TIMELAKE_FAULT_PROOF=str(self.proof),
                               **{k: self.calm.env[k] for k in ("TIMELAKE_COMPACTION_QUIET", "TIMELAKE_MAINTENANCE")})

    def compacts(self):
        return self.point.startswith("compaction.")

    def prepare(self, values):
        """A table `crash.t` with one row per append, made by a server without faults and without maintenance."""
        with Timelake(self.data, TIMELAKE_MAINTENANCE="off") as server:
            catalog = connect(server.uri)
            catalog.create_namespace("crash")
            table = catalog.create_table(("crash", "t"), SCHEMA)
            for value in values:
                table.append(batch(value))

    def wait_for_death(self):
        wait_until(lambda: not self.faulty.is_alive(), DIE_SECONDS_MAX, f"{self.point} is reached and the server dies there")
        status = self.faulty.child.wait(timeout=10)
        assert self.proof.exists(), f"{self.point}: the server ended with status {status}, but not at the point:\n{self.faulty.tail()}"
        same(self.proof.read_text(), f"fault point {self.point} hit 1\n", "the proof of the hit")
        same(status, -9, "the exit status of a process that killed itself with SIGKILL")


def commit_cut_off(scene):
    scene.prepare([1, 2])
    scene.faulty.start()
    table = connect(scene.faulty.uri).load_table(("crash", "t"))
    with LastRequest() as request:
        try:
            table.append(batch(3))
            raise AssertionError("the append was answered although the server dies")
        except (requests.exceptions.RequestException, OSError):
            pass
    scene.wait_for_death()
    with scene.calm as server:
        table = connect(server.uri).load_table(("crash", "t"))
        rows = numbers(table)
        assert rows in ([1, 2], [1, 2, 3]), f"once or not at all: found {rows}"
        if LANDED.get(scene.point) is not None:
            same(rows == [1, 2, 3], LANDED[scene.point], "whether the cut-off append has landed")
        same(missing_files(table), [], "files missing after the restart")
        answer = request.again()
        same(answer.status_code, 200, f"the answer to the same request again ({answer.text[:200]})")
        table.refresh()
        same((numbers(table), len(table.snapshots())), ([1, 2, 3], 3), "rows and snapshots after the same request again")
        table.append(batch(4))
        same((numbers(table), missing_files(table)), ([1, 2, 3, 4], []), "rows and missing files after the next append")


def create_cut_off(scene):
    scene.prepare([1])
    scene.faulty.start()
    catalog = connect(scene.faulty.uri)
    try:
        catalog.create_table(("crash", "new"), SCHEMA)
        raise AssertionError("the create was answered although the server dies")
    except (requests.exceptions.RequestException, OSError):
        pass
    scene.wait_for_death()
    with scene.calm as server:
        catalog = connect(server.uri)
        exists = catalog.table_exists(("crash", "new"))
        if LANDED.get(scene.point) is not None:
            same(exists, LANDED[scene.point], "whether the cut-off create has landed")
        same(("crash", "new") in catalog.list_tables("crash"), exists, "listed as it exists")
        table = catalog.load_table(("crash", "new")) if exists else catalog.create_table(("crash", "new"), SCHEMA)
        table.append(batch(1))
        same((numbers(table), missing_files(table)), ([1], []), "rows and missing files of the new table")
        same(numbers(catalog.load_table(("crash", "t"))), [1], "the other table")


def compaction_cut_off(scene):
    """The appends happen without maintenance: their events wait in the database and set the faulty server to work."""
    values = list(range(SMALL_FILES))
    scene.prepare(values)
    scene.faulty.start()
    scene.wait_for_death()
    with scene.calm as server:
        catalog = connect(server.uri)
        table = catalog.load_table(("crash", "t"))
        same((numbers(table), missing_files(table)), (values, []), "rows and missing files right after the restart")

        def finished():
            table.refresh()
            state, plan = server.maintenance("crash", "t")
            return len(live_files(table)) == 1 and plan["outcome"] == "nothing-to-do" and all(run["state"] != "running" for run in state["runs"])
        wait_until(finished, FINISH_SECONDS_MAX, "the job is finished after the restart")
        same((numbers(table), missing_files(table)), (values, []), "rows and missing files after the compaction")
        same([s.summary.operation.value for s in table.snapshots()].count("replace"), 1, "compactions that landed")
        table.append(batch(99))
        same((numbers(table), missing_files(table)), (values + [99], []), "rows and missing files after the next append")
        stray = [f for f in stray_files(table) if f.endswith((".parquet", ".avro"))]
        same([os.path.basename(f) for f in stray], [], "data files and manifests that the cut-off job left behind")


KINDS = {"commit": commit_cut_off, "create": create_cut_off, "compaction": compaction_cut_off}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    points = [p for p in fault_points() if re.search(options.only, p)]
    if options.list:
        print("\n".join(points))
        return 0
    os.makedirs(options.work, exist_ok=True)
    passed = failed = 0
    for point in points:
        began = time.monotonic()
        scene = None
        try:
            kind = KINDS.get(point.split(".")[0])
            assert kind, f"no scene for fault points of the kind {point.split('.')[0]}"
            scene = Scene(point, options.work)
            kind(scene)
            passed += 1
            print(f"ok   {point} {time.monotonic() - began:.1f} s", flush=True)
        except Exception as broken:
            failed += 1
            print(f"FAIL {point} {time.monotonic() - began:.1f} s {type(broken).__name__}: {broken}", flush=True)
            for server in (scene.calm, scene.faulty) if scene else ():
                if server.is_alive():
                    server.kill()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
