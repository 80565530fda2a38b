#!/usr/bin/env python3
"""Runs the judges one after the other and adds up what they say. Called by run.sh, which documents the options."""
import argparse, os, re, shutil, subprocess, sys, tempfile, threading, time
from pathlib import Path

from server import HERE, ROOT, Reference, Timelake

CACHE = Path(os.environ.get("INTEROP_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "timelake-interop")
PYTHON = CACHE / "pyiceberg-0.12.0/bin/python"
DUCKDB = CACHE / "duckdb-1.5.5"
JUDGE_SECONDS_MAX = 1200
TOKEN = "interop-token"
DIFFERENTIAL_SEED = 20260917  # fixed, so that a red run is about the change; try others by hand
SUM = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
JUDGES = {}


def judge(function):
    JUDGES[function.__name__.replace("_", "-")] = function
    return function


class Run:
    """One judge at work: its folder, the commands it runs, and what they counted."""

    def __init__(self, name, folder, verbose):
        self.name, self.folder, self.verbose = name, folder, verbose
        self.passed = self.failed = self.skipped = self.commands = 0

    def command(self, *words, check_skips=False, **env):
        """Runs a command whose last line is a sum; a missing sum, or a bad exit status with no failure counted, is a failure."""
        self.commands += 1
        log = self.folder / f"{self.commands}.log"
        limit = JUDGE_SECONDS_MAX
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("TIMELAKE_", "CATALOG_", "INTEROP_SKIP"))}
        child = subprocess.Popen([str(w) for w in words], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 env={**inherited, **env}, text=True, errors="replace", start_new_session=True)
        alarm = threading.Timer(limit, lambda: os.killpg(child.pid, 9))
        alarm.start()
        last, seen, lines = None, 0, []
        with open(log, "w") as out:
            for line in child.stdout:
                out.write(line)
                lines.append(line.rstrip("\n"))
                last = SUM.match(lines[-1]) or last
                if self.verbose or re.match(r"FAIL|DIFF|  (this|reference) |SKIP|KNOWN|DEVIATION|info ", line):
                    print(f"   {lines[-1][:400]}", flush=True)
                    seen += 1
        status = child.wait()
        alarm.cancel()
        counts = [int(n or 0) for n in last.groups()] if last else [0, 0, 0]
        if last is None or (status != 0 and counts[1] == 0) or (status == 0 and counts[1]):
            self.fail(f"{words[0]} ended with status {status} and {'no sum' if last is None else last.group(0)}; its last lines:\n" + "\n".join("      " + l[:300] for l in lines[-15:]))
        self.passed += counts[0]
        self.failed += counts[1]
        self.skipped += counts[2]
        if check_skips:
            self.check_skips(lines)

    def check_skips(self, lines):
        for line in lines:
            found = re.match(r"SKIP (\S+)(.*)", line)
            if found and not any(re.fullmatch(p, found[1]) for p, _ in not_yet(self.name)):
                self.fail(f"unexpected skip: {found[1]} {found[2].strip()}")

    def fail(self, text):
        self.failed += 1
        print(f"   FAIL {text}", flush=True)

    def timelake(self, name="data", **settings):
        return Timelake(self.folder / name, **settings)

    def reference(self):
        return Reference(self.folder / "reference")


def not_yet(judge_name):
    """(pattern, reason) of the checks that this judge may skip."""
    lines = [line.split(None, 2) for line in (HERE / "not-yet.txt").read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [(pattern, reason) for name, pattern, reason in lines if name == judge_name]


@judge
def rck(run):
    """REST Compatibility Kit, catalog class with nested namespaces, slashes and dots; then nine methods with the kit's own locations."""
    with run.timelake() as ours:
        run.command(HERE / "rck/run.sh", ours.uri, "--catalog", "--wide", CATALOG_WAREHOUSE="main")
    kit_folders = [Path("/tmp/ns"), Path("/tmp/newdb")]  # the kit's own choice
    made = [folder for folder in kit_folders if not folder.exists()]
    with run.timelake("elsewhere", TIMELAKE_EXTRA_ALLOWED_LOCATIONS=",".join(f"file://{f}" for f in kit_folders)) as ours:
        run.command(HERE / "rck/run.sh", ours.uri, "--catalog", "--wide", "--kit-locations", CATALOG_WAREHOUSE="main")
    for folder in made:
        shutil.rmtree(folder, ignore_errors=True)


@judge
def errors(run):
    """Status, type and message of the answers to failing requests, compared with the Java reference server."""
    with run.timelake() as ours, run.reference() as reference:
        run.command("node", HERE / "rck/errors.mjs", ours.uri, "--against", reference.uri, "--deviations", HERE / "rck/deviations.json", CATALOG_WAREHOUSE="main")


@judge
def pyiceberg(run):
    """132 checks of our own through PyIceberg; the token checks on a second server."""
    with run.timelake() as ours:
        run.command(HERE / "pyiceberg/run.sh", ours.uri, "main", check_skips=True)
    with run.timelake("closed", TIMELAKE_TOKEN=TOKEN) as ours:
        run.command(HERE / "pyiceberg/run.sh", ours.uri, "main", "--", "--only", "^config/", check_skips=True, CATALOG_TOKEN=TOKEN)


@judge
def golden(run):
    """The golden corpus, written by PyIceberg, read back before and after a restart of the server."""
    expected = run.folder / "golden.json"
    with run.timelake(TIMELAKE_MAINTENANCE="off") as ours:
        run.command(HERE / "pyiceberg/golden.sh", ours.uri, "main", "--out", expected)
        run.command(HERE / "pyiceberg/golden.sh", ours.uri, "main", "--verify", expected)
        ours.stop()
        ours.start()
        run.command(HERE / "pyiceberg/golden.sh", ours.uri, "main", "--verify", expected)


@judge
def upstream(run):
    """PyIceberg's own tests/integration/test_catalog.py, names with slashes included."""
    with run.timelake() as ours:
        run.command(HERE / "pyiceberg/upstream.sh", ours.uri, "main", check_skips=True, UPSTREAM_SKIP="|".join(p for p, _ in not_yet("upstream")))


@judge
def duckdb(run):
    """DuckDB's iceberg extension writes and reads, PyIceberg reads what it wrote; no helper between them and the server."""
    with run.timelake() as ours:
        run.command(HERE / "duckdb/run.sh", ours.uri, "main", check_skips=True)
    with run.timelake("closed", TIMELAKE_TOKEN=TOKEN) as ours:
        run.command(HERE / "duckdb/run.sh", ours.uri, "main", "--", "--only", "wrong-token|create-insert-read", check_skips=True, CATALOG_TOKEN=TOKEN)


@judge
def differential(run):
    """Random sequences of table updates: our applyCommit and the Java reference server give the same metadata."""
    sequences = ("npx", "tsx", HERE / "differential/run.ts", "--seed", DIFFERENTIAL_SEED)
    with run.reference() as reference:
        run.command(*sequences, "--sequences", "1000", "--reference", reference.uri)
        with run.timelake(TIMELAKE_MAINTENANCE="off") as ours:
            run.command(*sequences, "--sequences", "100", "--reference", reference.uri, "--uri", ours.uri)


@judge
def example(run):
    """The README's example: real readings in small appends, compacted by itself, equal rows and fewer files."""
    with run.timelake() as ours:
        run.command(DUCKDB / "bin/python", "-W", "ignore", HERE / "example/weather.py", "--uri", ours.uri, "--data", CACHE / "data/weather.csv", "--check", "--extensions", DUCKDB / "extensions")


@judge
def crash(run):
    """kill -9 at each named step of a create, a commit and a compaction; restart; nothing lost, nothing doubled."""
    run.command(PYTHON, "-W", "ignore", HERE / "crash/crash.py", "--work", run.folder / "work")


@judge
def replay(run):
    """Answers lost after the commit landed, requests sent again byte for byte: Java, PyIceberg, DuckDB; with and without key."""
    run.command(DUCKDB / "bin/python", "-W", "ignore", HERE / "replay/replay.py", "--work", run.folder / "work", "--extensions", DUCKDB / "extensions")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep data directories and logs")
    options = parser.parse_args()
    chosen = [n for n in options.only.split(",") if n] or list(JUDGES)
    unknown = [n for n in chosen if n not in JUDGES]
    if unknown:
        sys.exit(f"no such judge: {', '.join(unknown)}; there are {', '.join(JUDGES)}")
    if options.list:
        print("\n".join(f"{name:14}{JUDGES[name].__doc__}" for name in chosen))
        return 0
    work = Path(tempfile.mkdtemp(prefix="timelake-interop-"))
    totals, table = [0, 0, 0], []
    for name in chosen:
        print(f"== {name}: {JUDGES[name].__doc__}", flush=True)
        folder = work / name
        folder.mkdir()
        run, began = Run(name, folder, options.verbose), time.monotonic()
        try:
            JUDGES[name](run)
        except AssertionError as broken:
            run.fail(str(broken))
        seconds = time.monotonic() - began
        if run.passed + run.failed == 0:
            run.fail("no check ran")
        table.append((name, run.passed, run.failed, run.skipped, seconds))
        print(f"   {name}: {run.passed} passed, {run.failed} failed, {run.skipped} skipped in {seconds:.0f} s", flush=True)
        for i, n in enumerate((run.passed, run.failed, run.skipped)):
            totals[i] += n
        if not options.keep and not run.failed:
            shutil.rmtree(folder, ignore_errors=True)
    if options.keep or totals[1]:
        print(f"logs and data directories: {work}")
    else:
        shutil.rmtree(work, ignore_errors=True)
    print("\n".join(f"{n:14}{p:5} passed {f:4} failed {s:4} skipped {t:6.0f} s" for n, p, f, s, t in table))
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 1 if totals[1] or not totals[0] else 0


if __name__ == "__main__":
    sys.exit(main())
