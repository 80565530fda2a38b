#!/usr/bin/env python3
"""Java, PyIceberg and DuckDB work through a proxy that loses answers and sends the requests again (proxy.py).

    replay.py --work FOLDER --extensions FOLDER [--only REGEX]

Twice for each client, with and without Idempotency-Key. Expected: the client sees success only; a repeat is answered as
the first was and leaves the same metadata file current; each append is one snapshot; rows are as written; every
referenced file exists. At the end every recorded commit is sent a third time, long after later ones landed: success,
and nothing changes. Last line: N passed, N failed.
"""
import argparse, json, os, re, subprocess, sys, time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duckdb, pyarrow as pa
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

from proxy import ReplayProxy, metadata_location
from server import HERE, Timelake
from table_files import connect, live_files, missing_files

SCHEMA = Schema(NestedField(1, "a", LongType(), required=False), NestedField(2, "s", StringType(), required=False))
COUNTS = {"passed": 0, "failed": 0}


def check(name, condition, detail=""):
    COUNTS["passed" if condition else "failed"] += 1
    print(f"{'ok  ' if condition else 'FAIL'} {name}{'' if condition else f': {detail}'}", flush=True)


def batch(*values):
    return pa.table({"a": pa.array(values, pa.int64()), "s": pa.array([f"row {v}" for v in values], pa.large_string())})


def with_pyiceberg(uri, ns, keys, _):
    """Returns {table: (rows of column a, snapshots)}."""
    catalog = connect(uri)
    catalog.create_namespace(ns)
    table = catalog.create_table((ns, "t"), SCHEMA)
    for value in (1, 2, 3):
        table.append(batch(value))
    table.overwrite(batch(20), overwrite_filter="a = 2")
    table.delete("a = 1")
    if keys == "added":
        with table.update_schema() as update:
            update.add_column("n", LongType())
        with table.transaction() as change:
            change.set_properties(k="v")
        catalog.rename_table((ns, "t"), (ns, "u"))
        gone = catalog.create_table((ns, "gone"), SCHEMA)
        catalog.drop_table(gone.name())
    return {"u" if keys == "added" else "t": ([3, 20], 6)}


def with_duckdb(uri, ns, keys, options):
    con = duckdb.connect(config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
    for name in ("avro", "httpfs", "iceberg"):
        con.execute(f"LOAD '{options.extensions}/{name}.duckdb_extension'")
    con.execute(f"ATTACH 'main' AS lake (TYPE iceberg, ENDPOINT '{uri}', AUTHORIZATION_TYPE 'none', ACCESS_DELEGATION_MODE 'none')")
    con.execute(f"CREATE SCHEMA lake.{ns}")
    con.execute(f"CREATE TABLE lake.{ns}.t (a BIGINT, s VARCHAR)")
    for value in (1, 2, 3):
        con.execute(f"INSERT INTO lake.{ns}.t VALUES ({value}, 'row')")
    con.execute(f"DELETE FROM lake.{ns}.t WHERE a = 1")
    con.execute(f"CREATE TABLE lake.{ns}.made AS SELECT range a FROM range(5)")
    if keys == "added":
        con.execute(f"ALTER TABLE lake.{ns}.t ADD COLUMN n BIGINT")
        con.execute(f"CREATE TABLE lake.{ns}.gone (a BIGINT)")
        con.execute(f"DROP TABLE lake.{ns}.gone")
    con.close()
    return {"t": ([2, 3], 4), "made": ([0, 1, 2, 3, 4], 1)}


def with_java(uri, ns, _keys, _options):
    """The files hold no rows: rows is None."""
    done = subprocess.run([str(HERE / "rck/append-session.sh"), uri, ns], capture_output=True, text=True, timeout=120, env={**os.environ, "CATALOG_WAREHOUSE": "main"})
    assert done.returncode == 0, f"the Java client failed: {(done.stdout + done.stderr)[-600:]}"
    assert done.stdout.split("\n")[:2] == ["staged 3 3", "plain 3 1"], f"the Java client sees {done.stdout!r}"
    return {"staged": (None, 3), "plain": (None, 3)}


CLIENTS = {"pyiceberg": with_pyiceberg, "duckdb": with_duckdb, "java": with_java}


def session(server, client, keys, options):
    name, ns = f"{client}, key {keys}", f"{client}_{keys}"
    with ReplayProxy(server.port, keys) as proxy:
        try:
            tables = CLIENTS[client](proxy.uri, ns, keys, options)
        except Exception as refused:
            check(f"{name}: the client sees success", False, f"{type(refused).__name__}: {str(refused)[:500]}")
            tables = {}
        else:
            check(f"{name}: the client sees success", True)
        print(f"info {name}: {len(proxy.exchanges)} requests repeated; the client sent {proxy.client_keys} keys of its own", flush=True)
        check(f"{name}: there was something to repeat", any(e.adds_snapshot() for e in proxy.exchanges))
        for exchange in proxy.exchanges:
            check(f"{name}: same answer to {exchange.label()}", is_same(exchange.first, exchange.second),
                  f"first {brief(exchange.first)}, then {brief(exchange.second)}")
        direct = connect(server.uri)
        for table_name, (rows, snapshots) in tables.items():
            table = direct.load_table((ns, table_name))
            inspect(f"{name}: {table_name}", table, rows, snapshots)
        sent_late(name, proxy, direct, ns, tables)


def is_same(first, second):
    """The statuses agree and are success, and both answers name the same current metadata file."""
    return 200 <= first[0] < 300 and first[0] == second[0] and metadata_location(first) == metadata_location(second)


def brief(answer):
    return f"{answer[0]} {answer[1][:160].decode(errors='replace')}"


def inspect(name, table, rows, snapshots):
    check(f"{name}: {snapshots} snapshots", len(table.snapshots()) == snapshots, f"found {len(table.snapshots())}")
    check(f"{name}: every referenced file exists", missing_files(table) == [], str(missing_files(table)[:3]))
    files = live_files(table)
    check(f"{name}: no file is referenced twice", len(files) == len(set(files)), str(files))
    if rows is not None:
        found = sorted(table.scan().to_arrow()["a"].to_pylist())
        check(f"{name}: rows as written", found == rows, f"expected {rows}, found {found}")


def sent_late(name, proxy, direct, ns, tables):
    def current():
        return {t: direct.load_table((ns, t)).metadata_location for t in tables}
    before = current()
    for exchange in proxy.exchanges:
        answer = proxy.again(exchange)
        check(f"{name}: success for {exchange.label()}, sent again at the end", answer[0] == exchange.first[0], brief(answer))
    check(f"{name}: the late repeats changed nothing", current() == before, json.dumps({"before": before, "after": current()}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--extensions", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    with Timelake(Path(options.work) / "data", TIMELAKE_MAINTENANCE="off") as server:
        for client in CLIENTS:
            for keys in ("removed", "added"):
                if re.search(options.only, f"{client}-{keys}"):
                    session(server, client, keys, options)
    print(f"{COUNTS['passed']} passed, {COUNTS['failed']} failed")
    return 1 if COUNTS["failed"] or not COUNTS["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
