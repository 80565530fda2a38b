"""What a judge is, what one run of it counts, and how several go on side by side. Python standard library only."""
import os, re, shutil, subprocess, threading, time
from concurrent.futures import ThreadPoolExecutor

from server import HERE, ROOT, Reference, Timelake

JUDGE_SECONDS_MAX = 1200
FULL_JUDGE_SECONDS_MAX = 3600
SUM = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
# What one shell knows of services and stores must not reach judges that run without them.
FOREIGN_VARIABLES = ("TIMELAKE_", "CATALOG_", "INTEROP_SKIP", "DUCKDB_", "S3_", "STS_", "AWS_", "TEST_")
JUDGES = {}


def judge(*modes, alone=False):
    """Registers a judge for each mode: `name` runs embedded, `name-services` on PostgreSQL, Redis and S3. A judge of one mode has no suffix.
    `alone`: what it finds depends on how fast things are, so nothing else runs beside it."""
    def register(function):
        function.alone = alone
        name = function.__name__.replace("_", "-")
        for mode in modes:
            JUDGES[name + ("-services" if mode == "services" and len(modes) > 1 else "")] = (function, mode)
        return function
    return register


class Run:
    """One judge at work: its folder, the commands it runs, and what they counted."""

    def __init__(self, name, folder, options, services):
        self.name, self.folder, self.verbose, self.full, self.services = name, folder, options.verbose, options.full, services
        self.mode = JUDGES[name][1]
        self.passed = self.failed = self.skipped = self.commands = 0
        self.said = []

    def say(self, text):
        """Prints a line at once if asked to, otherwise with all others of the judge when it ends: several may run at a time."""
        if self.verbose:
            print(text, flush=True)
        else:
            self.said.append(text)

    def command(self, *words, check_skips=False, **env):
        """Runs a command whose last line is a sum; a missing sum, or a bad exit status with no failure counted, is a failure."""
        self.commands += 1
        log = self.folder / f"{self.commands}.log"
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN_VARIABLES)}
        child = subprocess.Popen([str(w) for w in words], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 env={**inherited, **env}, text=True, errors="replace", start_new_session=True)
        alarm = threading.Timer(FULL_JUDGE_SECONDS_MAX if self.full else JUDGE_SECONDS_MAX, lambda: os.killpg(child.pid, 9))
        alarm.start()
        last, lines = None, []
        with open(log, "w") as out:
            for line in child.stdout:
                out.write(line)
                lines.append(line.rstrip("\n"))
                last = SUM.match(lines[-1]) or last
                if self.verbose or re.match(r"FAIL|DIFF|  (this|reference) |SKIP|KNOWN|DEVIATION|info ", line):
                    self.say(f"   {lines[-1][:400]}")
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
        self.say(f"   FAIL {text}")

    def timelake(self, name="data", **settings):
        """A server of the judge's mode; `server.client` is what its clients must have in their environment, `server.warehouse` its location."""
        if self.mode == "services":
            lake = self.services.lake()
            server = lake.server(self.folder / name, **settings)
            server.lake, server.client, server.warehouse = lake, lake.environment(), lake.location
            return server
        server = Timelake(self.folder / name, **settings)
        server.client, server.warehouse = {}, f"file://{server.data}/warehouse"
        return server

    def services_folder(self):
        """Arguments for a script that makes lakes of its own."""
        return ("--services", self.services.start().folder) if self.mode == "services" else ()

    def reference(self):
        return Reference(self.folder / "reference")


def not_yet(judge_name):
    """(pattern, reason) of the checks that this judge may skip, in every mode or in its own."""
    lines = [line.split(None, 2) for line in (HERE / "not-yet.txt").read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [(pattern, reason) for name, pattern, reason in lines if name in (judge_name, judge_name.removesuffix("-services"))]


def run_judges(names, lanes, work, options, services):
    """The outcome of each judge, in the order of `names`: those that may have company in so many lanes, then the others one by one."""
    def start(name):
        return run_judge(name, work / name, options, services)
    together = [name for name in names if not JUDGES[name][0].alone]
    with ThreadPoolExecutor(max_workers=lanes) as pool:
        done = dict(zip(together, pool.map(start, together)))
    done.update((name, start(name)) for name in names if name not in done)
    return [done[name] for name in names]


def run_judge(name, folder, options, services):
    """(name, passed, failed, skipped, seconds)"""
    function = JUDGES[name][0]
    folder.mkdir()
    run, began = Run(name, folder, options, services), time.monotonic()
    run.say(f"== {name}: {' '.join(function.__doc__.split())}")
    try:
        function(run)
    except Exception as broken:  # a judge that breaks fails alone
        run.fail(f"{type(broken).__name__}: {broken}")
    seconds = time.monotonic() - began
    if run.passed + run.failed == 0:
        run.fail("no check ran")
    run.say(f"   {name}: {run.passed} passed, {run.failed} failed, {run.skipped} skipped in {seconds:.0f} s")
    if run.said:
        print("\n".join(run.said), flush=True)
    if not options.keep and not run.failed:
        shutil.rmtree(folder, ignore_errors=True)
    return name, run.passed, run.failed, run.skipped, seconds
