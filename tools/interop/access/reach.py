"""What the keys and signatures that the catalog gives for one table reach on the store: that table, and nothing beside it.

    reach.py URI        CATALOG_TOKEN, S3_ENDPOINT, S3_REGION, S3_ACCESS_KEY, S3_SECRET_KEY (of an administrator) in the environment

The server's warehouse "main" gives vended credentials and signs requests. Last line: N passed, N failed.
"""
import json, os, sys, urllib.error, urllib.request, uuid

import pyarrow as pa
from pyarrow import fs
from pyiceberg.catalog import load_catalog

URI, TOKEN, ENDPOINT, REGION = sys.argv[1], os.environ["CATALOG_TOKEN"], os.environ["S3_ENDPOINT"], os.environ["S3_REGION"]
# Names that are prefixes of one another, and characters that policies, URLs and SQL take for something else.
NAMES = ("orders", "orders2", "orders-old", "o", "quote'", 'double"', "per%cent", "plus+", "blank name", "amp&", "ü")
WILD = ("star*", "*", "what?", "${aws:username}", "dollar$")
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


NAMESPACE = f"reach_{uuid.uuid4().hex[:8]}"
vended, schema = catalog("vended-credentials"), pa.schema([("a", pa.int64())])
admin = store({"s3.access-key-id": os.environ["S3_ACCESS_KEY"], "s3.secret-access-key": os.environ["S3_SECRET_KEY"]})
vended.create_namespace(NAMESPACE)
base = vended.load_namespace_properties(NAMESPACE)["location"]
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
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
