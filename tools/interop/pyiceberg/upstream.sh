#!/usr/bin/env bash
# Runs PyIceberg's own tests/integration/test_catalog.py, taken from the published source package at run time,
# against a running REST catalog.
#
#   upstream.sh URI [WAREHOUSE]        environment: CATALOG_TOKEN, CATALOG_PROPS ({"key": "value"} JSON),
#                                      PYICEBERG_VERSION (0.12.0), INTEROP_CACHE, UPSTREAM_ARGS (further pytest arguments),
#                                      UPSTREAM_SKIP (regular expression of whole test names that need what the server lacks)
#
# Two fixtures of that file reach a REST catalog: `rest_test_catalog` (by configuration) and `rest_catalog`
# (hard-wired address). Both are sent to URI: the second by replacing its one constructor line in a temporary copy.
# test_rest_custom_namespace_separator expects the announced separator "."; it is skipped where the server announces another.
set -euo pipefail
uri=${1:?usage: upstream.sh URI [WAREHOUSE]}; warehouse=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/provision.sh" && upstream_environment
venv=$upstream_venv

work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
tar xzf "$sdist" -C "$work" --strip-components=1 --wildcards '*/tests' '*/pyproject.toml'
cd "$work"
# The test session discards configuration files, and environment variables cannot carry keys with underscores
# (supports_slash_in_identifier), so the properties go in as JSON through the one constructor call of each fixture.
export PYICEBERG_TEST_CATALOG=ours OURS
OURS=$(URI=$uri WAREHOUSE=$warehouse "$venv/bin/python" - <<'P'
import json, os
ours = {"type": "rest", "uri": os.environ["URI"], "supports_slash_in_identifier": os.environ.get("SLASH", "true")}
if os.environ["WAREHOUSE"]: ours["warehouse"] = os.environ["WAREHOUSE"]
if os.environ.get("CATALOG_TOKEN"): ours["token"] = os.environ["CATALOG_TOKEN"]
print(json.dumps(ours | json.loads(os.environ.get("CATALOG_PROPS") or "{}")))
P
)
call='load_catalog("ours", **__import__("json").loads(os.environ["OURS"]))'
sed -i "s#RestCatalog(\"rest\", uri=\"http://localhost:8181\")#$call#; s#load_catalog(test_catalog_name)#$call#" tests/integration/test_catalog.py
[ "$(grep -c 'environ\["OURS"\]' tests/integration/test_catalog.py)" = 2 ] || { echo "the source changed: adapt this script" >&2; exit 2; }
select='rest_test_catalog or test_rest_'
"$venv/bin/python" -m pytest tests/integration/test_catalog.py -m integration -k "$select" --collect-only -q -p no:cacheprovider -W ignore > tests.txt
status=0
skipped=0
deselect=()
while IFS= read -r test; do
  name=${test##*::}
  if [ -n "${UPSTREAM_SKIP:-}" ] && [[ ${name%%[*} =~ ^(${UPSTREAM_SKIP})$ ]]; then
    deselect+=("--deselect=$test")
    skipped=$((skipped + 1))
    echo "SKIP ${name%%[*} named in UPSTREAM_SKIP"
  fi
done < <(grep '::' tests.txt)
"$venv/bin/python" -m pytest tests/integration/test_catalog.py -m integration -k "$select" -q -p no:cacheprovider \
  --junitxml=report.xml -W ignore "${deselect[@]}" ${UPSTREAM_ARGS:-} || status=$?
SKIPPED=$skipped "$venv/bin/python" - <<'P'
import os, xml.etree.ElementTree as E
suite = E.parse("report.xml").getroot().find("testsuite")
total, bad, skipped = int(suite.get("tests")), int(suite.get("failures")) + int(suite.get("errors")), int(suite.get("skipped"))
for case in suite.iter("testcase"):
    name = case.get("name").split("[")[0]
    for kind, word in (("failure", "FAIL"), ("error", "FAIL"), ("skipped", "SKIP")):
        for what in case.iter(kind):
            print(word, name, (what.get("message") or "").split("\n")[0][:200])
print(f"{total - bad - skipped} passed, {bad} failed, {skipped + int(os.environ['SKIPPED'])} skipped")
P
exit $status
