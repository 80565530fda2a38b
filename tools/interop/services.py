"""PostgreSQL, Redis and an S3 server for the judges (tools/services), and what a server or a client must know to use them."""
import base64, itertools, json, os, shutil, subprocess, threading, uuid
from dataclasses import dataclass
from pathlib import Path

from server import ROOT, Timelake, call

SCRIPTS = ROOT / "tools/services"
SECRET_KEY = base64.b64encode(b"a key of thirty-two bytes, a key").decode()
REDIS_DATABASES = 64


class Services:
    """Started on first use in a folder of their own, ended by stop(). `values` holds what start.sh prints."""

    def __init__(self, folder):
        self.folder, self.values, self.numbers, self.starting = Path(folder), {}, itertools.count(1), threading.Lock()

    def start(self, only="postgres,redis,s3", *flags):
        with self.starting:
            printed = subprocess.run([str(SCRIPTS / "start.sh"), str(self.folder), "--only", only, *flags], capture_output=True, text=True, timeout=180)
            assert printed.returncode == 0, f"the services start: {printed.stderr[-800:]}"
            self.values.update(line.split("=", 1) for line in printed.stdout.splitlines())
        return self

    def stop(self, only="s3,redis,postgres", *flags):
        subprocess.run([str(SCRIPTS / "stop.sh"), str(self.folder), "--only", only, *flags], check=True, timeout=120)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def psql(self, statement, database="postgres"):
        """The rows that psql prints for one statement, columns apart by |."""
        url = self.values["TEST_DATABASE_URL"].rsplit("/", 1)[0]
        done = subprocess.run([psql_program(), "-XAtq", "-v", "ON_ERROR_STOP=1", f"{url}/{database}", "-c", statement], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"psql: {done.stderr.strip()}"
        return done.stdout.splitlines()

    def lake(self, s3_endpoint=None):
        """A new database, a Redis database and a place in the bucket. `s3_endpoint`: a proxy before the store, for the server alone."""
        if not self.values:
            self.start()
        number = next(self.numbers)
        name = f"lake_{number}_{uuid.uuid4().hex[:8]}"
        self.psql(f"CREATE DATABASE {name}")
        values, url = self.values, self.values["TEST_DATABASE_URL"].rsplit("/", 1)[0]
        return Lake(values, name, f"{url}/{name}", f"{values['TEST_REDIS_URL']}/{number % REDIS_DATABASES}",
                    f"s3://{values['S3_BUCKET']}/{name.replace('_', '-')}", s3_endpoint or values["S3_ENDPOINT"])


@dataclass
class Lake:
    """What servers share: any number of them may run on one lake."""

    values: dict
    database: str
    database_url: str
    redis_url: str
    location: str
    s3_endpoint: str

    def settings(self):
        """The settings of a server on this lake."""
        return {"TIMELAKE_DATABASE_URL": self.database_url, "TIMELAKE_REDIS_URL": self.redis_url, "TIMELAKE_SECRET_KEY": SECRET_KEY,
                "TIMELAKE_WAREHOUSE_LOCATION": self.location, "TIMELAKE_S3_ENDPOINT": self.s3_endpoint, "TIMELAKE_S3_REGION": self.values["S3_REGION"],
                "TIMELAKE_S3_ACCESS_KEY_ID": self.values["S3_ACCESS_KEY"], "TIMELAKE_S3_SECRET_ACCESS_KEY": self.values["S3_SECRET_KEY"]}

    def pyiceberg(self):
        """Properties of a PyIceberg catalog whose files lie in the bucket."""
        values = self.values
        return {"s3.endpoint": values["S3_ENDPOINT"], "s3.region": values["S3_REGION"], "s3.access-key-id": values["S3_ACCESS_KEY"],
                "s3.secret-access-key": values["S3_SECRET_KEY"]}

    def duckdb_secret(self):
        values = self.values
        return (f"CREATE OR REPLACE SECRET lake_keys (TYPE s3, KEY_ID '{values['S3_ACCESS_KEY']}', SECRET '{values['S3_SECRET_KEY']}', REGION '{values['S3_REGION']}', "
                f"ENDPOINT '{values['S3_ENDPOINT'].split('//')[1]}', URL_STYLE 'path', USE_SSL false)")

    def environment(self):
        """Variables for the scripts of the judges: each client's way to say where the bucket is and which keys open it."""
        values = self.values
        return {**{name: values[name] for name in ("S3_ENDPOINT", "S3_REGION", "S3_ACCESS_KEY", "S3_SECRET_KEY")},
                "CATALOG_PROPS": json.dumps(self.pyiceberg()), "DUCKDB_SETUP": self.duckdb_secret(),
                "CATALOG_IO__IMPL": "org.apache.iceberg.aws.s3.S3FileIO", "CATALOG_S3_ENDPOINT": values["S3_ENDPOINT"], "CATALOG_S3_PATH__STYLE__ACCESS": "true",
                "CATALOG_S3_ACCESS__KEY__ID": values["S3_ACCESS_KEY"], "CATALOG_S3_SECRET__ACCESS__KEY": values["S3_SECRET_KEY"],
                "CATALOG_CLIENT_REGION": values["S3_REGION"]}

    def delegate(self, server, *modes, token=None):
        """Lets the warehouse of a server give its clients access in these ways; sessions are cut from the role of the S3 server."""
        values = self.values
        storage = {"type": "s3", "endpoint": values["S3_ENDPOINT"], "region": values["S3_REGION"], "role-arn": values["STS_ROLE_ARN"], "sts-endpoint": values["STS_ENDPOINT"]}
        status, answer = call("PATCH", f"{server.uri}/admin/v1/warehouses/main", {"storage": storage, "delegation": list(modes)},
                              {"Authorization": f"Bearer {token}"} if token else None)
        assert status == 200, f"the warehouse gives access: {status} {answer}"

    def keyless(self, mode):
        """The environment of clients that hold no keys and ask the catalog for access: `vended-credentials` or `remote-signing`."""
        values, header = self.values, "header.X-Iceberg-Access-Delegation"
        return {"S3_ENDPOINT": values["S3_ENDPOINT"], "S3_REGION": values["S3_REGION"], "CATALOG_PROPS": json.dumps({header: mode}), "VENDED": "true",
                "DUCKDB_ATTACH": "ACCESS_DELEGATION_MODE 'vended_credentials'", "CATALOG_EXTRA": f"{header}={mode}"}

    def server(self, data, **settings):
        """A server on this lake; `data` is the folder of its working files."""
        return Timelake(data, **{**self.settings(), **settings})


def psql_program():
    found = os.environ.get("POSTGRES_BIN") and str(Path(os.environ["POSTGRES_BIN"]) / "psql") or shutil.which("psql")
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/psql"))
    assert found or versions, "no psql found (Debian: postgresql-client)"
    return found or str(versions[-1])
