#!/usr/bin/env python3
"""Asks the server to compact every table of a namespace, waits, and says what became of each.

    compact.py URI [--namespace foreign] [--compacted NAME,NAME…]

A table passes when a run ended without failing, nothing is left to do, and either the run landed or its reason for doing nothing is
a sentence. `--compacted` names tables that must have been compacted. Last line: N passed, N failed.
"""
import argparse, sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from server import Running, wait_until

SECONDS_MAX = 180
REASON_LETTERS_MIN = 10


def compact(server, table):
    """The newest run of the table once it has ended."""
    path = f"/admin/v1/tables/{table['id']}"
    known = {run["id"] for run in server.get(f"{path}/maintenance")[1]["runs"]}
    status, answer = server.post(f"{path}/compact")
    assert status == 202, f"POST …/compact: {status} {answer}"

    def ended():
        runs = [run for run in server.get(f"{path}/maintenance")[1]["runs"] if run["id"] not in known]
        return next((run for run in runs if run["state"] != "running"), None)
    return wait_until(ended, SECONDS_MAX, "the run ends")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("uri")
    parser.add_argument("--namespace", default="foreign")
    parser.add_argument("--compacted", default="")
    options = parser.parse_args()
    server, passed, failed = Running(options.uri), 0, 0
    _, listed = server.get("/admin/v1/tables?pageSize=1000")
    for table in sorted((t for t in listed["tables"] if t["namespace"] == [options.namespace]), key=lambda t: t["name"]):
        name = table["name"]
        try:
            run = compact(server, table)
            told = f"{run['state']}: {run['reason']}"
            assert run["state"] in ("succeeded", "nothing-to-do", "skipped"), told
            assert run["state"] == "succeeded" or len(run["reason"] or "") >= REASON_LETTERS_MIN, f"no reason: {run}"
            assert run["state"] == "succeeded" or name not in options.compacted.split(","), f"not compacted: {told}"
            passed += 1
            print(f"info ok   {name}: {told[:300]}", flush=True)
        except AssertionError as broken:
            failed += 1
            print(f"FAIL {name}: {str(broken)[:400]}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
