#!/usr/bin/env bash
# Spark writers for judge.py.
#
#   spark_writers.sh URI ORDER        ORDER is JSON, see writing.py; environment as ../spark/run.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export CATALOG_URI=${1:?usage: spark_writers.sh URI ORDER} CATALOG_WAREHOUSE=${CATALOG_WAREHOUSE-main}
. "$here/../spark/provision.sh"
iceberg_jars
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export TMPDIR=$work PYTHONPATH=$here/../spark
cd "$work"
"$venv/bin/python" "$here/spark_writers.py" "$2" 2> stderr || { tail -n 20 stderr >&2; exit 1; }
