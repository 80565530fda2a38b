#!/usr/bin/env python3
"""Reads the tables of spark/foreign_tables.py with Trino and compares them with expected.json (row count; int, bigint and string columns; refs).

  foreign.py TRINO_URL expected.json           ends with `N passed, N failed`
"""
import json, sys, urllib.request

url, want = sys.argv[1].rstrip("/"), json.load(open(sys.argv[2]))
SAME = ("int", "bigint", "string")                     # types whose text is the same in both engines
UNREADABLE = ("parquet_lz4_raw",)                      # Trino 483 refuses the codec


def sql(text):
    request, rows = urllib.request.Request(url + "/v1/statement", text.encode(), {"X-Trino-User": "check", "X-Trino-Catalog": "lake"}), []
    while True:
        page = json.load(urllib.request.urlopen(request, timeout=300))
        if page.get("error"):
            raise RuntimeError(page["error"]["message"].splitlines()[0])
        rows += page.get("data", [])
        if "nextUri" not in page:
            return rows
        request = urllib.request.Request(page["nextUri"])


def order(rows):
    return sorted(rows, key=lambda r: [(v is None, v or "") for v in r])


passed = failed = 0
for name, table in want["tables"].items():
    if name in UNREADABLE:
        continue
    kinds = dict(table["columns"])
    try:
        def compare(columns, rows, source, what):
            keep = [i for i, c in enumerate(columns) if kinds.get(c, "int") in SAME]
            names = ", ".join(f'CAST("{columns[i]}" AS varchar)' for i in keep)
            got = order(sql(f"SELECT {names} FROM {source}"))
            expected = order([[r[i] for i in keep] for r in rows])
            if got != expected:
                raise AssertionError(f"{what}: expected {expected}, got {got}")
        source = f'"{want["namespace"]}"."{name}"'
        compare([c for c, _ in table["columns"]], table["rows"], source, "rows")
        for ref, content in table["refs"].items():
            if ref != "main" and content["columns"] == [c for c, _ in table["columns"]]:
                compare(content["columns"], content["rows"], f"{source} FOR VERSION AS OF '{ref}'", "ref " + ref)
        passed += 1
        print(f"ok    {name}", flush=True)
    except Exception as e:
        failed += 1
        print(f"FAIL  {name}: {type(e).__name__}: {str(e)[:300]}", flush=True)
print(f"{passed} passed, {failed} failed")
sys.exit(0 if passed and not failed else 1)
