#!/usr/bin/env bash
# A Spark session on a running catalog that runs one statement a line: JSON strings in, JSON out ({"rows": …} or {"error": …}).
#
#   sql.sh URI [WAREHOUSE]        environment as run.sh; prints {"ready": VERSION} first and ends with its input
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export CATALOG_URI=${1:?usage: sql.sh URI [WAREHOUSE]} CATALOG_WAREHOUSE=${2:-}
. "$here/provision.sh"
iceberg_jars
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export TMPDIR=$work PYTHONPATH=$here
cd "$work"
"$venv/bin/python" "$here/sql.py" 2> stderr || { tail -n 20 stderr >&2; exit 1; }
