"""The fault proxy of chaos/ as a process, before a store or a catalog."""
import json, urllib.request

from server import HERE, Process, wait_until


class ChaosProxy(Process):
    """Listens on a free port; `uri` stands in for the upstream."""

    def __init__(self, upstream, log):
        super().__init__(["node", "--import", "tsx", str(HERE / "chaos/run.ts"), "--upstream", upstream], log)

    def start(self):
        self.log.write_text("")
        self.spawn()

        def addresses():
            assert self.is_alive(), f"the fault proxy ended: {self.tail()}"
            lines = self.log.read_text().split("\n")
            return dict(line.split("=", 1) for line in lines[:2]) if len(lines) > 2 else None
        found = wait_until(addresses, 60, "the fault proxy listens")
        self.uri, self.control_uri = found["PROXY"], found["CONTROL"]
        return self

    def control(self, method, path, body=None):
        request = urllib.request.Request(self.control_uri + path, method=method, data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def rules(self, *rules):
        """Replaces the rules: dictionaries as chaos/fault-rules.ts describes them; none lets everything pass."""
        self.control("PUT", "/rules", list(rules))

    def hits(self):
        """How many requests each rule has broken."""
        return self.control("GET", "/hits")

    def log_entries(self):
        return self.control("GET", "/log")

    def reset(self):
        self.control("POST", "/reset")
