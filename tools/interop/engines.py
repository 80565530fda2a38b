"""Three engines on one catalog, each with one way to run a statement or an append. Used by the mixed and lost-answer judges."""
import json, os, re, subprocess, urllib.request

import duckdb

from server import HERE, Process, wait_until

TRINO_START_SECONDS_MAX = 180
# What one shell knows of stores and catalogs must not reach an engine.
FOREIGN_VARIABLES = ("S3_", "AWS_", "CATALOG_", "TIMELAKE_")


class Spark:
    """A Spark session in a process of its own; sql() gives rows as lists and raises on an error."""

    def __init__(self, uri, environment, log, **more):
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN_VARIABLES)}
        self.child = subprocess.Popen([str(HERE / "spark/sql.sh"), uri, "main"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(log, "w"),
                                      text=True, env={**inherited, **environment, **more})
        assert "ready" in self.read(), "Spark starts"

    def read(self):
        line = self.child.stdout.readline()
        assert line, f"the Spark session ended with status {self.child.wait()}"
        return json.loads(line)

    def sql(self, statement):
        self.child.stdin.write(json.dumps(statement) + "\n")
        self.child.stdin.flush()
        answer = self.read()
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["rows"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        self.child.wait(timeout=60)


class Trino(Process):
    """A Trino on the catalog; sql() gives rows as lists and raises on an error."""

    def __init__(self, uri, environment, log):
        super().__init__([str(HERE / "trino/run.sh"), uri, "main"], log, {**environment, "TRINO_KEEP": "1"})

    def start(self):
        self.spawn()

        def address():
            assert self.is_alive(), f"Trino ended: {self.tail()}"
            return re.search(r"^http\S+$", self.log.read_text(), re.M)
        self.url = wait_until(address, TRINO_START_SECONDS_MAX, "Trino starts")[0]
        return self

    def sql(self, statement):
        headers = {"X-Trino-User": "judge", "X-Trino-Catalog": "lake", "X-Trino-Time-Zone": "UTC"}
        request, rows = urllib.request.Request(f"{self.url}/v1/statement", statement.encode(), headers), []
        while True:
            with urllib.request.urlopen(request, timeout=300) as answer:
                page = json.load(answer)
            if page.get("error"):
                raise RuntimeError(f"{page['error']['errorName']}: {page['error']['message'].splitlines()[0]}")
            rows += page.get("data", [])
            if "nextUri" not in page:
                return rows
            request = urllib.request.Request(page["nextUri"], headers={"X-Trino-User": "judge"})


def attach_duckdb(uri, extensions, setup=None, token=None):
    """A DuckDB connection with the catalog attached as `lake`."""
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
    for name in ("avro", "httpfs", "iceberg"):
        connection.execute(f"LOAD '{extensions}/{name}.duckdb_extension'")
    if setup:
        connection.execute(setup)
    authorization = f"TOKEN '{token}'" if token else "AUTHORIZATION_TYPE 'none'"
    connection.execute(f"ATTACH 'main' AS lake (TYPE iceberg, ENDPOINT '{uri}', {authorization}, ACCESS_DELEGATION_MODE 'none')")
    return connection
