#!/usr/bin/env bash
# Spark SQL with Iceberg's runtime against a running Iceberg REST catalog.
#
#   run.sh URI [WAREHOUSE] [-- checks.py options, e.g. --only 'views|merge']
#   SPARK_SCRIPT=foreign_tables.py run.sh URI [WAREHOUSE] [-- options]
#
# Environment: CATALOG_TOKEN, CATALOG_CREDENTIAL (+ CATALOG_OAUTH2_URI, CATALOG_SCOPE), CATALOG_EXTRA="name=value,…" (catalog
#   properties), S3_ENDPOINT, S3_ACCESS_KEY, S3_SECRET_KEY, S3_REGION (S3FileIO), SPARK_VERSION, SPARK_RUNTIME, ICEBERG_VERSION,
#   SPARK_MEMORY (1500m), SPARK_LOG (FATAL), JAVA17_HOME, INTEROP_CACHE.
# Ends with `N passed, N failed`; exit status 0 only if nothing failed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export CATALOG_URI=${1:?usage: run.sh URI [WAREHOUSE] [-- options]}; shift
if [ $# -gt 0 ] && [ "$1" != -- ]; then export CATALOG_WAREHOUSE=$1; shift; fi
[ "${1:-}" = -- ] && shift
. "$here/provision.sh"
iceberg_jars
export CALLER_PWD=$PWD PYTHONPATH=$here

# Spark leaves folders where it works.
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export TMPDIR=$work
cd "$work"
status=0
"$venv/bin/python" "$here/${SPARK_SCRIPT:-checks.py}" "$@" 2> stderr | tee stdout || status=1
grep -q ' passed, ' stdout || { tail -n 20 stderr >&2; echo '0 passed, 1 failed'; status=1; }
exit $status
