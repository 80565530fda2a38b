#!/usr/bin/env bash
# Starts Trino in one JVM on a running Iceberg REST catalog and runs the SQL checks.
#
#   run.sh URI [WAREHOUSE] [-- checks.py options, e.g. --only 'view|merge']
#   TRINO_SCRIPT=foreign.py run.sh URI [WAREHOUSE] -- expected.json         TRINO_KEEP=1 run.sh URI: only start, print the address, wait
#
# Environment: CATALOG_TOKEN, CATALOG_CREDENTIAL (+ CATALOG_OAUTH2_URI, CATALOG_SCOPE), S3_ENDPOINT, S3_ACCESS_KEY, S3_SECRET_KEY,
#   S3_REGION, VENDED=true (credentials from the catalog), TRINO_EXTRA="name=value,…" (catalog properties), TRINO_PORT (0: any),
#   TRINO_VERSION, TRINO_MEMORY (1500m), JAVA25_HOME, INTEROP_CACHE.
# Ends with `N passed, N failed`; exit status 0 only if nothing failed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
uri=${1:?usage: run.sh URI [WAREHOUSE] [-- options]}; shift
warehouse=; if [ $# -gt 0 ] && [ "$1" != -- ]; then warehouse=$1; shift; fi
[ "${1:-}" = -- ] && shift
. "$here/provision.sh"
trino_jars || { echo '0 passed, 1 failed'; exit 1; }

props=(iceberg.catalog.type=rest "iceberg.rest-catalog.uri=$uri" iceberg.rest-catalog.nested-namespace-enabled=true
  iceberg.security=allow_all fs.local.enabled=true local.location=/)
[ -z "$warehouse" ] || props+=("iceberg.rest-catalog.warehouse=$warehouse")
[ -z "${CATALOG_TOKEN:-}" ] || props+=(iceberg.rest-catalog.security=OAUTH2 "iceberg.rest-catalog.oauth2.token=$CATALOG_TOKEN")
[ -z "${CATALOG_CREDENTIAL:-}" ] || props+=(iceberg.rest-catalog.security=OAUTH2 "iceberg.rest-catalog.oauth2.credential=$CATALOG_CREDENTIAL")
[ -z "${CATALOG_OAUTH2_URI:-}" ] || props+=("iceberg.rest-catalog.oauth2.server-uri=$CATALOG_OAUTH2_URI")
[ -z "${CATALOG_SCOPE:-}" ] || props+=("iceberg.rest-catalog.oauth2.scope=$CATALOG_SCOPE")
if [ -n "${S3_ENDPOINT:-}" ]; then
  props+=(fs.s3.enabled=true "s3.endpoint=$S3_ENDPOINT" "s3.region=${S3_REGION:-us-east-1}" s3.path-style-access=true)
  [ -z "${S3_ACCESS_KEY:-}" ] || props+=("s3.aws-access-key=$S3_ACCESS_KEY" "s3.aws-secret-key=$S3_SECRET_KEY")
fi
# Trino has one or the other.
if [ "${VENDED:-}" = true ]; then props+=(iceberg.rest-catalog.vended-credentials-enabled=true); else props+=(iceberg.register-table-procedure.enabled=true); fi
IFS=, read -ra extra <<< "${TRINO_EXTRA:-}"
props+=(${extra[@]+"${extra[@]}"})

log=$(mktemp)
"$JAVA25/bin/java" "-Xmx${TRINO_MEMORY:-1500m}" -XX:+UseSerialGC --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED \
  --sun-misc-unsafe-memory-access=allow -cp "$class_path" TrinoServer "${TRINO_PORT:-0}" "${props[@]}" > "$log" 2>&1 &
server=$!
trap 'kill $server 2> /dev/null || true; wait $server 2> /dev/null || true; rm -f "$log"' EXIT
url=
for _ in $(seq 300); do
  url=$(sed -n 's/.*ready \(http[^ ]*\) after.*/\1/p' "$log")
  [ -z "$url" ] && kill -0 $server 2> /dev/null || break
  sleep 0.5
done
[ -n "$url" ] || { tail -n 30 "$log" >&2; echo '0 passed, 1 failed'; exit 1; }
sed -n "s/.*ready http[^ ]* after \([0-9]*\) ms.*/trino $trino_version, started in \1 ms/p" "$log"
if [ -n "${TRINO_KEEP:-}" ]; then echo "$url"; wait $server; exit; fi
status=0
TRINO_PID=$server python3 "$here/${TRINO_SCRIPT:-checks.py}" "$url" "$@" || status=1
exit $status
