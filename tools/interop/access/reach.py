"""What the keys and signatures that the catalog gives for one table reach on the store: that table, and nothing beside it.

    reach.py URI [--full]        CATALOG_TOKEN, S3_ENDPOINT, S3_REGION, S3_ACCESS_KEY, S3_SECRET_KEY (of an administrator) in the environment

The server's warehouse "main" gives vended credentials and signs requests. With --full it waits until the store has really ended a session, which
takes the quarter of an hour that stores give at least; the server must then give sessions of that length (TIMELAKE_VENDED_CREDENTIALS_LIFETIME=15m).
Last line: N passed, N failed.
"""
import json, os, sys, time, urllib.error, urllib.request, uuid

import pyarrow as pa
from pyarrow import fs
from pyiceberg.catalog import load_catalog

URI, TOKEN, ENDPOINT, REGION = sys.argv[1], os.environ["CATALOG_TOKEN"], os.environ["S3_ENDPOINT"], os.environ["S3_REGION"]
# Names that are prefixes of one another, and characters that policies, URLs and SQL take for something else.
NAMES = ("orders", "orders2", "orders-old", "o", "quote'", 'double"', "per%cent", "plus+", "blank name", "amp&", "ü")
WILD = ("star*", "*", "what?", "${aws:username}", "dollar$")
FULL = "--full" in sys.argv[2:]
SESSION_SECONDS, LATE_SECONDS, GRACE_SECONDS = 900, 45, 90  # the shortest session; before its end; after it, for clocks and caches of the store
passed = failed = 0


def check(what, holds):
    global passed, failed
    if holds:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {what}", flush=True)


def catalog(mode):
    return load_catalog(mode, type="rest", uri=URI, warehouse="main", token=TOKEN, **{"header.X-Iceberg-Access-Delegation": mode})


def store(properties):
    return fs.S3FileSystem(access_key=properties["s3.access-key-id"], secret_key=properties["s3.secret-access-key"],
                           session_token=properties.get("s3.session-token"), endpoint_override=ENDPOINT, region=REGION, force_virtual_addressing=False)


def may(do):
    try:
        do()
        return True
    except (OSError, ValueError):
        return False


def put(on, path):
    with on.open_output_stream(path) as out:
        out.write(b"x")


def read(on, path):
    with on.open_input_stream(path) as source:
        return source.read()


def sign(name, method, uri, headers=None, body=None):
    """Status of a request to sign."""
    request = {"region": REGION, "method": method, "uri": uri, "headers": {"host": [ENDPOINT.split("//")[1]], **(headers or {})}, **({"body": body} if body else {})}
    path = f"{URI}/v1/main/namespaces/{NAMESPACE}/tables/{urllib.request.quote(name, safe='')}/sign"
    call = urllib.request.Request(path, data=json.dumps(request).encode(), method="POST", headers={"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"})
    try:
        with urllib.request.urlopen(call, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def end_of(properties):
    """When the session ends, in epoch seconds."""
    return int(properties["s3.session-token-expires-at-ms"]) / 1000


def is_refused_by(deadline, do):
    """Whether the store refuses at last, asked every five seconds."""
    while may(do):
        if time.time() > deadline:
            return False
        time.sleep(5)
    return True


def check_end(name, old):
    """Keys that a client got and kept: good until shortly before their end, refused after it, and replaced by those of another load."""
    folder, ends = vended.load_table((NAMESPACE, name)).location().split("://")[1], end_of(old)
    keys, own = store(old), f"{folder}/data/secret"
    time.sleep(max(0, ends - LATE_SECONDS - time.time()))
    check("expiry: keys are good until shortly before their end", may(lambda: read(keys, own)) and time.time() < ends)
    renewed = vended.load_table((NAMESPACE, name))
    check("expiry: a load before the end gives keys of another session", end_of(renewed.io.properties) > ends and renewed.io.properties["s3.session-token"] != old["s3.session-token"])
    time.sleep(max(0, ends - time.time()))
    check("expiry: the store refuses keys after their end", is_refused_by(ends + GRACE_SECONDS, lambda: read(keys, own)))
    print(f"info refused {time.time() - ends:.0f} s after the end that was told", flush=True)
    check("expiry: it refuses a new connection with them too", not may(lambda: read(store(old), own)))
    check("expiry: it refuses to write with them", not may(lambda: put(store(old), f"{folder}/data/late")))
    check("expiry: keys of the other session are good", may(lambda: read(store(renewed.io.properties), own)))
    renewed.append(pa.table({"a": [3]}))
    check("expiry: a client goes on with them", renewed.scan().to_arrow().num_rows == 2)


NAMESPACE = f"reach_{uuid.uuid4().hex[:8]}"
vended, schema = catalog("vended-credentials"), pa.schema([("a", pa.int64())])
admin = store({"s3.access-key-id": os.environ["S3_ACCESS_KEY"], "s3.secret-access-key": os.environ["S3_SECRET_KEY"]})
vended.create_namespace(NAMESPACE)
base = vended.load_namespace_properties(NAMESPACE)["location"]
if FULL:
    ending = vended.create_table((NAMESPACE, "ending"), schema)
    ending.append(pa.table({"a": [1]}))
    put(admin, f"{ending.location().split('://')[1]}/data/secret")
    ending = dict(vended.load_table((NAMESPACE, "ending")).io.properties)
tables = {name: vended.create_table((NAMESPACE, name), schema, location=f"{base}/{name}" if "%" not in name else None) for name in NAMES}
folders = {name: table.location().split("://")[1] for name, table in tables.items()}
for folder in folders.values():
    put(admin, f"{folder}/data/secret")

for name, table in tables.items():
    table.append(pa.table({"a": [1, 2]}))
    check(f"{name}: its rows are read with its own keys", table.scan().to_arrow().num_rows == 2)
    keys = store(table.io.properties)
    check(f"{name}: its own objects are read", may(lambda: read(keys, f"{folders[name]}/data/secret")))
    for other, folder in folders.items():
        if other == name:
            continue
        check(f"{name}: reads nothing of {other}", not may(lambda: read(keys, f"{folder}/data/secret")))
        check(f"{name}: writes nothing to {other}", not may(lambda: put(keys, f"{folder}/data/mine")))
        check(f"{name}: copies nothing of {other}", not may(lambda: keys.copy_file(f"{folder}/data/secret", f"{folders[name]}/data/copy")))
        check(f"{name}: deletes nothing of {other}", not may(lambda: keys.delete_file(f"{folder}/data/secret")))
        check(f"{name}: lists nothing of {other}", not may(lambda: keys.get_file_info(fs.FileSelector(folder, recursive=True))))
    check(f"{name}: does not list what is around it", not may(lambda: keys.get_file_info(fs.FileSelector(base.split("://")[1]))))
    for other, folder in folders.items():
        address = f"{ENDPOINT}/{urllib.request.quote(folder)}/data/secret"
        want = {200} if other == name else {400, 403}
        for method in ("GET", "HEAD", "PUT", "DELETE"):
            check(f"{name}: {method} of {other} is signed rightly", sign(name, method, address) in want)
        if other != name:
            own = f"{ENDPOINT}/{urllib.request.quote(folders[name])}/data/copy"
            check(f"{name}: no copy of {other} is signed", sign(name, "PUT", own, {"x-amz-copy-source": [f"/{urllib.request.quote(folder)}/data/secret"]}) in want)

# Where no policy can say the name, no keys are given; signatures, which are checked here, still are.
for name in WILD:
    try:
        table = vended.create_table((NAMESPACE, name), schema, location=f"{base}/wild/{uuid.uuid4().hex[:6]}/{name}")
    except Exception:
        check(f"{name}: the location is refused", True)
        continue
    check(f"{name}: no keys are given", "s3.access-key-id" not in table.io.properties)

for refused in (f"{ENDPOINT}/{folders['orders']}/data/../../orders2/data/secret", f"{ENDPOINT}/{folders['orders']}/%2e%2e/orders2/data/secret",
                f"{ENDPOINT}/{folders['orders']}%2Fdata%252F..%2Fx", f"http://evil.example/{folders['orders']}/data/secret",
                f"{ENDPOINT}/other-bucket/x", f"{ENDPOINT}/{folders['orders'].split('/')[0]}?list-type=2&prefix={folders['orders'].split('/', 1)[1]}"):
    check(f"not signed: {refused}", sign("orders", "GET", refused) in (400, 403))
if FULL:
    is_short = end_of(ending) < time.time() + SESSION_SECONDS
    check("expiry: the server gives sessions of a quarter of an hour", is_short)
    if is_short:
        check_end("ending", ending)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
