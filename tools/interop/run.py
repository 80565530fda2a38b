#!/usr/bin/env python3
"""Runs the judges one after the other and adds up what they say. Called by run.sh, which documents the options."""
import argparse, os, shutil, sys, tempfile
from pathlib import Path

from judging import JUDGES, judge, not_yet, run_judges
from server import HERE, IdentityProvider, call
from services import Services

CACHE = Path(os.environ.get("INTEROP_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "timelake-interop")
PYTHON = CACHE / "pyiceberg-0.12.0/bin/python"
DUCKDB = CACHE / "duckdb-1.5.5"
TOKEN = "interop-token"
TOLD_LIFETIME = "330s"  # Java renews five minutes before the end
DIFFERENTIAL_SEED = 20260917  # fixed, so that a red run is about the change; try others by hand
# For checks that count files or snapshots: the worker runs, but compacts only what it is asked to. `mixed` and `foreign` judge the rest.
UNDISTURBED = {"TIMELAKE_COMPACTION_QUIET": "1h", "TIMELAKE_COMPACTION_FILE_COUNT": "100000"}
HISTORY_MAX = 200  # of the table that 64 PyIceberg writers append to: an append copies all of it some 18 times, and needs the snapshot it was begun on
REFERENCE_SECONDS_MAX = 300  # for the same on the Java reference server, where much of it is in vain
LONG_WRITER_APPENDS = (40, 260)  # of the Java writer that merges manifests: usual, --full
BESIDE_INGEST_SECONDS = (20, 180)
ASYNC_SHAPES = "unpartitioned,identity,evolved-spec,history,mixed-deletes,shared-puffin"  # a poll waits for a second
LANES = min(2, os.cpu_count() or 1)


@judge("embedded", "services")
def rck(run):
    """REST Compatibility Kit: tables with nested namespaces, slashes and dots; views; then nine methods with the kit's own locations."""
    known = f"kit.known={','.join(pattern for pattern, _ in not_yet(run.name))}"
    with run.timelake() as ours:
        run.command(HERE / "rck/run.sh", ours.uri, "--catalog", "--wide", CATALOG_WAREHOUSE="main", RCK_PROPS=known, **ours.client)
    with run.timelake("views") as ours:
        run.command(HERE / "rck/run.sh", ours.uri, "--views", "--wide", CATALOG_WAREHOUSE="main", KIT_BASE=f"{ours.warehouse}/kit", **ours.client)
    if run.mode == "embedded":
        kit_folders = [Path("/tmp/ns"), Path("/tmp/newdb")]  # the kit's own choice
        made = [folder for folder in kit_folders if not folder.exists()]
        with run.timelake("elsewhere", TIMELAKE_EXTRA_ALLOWED_LOCATIONS=",".join(f"file://{f}" for f in kit_folders)) as ours:
            run.command(HERE / "rck/run.sh", ours.uri, "--catalog", "--wide", "--kit-locations", CATALOG_WAREHOUSE="main")
        for folder in made:
            shutil.rmtree(folder, ignore_errors=True)


@judge("embedded")
def rck_planning(run):
    """The kit's catalog class with every scan planned by the server."""
    with run.timelake() as ours:
        run.command(HERE / "rck/run.sh", ours.uri, "--catalog", "--wide", "--server-planning", CATALOG_WAREHOUSE="main", **ours.client)


@judge("embedded")
def planning(run):
    """27 shapes of tables, 60 filters each: the Java client's own plans and the server's are the same files, deletes, metrics and residuals."""
    compare_plans(run)


@judge("embedded")
def planning_paged(run):
    """The same with two files to a plan task; 15 filters each, with --full all."""
    compare_plans(run, *(() if run.full else ("--filters", "15")), TIMELAKE_PLAN_PAGE_FILES="2")


@judge("embedded")
def planning_async(run):
    """The same on some shapes with every plan made while the client polls."""
    compare_plans(run, "--shapes", ASYNC_SHAPES, "--filters", "8", TIMELAKE_PLAN_ASYNC_FILES="0", TIMELAKE_PLAN_PAGE_FILES="2")


def compare_plans(run, *options, **settings):
    with run.timelake(**UNDISTURBED, **settings) as ours:
        run.command(HERE / "rck/planning.sh", ours.uri, *options, CATALOG_WAREHOUSE="main", **ours.client)


@judge("embedded")
def errors(run):
    """Status, type and message of the answers to failing requests, compared with the Java reference server."""
    with run.timelake() as ours, run.reference() as reference:
        run.command("node", HERE / "rck/errors.mjs", ours.uri, "--against", reference.uri, "--deviations", HERE / "rck/deviations.json", CATALOG_WAREHOUSE="main")


@judge("embedded", "services")
def pyiceberg(run):
    """132 checks of our own through PyIceberg; the token checks on a second server."""
    with run.timelake(**UNDISTURBED) as ours:
        run.command(HERE / "pyiceberg/run.sh", ours.uri, "main", check_skips=True, **ours.client)
    with run.timelake("closed", TIMELAKE_TOKEN=TOKEN) as ours:
        run.command(HERE / "pyiceberg/run.sh", ours.uri, "main", "--", "--only", "^config/", check_skips=True, CATALOG_TOKEN=TOKEN, **ours.client)


@judge("embedded", "services")
def golden(run):
    """The golden corpus, written by PyIceberg, read back before and after a restart of the server."""
    expected = run.folder / "golden.json"
    with run.timelake(TIMELAKE_MAINTENANCE="off") as ours:
        run.command(HERE / "pyiceberg/golden.sh", ours.uri, "main", "--out", expected, **ours.client)
        run.command(HERE / "pyiceberg/golden.sh", ours.uri, "main", "--verify", expected, **ours.client)
        ours.stop()
        ours.start()
        run.command(HERE / "pyiceberg/golden.sh", ours.uri, "main", "--verify", expected, **ours.client)


@judge("embedded", "services")
def upstream(run):
    """PyIceberg's own tests/integration/test_catalog.py, names with slashes included."""
    with run.timelake() as ours:
        run.command(HERE / "pyiceberg/upstream.sh", ours.uri, "main", check_skips=True, UPSTREAM_SKIP="|".join(p for p, _ in not_yet(run.name)), **ours.client)


@judge("embedded", "services")
def duckdb(run):
    """DuckDB's iceberg extension writes and reads, PyIceberg reads what it wrote; no helper between them and the server."""
    with run.timelake() as ours:
        run.command(HERE / "duckdb/run.sh", ours.uri, "main", check_skips=True, **ours.client)
    with run.timelake("closed", TIMELAKE_TOKEN=TOKEN) as ours:
        run.command(HERE / "duckdb/run.sh", ours.uri, "main", "--", "--only", "wrong-token|create-insert-read", check_skips=True, CATALOG_TOKEN=TOKEN, **ours.client)


@judge("embedded", "services")
def spark(run):
    """43 checks through Spark SQL, on a closed server."""
    with run.timelake(TIMELAKE_TOKEN=TOKEN, **UNDISTURBED) as ours:
        run.command(HERE / "spark/run.sh", ours.uri, "main", CATALOG_TOKEN=TOKEN, **ours.client)


@judge("embedded", "services")
def trino(run):
    """34 checks through Trino, on a closed server."""
    with run.timelake(TIMELAKE_TOKEN=TOKEN, **UNDISTURBED) as ours:
        run.command(HERE / "trino/run.sh", ours.uri, "main", CATALOG_TOKEN=TOKEN, **ours.client)


def keyless(run, script, *options, modes=("vended-credentials",), as_account=False, **env):
    """A suite whose clients hold no keys. What they are told of expiry lies within the run, so that those who can renew do."""
    with run.timelake(TIMELAKE_TOKEN=TOKEN, TIMELAKE_VENDED_CREDENTIALS_LIFETIME=TOLD_LIFETIME, **UNDISTURBED) as ours:
        ours.lake.delegate(ours, *modes, token=TOKEN)
        who = credentials(ours) if as_account else {"CATALOG_TOKEN": TOKEN}
        run.command(HERE / script, ours.uri, "main", *options, check_skips=True, INTEROP_SKIP="|".join(p for p, _ in not_yet(run.name)) or "(?!)",
                    **ours.lake.keyless(modes[0]), **env, **who)


@judge("services")
def vended_pyiceberg(run):
    """The PyIceberg checks with credentials from the catalog alone."""
    keyless(run, "pyiceberg/run.sh")


@judge("services")
def vended_duckdb(run):
    """The DuckDB checks with credentials from the catalog alone."""
    keyless(run, "duckdb/run.sh")


@judge("services")
def vended_spark(run):
    """The Spark checks with credentials from the catalog alone, renewed on the way, as an account that logs in with a secret."""
    # After a drop there are no keys to be had with which Spark could look what is left.
    keyless(run, "spark/run.sh", "--", "--skip", "drop_keeps_files", as_account=True)


@judge("services")
def vended_trino(run):
    """The Trino checks with credentials from the catalog alone, as an account that logs in with a secret."""
    # Trino refuses to register tables where keys come from the catalog, and puts a table `q?mark` where no policy can name it.
    keyless(run, "trino/run.sh", "--", "--skip", "register_and_unregister|names_space_unicode_dot", as_account=True)


@judge("services")
def signed_pyiceberg(run):
    """The PyIceberg checks that touch many files, with --full all of them, with every request to the store signed by the catalog."""
    # Otherwise s3fs keeps one client for all tables and threads, and PyIceberg exchanges its signer under running requests.
    some = () if run.full else ("--", "--only", "^(write|scan|partition|drop)/")
    keyless(run, "pyiceberg/run.sh", *some, modes=("remote-signing",), PYICEBERG_EXTRAS="pyarrow,sql-sqlite,pyiceberg-core,s3fs", FSSPEC_S3_SKIP_INSTANCE_CACHE="true")


@judge("services")
def signed_spark(run):
    """The Spark checks with every request to the store signed by the catalog."""
    keyless(run, "spark/run.sh", "--", "--skip", "drop_keeps_files", modes=("remote-signing",))


@judge("services")
def access(run):
    """What vended credentials and signatures reach on the S3 server, and what they do not; with --full also until a session has ended."""
    lifetime = {"TIMELAKE_VENDED_CREDENTIALS_LIFETIME": "15m"} if run.full else {}
    with run.timelake(TIMELAKE_TOKEN=TOKEN, TIMELAKE_MAINTENANCE="off", **lifetime) as ours:
        ours.lake.delegate(ours, "vended-credentials", "remote-signing", token=TOKEN)
        run.command(PYTHON, HERE / "access/reach.py", ours.uri, *(["--full"] if run.full else []), CATALOG_TOKEN=TOKEN, **ours.client)


@judge("embedded")
def differential(run):
    """Random sequences of table updates: our applyCommit and the Java reference server give the same metadata."""
    sequences = ("npx", "tsx", HERE / "differential/run.ts", "--seed", DIFFERENTIAL_SEED)
    with run.reference() as reference:
        run.command(*sequences, "--sequences", "1000", "--reference", reference.uri)
        with run.timelake(TIMELAKE_MAINTENANCE="off") as ours:
            run.command(*sequences, "--sequences", "100", "--reference", reference.uri, "--uri", ours.uri)


@judge("embedded")
def example(run):
    """The README's example: real readings in small appends, compacted by itself, equal rows and fewer files."""
    with run.timelake() as ours:
        run.command(DUCKDB / "bin/python", "-W", "ignore", HERE / "example/weather.py", "--uri", ours.uri, "--data", CACHE / "data/weather.csv", "--check", "--extensions", DUCKDB / "extensions")


@judge("embedded", "services")
def crash(run):
    """kill -9 at each named step of a create, a commit, a transaction and a compaction; restart; nothing lost, nothing doubled."""
    run.command(PYTHON, "-W", "ignore", HERE / "crash/crash.py", "--work", run.folder / "work", *run.services_folder())


@judge("embedded")
def replay(run):
    """Answers lost after the commit landed, requests sent again byte for byte: Java, PyIceberg, DuckDB; with and without key."""
    run.command(DUCKDB / "bin/python", "-W", "ignore", HERE / "replay/replay.py", "--work", run.folder / "work", "--extensions", DUCKDB / "extensions")


@judge("embedded")
def migrate(run):
    """Tables of the Java reference catalog move to ours and back; every UUID and metadata file is kept."""
    run.command(HERE / "migrate/migrate.sh", "--tables", "100")


@judge("services")
def foreign(run):
    """21 tables that Spark writes, compacted by us where that is possible, then read again by Spark and by Trino."""
    expected = run.folder / "expected.json"
    with run.timelake(**UNDISTURBED) as ours:
        run.command(HERE / "spark/run.sh", ours.uri, "main", "--", "--out", expected, SPARK_SCRIPT="foreign_tables.py", **ours.client)
        run.command("python3", HERE / "foreign/compact.py", ours.uri)
        run.command(HERE / "spark/run.sh", ours.uri, "main", "--", "--verify", expected, SPARK_SCRIPT="foreign_tables.py", **ours.client)
        run.command(HERE / "trino/run.sh", ours.uri, "main", "--", expected, TRINO_SCRIPT="foreign.py", **ours.client)


@judge("embedded")
def oauth(run):
    """PyIceberg and DuckDB, with --full Spark and Trino, with client credentials of an account that may write; its tokens end after two minutes."""
    with run.timelake(**UNDISTURBED, TIMELAKE_TOKEN=TOKEN, TIMELAKE_ACCESS_TOKEN_LIFETIME="2m") as ours:
        suites(run, ours, engines=("spark", "trino") if run.full else (), **credentials(ours))


@judge("embedded")
def oidc(run):
    """The same with a token of an identity provider, whose keys change meanwhile; PyIceberg and DuckDB, with --full all four."""
    with IdentityProvider(run.folder / "provider.log") as provider:
        settings = {"TIMELAKE_OIDC_ISSUERS": provider.uri, "TIMELAKE_OIDC_AUDIENCES": "timelake", "TIMELAKE_TOKEN": TOKEN}
        with run.timelake(**UNDISTURBED, **settings) as ours:
            account(ours, name="suite", kind="federated", subject="suite")
            suites(run, ours, engines=("spark", "trino") if run.full else (), CATALOG_TOKEN=provider.token("suite"))
            provider.rotate()
            suites(run, ours, only="^config/|create-insert-read", CATALOG_TOKEN=provider.token("suite"))


def credentials(ours):
    """What a client needs in its environment to log in as an account that may write everywhere."""
    return {"CATALOG_CREDENTIAL": f"suite:{account(ours, name='suite')['secret']}", "CATALOG_OAUTH2_URI": f"{ours.uri}/v1/oauth/tokens"}


def account(ours, **about):
    """Makes an account that may write everywhere; what the server says of it."""
    operator = {"Authorization": f"Bearer {TOKEN}"}
    for path, body, wanted in (("accounts", about, 201), ("grants", {"account": about["name"], "role": "writer"}, 201)):
        status, got = call("POST", f"{ours.uri}/admin/v1/{path}", body, operator)
        assert status == wanted, f"POST {path}: {status} {str(got)[:300]}"
        made = got if path == "accounts" else made
    return made


def suites(run, ours, engines=(), only=None, **who):
    """The usual suites of PyIceberg and DuckDB, and of the engines named, as somebody."""
    some = ("--", "--only", only) if only else ()
    run.command(HERE / "pyiceberg/run.sh", ours.uri, "main", *some, check_skips=True, **ours.client, **who)
    run.command(HERE / "duckdb/run.sh", ours.uri, "main", *some, check_skips=True, **ours.client, **who)
    for engine in engines:
        run.command(HERE / engine / "run.sh", ours.uri, "main", **ours.client, **who)


@judge("embedded")
def predicates(run):
    """1,000 random predicates through PyIceberg over 25 shapes of tables and what Spark wrote, planned by the client and by the server: the same rows."""
    with run.timelake(**UNDISTURBED) as ours:
        run.command(HERE / "spark/run.sh", ours.uri, "main", "--", "--out", run.folder / "expected.json", SPARK_SCRIPT="foreign_tables.py", **ours.client)
        run.command(PYTHON, "-W", "ignore", HERE / "pyiceberg/predicates.py", "--uri", ours.uri, "--warehouse", "main", "--foreign", "foreign", **ours.client)


@judge("services")
def mixed(run):
    """One table written by Spark, PyIceberg and DuckDB in turns, compacted between; all three read the same after every step."""
    script(run, "mixed/mixed.py", "--extensions", DUCKDB / "extensions")


@judge("services")
def store_faults(run):
    """A fault proxy before the store, at every kind of Iceberg file, during commits, transactions and compactions."""
    script(run, "chaos/store.py")


@judge("services")
def lost_answers(run):
    """A fault proxy before the catalog: Spark, Trino, PyIceberg and DuckDB commit, and the answer never arrives."""
    script(run, "chaos/lost_answers.py", "--extensions", DUCKDB / "extensions")


@judge("services", alone=True)
def outage(run):
    """PostgreSQL stops for 10 s and Redis for 60 s under the load of four writers on two catalogs."""
    run.command(DUCKDB / "bin/python", "-W", "ignore", HERE / "chaos/outage.py", "--work", run.folder / "work")


@judge("embedded", "services", alone=True)
def contention_pyiceberg(run):
    """Many PyIceberg writers on one table, strict with retries and rebased without."""
    contention(run, "pyiceberg", *(("--history", HISTORY_MAX) if run.full else ()), writers=(16, 64), appends=(10, 50))


@judge("embedded", "services", alone=True)
def contention_duckdb(run):
    """Eight DuckDB writers on one table, which never retry, strict and rebased."""
    contention(run, "duckdb", writers=(8, 8), appends=(12, 50))


@judge("embedded", "services", alone=True)
def contention_spark(run):
    """Four Spark and four Java writers on one table, one of which merges manifests, strict with retries and rebased without."""
    contention(run, "spark", writers=(8, 8), appends=(6, 50))


@judge("embedded", alone=True)
def beside_ingest(run):
    """Spark MERGEs every 5 s and then rewrites the files of a table that takes in 20 appends a second."""
    with run.timelake(**UNDISTURBED) as ours:
        run.command(DUCKDB / "bin/python", "-W", "ignore", HERE / "contention/beside_ingest.py", ours.uri, "--seconds", BESIDE_INGEST_SECONDS[run.full],
                    "--work", run.folder / "work", CATALOG_WAREHOUSE="main", **ours.client)


def contention(run, engine, *words, **counts):
    """Each count is (usual, --full). At full size an embedded run is timed beside the same on the Java reference server."""
    flags = [word for name, sizes in {**counts, "long": LONG_WRITER_APPENDS}.items() for word in (f"--{name}", sizes[run.full])]
    command = (DUCKDB / "bin/python", "-W", "ignore", HERE / "contention/judge.py")
    more = ("--engine", engine, "--extensions", DUCKDB / "extensions", *words, *flags)
    with run.timelake(**UNDISTURBED) as ours:
        run.command(*command, ours.uri, *more, "--work", run.folder / "work", CATALOG_WAREHOUSE="main", **ours.client)
    if run.full and run.mode == "embedded":
        with run.reference() as reference:
            run.say("   the same on the Java reference server:")
            run.command(*command, reference.uri, *more, "--work", run.folder / "beside", "--only", "strict", "--figures-only", "--seconds", REFERENCE_SECONDS_MAX, CATALOG_WAREHOUSE="main")


@judge("embedded", "services")
def isolation(run):
    """What a MERGE, a rollback, a replacement or a stream may count on beside others, with and without rebased appends; odd clocks."""
    run.command(DUCKDB / "bin/python", "-W", "ignore", HERE / "isolation/isolation.py", "--work", run.folder / "work", *run.services_folder(), *(["--full"] if run.full else []))


def script(run, name, *more):
    run.command(DUCKDB / "bin/python", "-W", "ignore", HERE / name, "--services", run.services.start().folder, "--work", run.folder / "work", *more)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="names of judges, separated by commas")
    parser.add_argument("--mode", choices=("embedded", "services"), help="only the judges that run in this mode")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--full", action="store_true", help="the contention judges at full size, beside the reference server (10 to 20 minutes each)")
    parser.add_argument("--lanes", type=int, default=LANES, help="how many judges run side by side")
    parser.add_argument("--verbose", action="store_true", help="print everything at once, one judge after the other")
    parser.add_argument("--keep", action="store_true", help="keep data directories and logs")
    options = parser.parse_args()
    chosen = [n for n in options.only.split(",") if n] or list(JUDGES)
    unknown = [n for n in chosen if n not in JUDGES]
    if unknown:
        sys.exit(f"no such judge: {', '.join(unknown)}; there are {', '.join(JUDGES)}")
    chosen = [n for n in chosen if options.mode in (None, JUDGES[n][1])]
    if options.list:
        print("\n".join(f"{name:28}{JUDGES[name][1]:10}{JUDGES[name][0].__doc__}" for name in chosen))
        return 0
    work = Path(tempfile.mkdtemp(prefix="timelake-interop-"))
    work.chmod(0o711)  # PostgreSQL may run as another user and must reach its folder
    services = Services(work / "services")
    try:
        table = run_judges(chosen, 1 if options.verbose else options.lanes, work, options, services)
    finally:
        services.stop()
    totals = [sum(row[i] for row in table) for i in (1, 2, 3)]
    if options.keep or totals[1]:
        print(f"logs and data directories: {work}")
    else:
        shutil.rmtree(work, ignore_errors=True)
    print("\n".join(f"{n:28}{p:5} passed {f:4} failed {s:4} skipped {t:6.0f} s" for n, p, f, s, t in table))
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 1 if totals[1] or not totals[0] else 0


if __name__ == "__main__":
    sys.exit(main())
