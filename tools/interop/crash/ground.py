"""Where the scenes of crash.py happen: grounds with servers that come back or die, requests that are sent again, and what tables hold."""
import itertools, os, time, uuid
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa, requests
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

from server import Timelake, wait_until
from services import SECRET_KEY
from table_files import connect, live_files, missing_files

DIE_SECONDS_MAX = 60
FINISH_SECONDS_MAX = 150  # other processes must wait for the lease of a dead run
SCHEMA = Schema(NestedField(1, "a", LongType(), required=False), NestedField(2, "s", StringType(), required=False))


def batch(*values):
    return pa.table({"a": pa.array(values, pa.int64()), "s": pa.array([f"row {v}" for v in values], pa.large_string())})


def numbers(table):
    return sorted(table.scan().to_arrow()["a"].to_pylist())


def same(got, want, what):
    assert got == want, f"{what}: expected {want}, found {got}"


@contextmanager
def cut_off(what):
    """The server dies under what is done in here, so no answer comes."""
    try:
        yield
    except (requests.exceptions.RequestException, OSError):
        return
    raise AssertionError(f"the {what} was answered although the server dies")


class LastRequest:
    """Keeps the last POST that PyIceberg sends to one server under an idempotency key, to send it again. `KEPT` knows them by server."""

    KEPT = {}

    def __init__(self, uri):
        self.uri = uri

    def __enter__(self):
        self.KEPT[self.uri] = self
        self.request = None
        return self

    def __exit__(self, *_):
        del self.KEPT[self.uri]

    def again(self, keyed=True):
        """Sent once more, until the key is not a dead process's any more. The answer is a success."""
        url, headers, body = self.request
        if not keyed:
            headers = {name: value for name, value in headers.items() if name != "Idempotency-Key"}
        answer = settled(lambda: requests.post(url, headers=headers, data=body, timeout=60))
        same(answer.status_code, 200, f"the answer to the same request again ({answer.text[:200]})")
        return answer.json()


def keep_requests():
    """Puts a key into every POST to a server whose requests are kept, and keeps it. Once for all threads."""
    original = requests.Session.send

    def send(session, request, **more):
        keeper = next((one for uri, one in list(LastRequest.KEPT.items()) if request.url.startswith(uri + "/")), None)
        if keeper and request.method == "POST":
            request.headers["Idempotency-Key"] = str(uuid.uuid4())
            keeper.request = (request.url, dict(request.headers), request.body)
        return original(session, request, **more)
    requests.Session.send = send


def settled(send):
    """The answer when there is one: where other processes may live, the key of a dead one is free again when its lease is over."""
    answer, began = send(), time.monotonic()
    while answer.status_code == 409 and "retry-after" in answer.headers and time.monotonic() - began < FINISH_SECONDS_MAX:
        time.sleep(0.5)
        answer = send()
    return answer


class Ground:
    """A data directory, or a lake on services, on which one scene follows another, and the server without faults between the faulty ones."""

    def __init__(self, data, services, maintenance="off"):
        self.data, self.services, self.lake, self.maintenance = Path(data), services, services.lake() if services else None, maintenance
        os.makedirs(self.data.parent, exist_ok=True)
        self.calm = self.server()

    def server(self, **settings):
        # The lease of a key whose process died is waited for.
        return Timelake(self.data, **{**(self.lake.settings() if self.lake else {}), "TIMELAKE_IDEMPOTENCY_LEASE": "5s", "TIMELAKE_COMPACTION_QUIET": "3s",
                                      "TIMELAKE_MAINTENANCE": self.maintenance, "TIMELAKE_WEBHOOK_ALLOWED_ADDRESSES": "127.0.0.1", "TIMELAKE_SECRET_KEY": SECRET_KEY, **settings})

    def faulty(self, point, proof):
        # The port stays, so that a recorded request can be sent again.
        server = self.server(TIMELAKE_PORT=str(self.calm.port), TIMELAKE_FAULT_POINT=point, TIMELAKE_FAULT_PROOF=str(proof))
        server.port, server.uri = self.calm.port, self.calm.uri
        return server

    def end(self):
        if self.calm.is_alive():
            self.calm.stop()


class Scene:
    """A namespace on a ground, and the fault that the server of the ground meets."""

    NUMBERS = itertools.count(1)

    def __init__(self, point, lane, ground):
        self.point, self.ground, self.lake, self.space = point, ground, ground.lake, f"crash{next(self.NUMBERS)}"
        self.proof = ground.data.with_name(f"{point}-{lane}.proof")
        self.faulty = ground.faulty(point, self.proof)

    @contextmanager
    def calm(self):
        """The server without faults, which goes on afterwards."""
        if not self.ground.calm.is_alive():
            self.ground.calm.start()
        yield self.ground.calm

    def arm(self):
        """From now on the server dies at the point."""
        self.ground.end()
        self.faulty.start()

    def awaiting_removal(self):
        """Files that the database records for removal: where other processes may live, what a dead run uploaded waits for minutes."""
        return set(self.ground.services.psql("SELECT location FROM job_output", self.lake.database)) if self.lake else set()

    def connect(self, server):
        return connect(server.uri, **(self.lake.pyiceberg() if self.lake else {}))

    def load(self, server, name="t"):
        return self.connect(server).load_table((self.space, name))

    def prepare(self, values, names=("t",)):
        """Tables with one row per append, made by a server without faults and without maintenance."""
        if self.ground.maintenance == "off":
            with self.calm() as server:
                return self.make(server, values, names)
        with self.ground.server(TIMELAKE_MAINTENANCE="off") as server:
            self.make(server, values, names)

    def make(self, server, values, names):
        catalog = self.connect(server)
        catalog.create_namespace(self.space)
        for name in names:
            table = catalog.create_table((self.space, name), SCHEMA)
            for value in values:
                table.append(batch(value))

    def wait_for_death(self):
        wait_until(lambda: not self.faulty.is_alive(), DIE_SECONDS_MAX, f"{self.point} is reached and the server dies there")
        status = self.faulty.child.wait(timeout=10)
        assert self.proof.exists(), f"{self.point}: the server ended with status {status}, but not at the point:\n{self.faulty.tail()}"
        same(self.proof.read_text(), f"fault point {self.point} hit 1\n", "the proof of the hit")
        same(status, -9, "the exit status of a process that killed itself with SIGKILL")

    def repeat(self, request, table, want, next_rows):
        """The cut-off request again and again, with an append between: `want` of the table before it, and its rows after it."""
        first = request.again()
        table.refresh()
        same(state_of(table), want, "rows, live files, snapshots and missing files after the same request again")
        table.append(batch(4))
        # Who sends the same key gets the first answer, of the state at that time.
        same(request.again()["metadata-location"], first["metadata-location"], "the metadata location in the answer to the same key after another commit")
        request.again(keyed=False)
        table.refresh()
        rows, files, snapshots, missing = want
        same(state_of(table), (next_rows, files + 1, snapshots + 1, missing), "rows, live files, snapshots and missing files after an append and the same request a third time")


def state_of(table):
    return numbers(table), len(live_files(table)), len(table.snapshots()), missing_files(table)
