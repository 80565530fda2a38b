"""Starts and ends the servers that the judges talk to. Python standard library only.

`Timelake` is what `npm start` runs (`scripts/run.mjs start`) on a free port with a data directory of its own;
`Reference` is the Java reference catalog of rck/. Both listen on loopback, both lead a process group of their own, so
ending one never touches a process that somebody else started.
"""
import json, os, random, signal, socket, subprocess, time, urllib.error, urllib.parse, urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
START_SECONDS_MAX = 120
STOP_SECONDS_MAX = 40


def free_port():
    """A port that nobody listens on, below those that the system gives to outgoing connections before a server has started."""
    while True:
        port = random.randrange(15_000, 30_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


def wait_until(condition, seconds, what):
    """The first true value of condition(), asked every 50 ms; AssertionError with `what` after the given seconds."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.05)


class Process:
    """A server process in a group of its own, its output in a log file."""

    def __init__(self, command, log, env=None):
        self.command, self.log, self.env = command, Path(log), env or {}
        self.child = None

    def spawn(self):
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("TIMELAKE_")}
        with open(self.log, "ab") as out:
            self.child = subprocess.Popen(self.command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                          env={**inherited, **self.env}, start_new_session=True)

    def is_alive(self):
        """Whether any process of the group still runs (the first one may have ended before its children)."""
        if self.child is None:
            return False
        self.child.poll()
        return any(status_of(pid) not in ("", "Z", "X") and group_of(pid) == self.child.pid for pid in numbered_processes())

    def signal_group(self, which):
        try:
            os.killpg(self.child.pid, which)
        except ProcessLookupError:
            pass

    def stop(self):
        """SIGTERM, then SIGKILL for what is left. Returns the exit status of the first process."""
        if self.child is None:
            return None
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
        try:
            wait_until(lambda: not self.is_alive(), STOP_SECONDS_MAX, "the server ends after SIGTERM")
        except AssertionError:
            self.signal_group(signal.SIGKILL)
            raise
        finally:
            status = self.child.wait(timeout=10)
        return status

    def kill(self):
        """kill -9 for the whole group."""
        self.signal_group(signal.SIGKILL)
        wait_until(lambda: not self.is_alive(), 10, "the server dies of SIGKILL")
        self.child.wait(timeout=10)

    def tail(self, lines=15):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:]) if self.log.exists() else ""

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            if self.is_alive():
                self.kill()
            raise

    def __exit__(self, kind, *_):
        if not self.is_alive():
            return
        if kind is None:
            self.stop()
        else:
            self.kill()


class Timelake(Process):
    """`npm start` on a data directory; start() may be called again after the process ended."""

    def __init__(self, data, port=None, log=None, **settings):
        self.data, self.port = Path(data), port or free_port()
        self.uri = f"http://127.0.0.1:{self.port}"
        super().__init__(["node", "scripts/run.mjs", "start"], log or self.data.with_name(self.data.name + ".log"),
                         {"TIMELAKE_DATA_DIR": str(self.data), "TIMELAKE_PORT": str(self.port), **settings})

    def start(self):
        self.spawn()
        began = time.monotonic()
        wait_until(lambda: answers(f"{self.uri}/v1/config?warehouse=main") or self.ended(), START_SECONDS_MAX, "the server answers /v1/config")
        self.started_in_seconds = time.monotonic() - began
        return self

    def ended(self):
        if self.child.poll() is not None and not self.is_alive():
            raise AssertionError(f"the server ended with status {self.child.returncode} before it answered:\n{self.tail()}")

    def get(self, path):
        return call("GET", self.uri + path)

    def post(self, path, body=None):
        return call("POST", self.uri + path, body)


    def maintenance(self, namespace, name):
        """(what GET …/maintenance says, what a dry run would do now) for the table."""
        status, answer = self.get("/admin/v1/tables?pageSize=1000")
        assert status == 200, f"GET /admin/v1/tables: {status} {str(answer)[:200]}"
        table = next(t for t in answer["tables"] if t["namespace"] == [namespace] and t["name"] == name)
        (status, state), (planned, plan) = self.get(f"/admin/v1/tables/{table['id']}/maintenance"), self.post(f"/admin/v1/tables/{table['id']}/compact?dry-run=true")
        assert (status, planned) == (200, 200), f"maintenance of {name}: {status} {str(state)[:200]}, dry run: {planned} {str(plan)[:200]}"
        return state, plan


class IdentityProvider(Process):
    """The provider of oidc/provider.ts on a free port."""

    def __init__(self, log):
        self.port = free_port()
        self.uri = f"http://127.0.0.1:{self.port}"
        super().__init__(["node", "--import", "tsx", str(HERE / "oidc/provider.ts"), str(self.port)], log)

    def start(self):
        self.spawn()
        wait_until(lambda: answers(f"{self.uri}/keys"), START_SECONDS_MAX, "the identity provider answers")
        return self

    def token(self, subject, **form):
        fields = urllib.parse.urlencode({"grant_type": "client_credentials", "client_id": subject, **form})
        with urllib.request.urlopen(f"{self.uri}/token", fields.encode(), timeout=30) as answer:
            return json.load(answer)["access_token"]

    def rotate(self):
        """From now on tokens are signed with a new key."""
        assert call("POST", f"{self.uri}/rotate")[0] == 200


class Running(Timelake):
    """A server that somebody else started."""

    def __init__(self, uri):
        self.uri, self.child = uri, None


class Reference(Process):
    """The Java reference catalog, memory back end."""

    def __init__(self, warehouse, port=None):
        self.port = port or free_port()
        self.uri = f"http://127.0.0.1:{self.port}"
        warehouse = Path(warehouse)
        super().__init__(["bash", str(HERE / "rck/reference-server.sh"), str(self.port), str(warehouse)], warehouse.with_name(warehouse.name + ".log"))

    def start(self):
        self.spawn()
        wait_until(lambda: answers(f"{self.uri}/v1/config"), START_SECONDS_MAX, "the reference server answers /v1/config")
        return self


def call(method, url, body=None, headers=None):
    """(status, decoded JSON or text) of one request; no exception for an HTTP error."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers={"Content-Type": "application/json", **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            status, content = answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        status, content = error.code, error.read().decode()
    try:
        return status, json.loads(content)
    except ValueError:
        return status, content


def answers(url):
    """Whether a server answers there; a closed one asks for the token."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status == 200
    except urllib.error.HTTPError as refused:
        return refused.code == 401
    except (OSError, urllib.error.URLError):
        return False


def numbered_processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc") else []


def stat_fields(pid):
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    return text[text.rindex(")") + 2:].split()


def status_of(pid):
    return (stat_fields(pid) or [""])[0]


def group_of(pid):
    fields = stat_fields(pid)
    return int(fields[2]) if fields else -1
