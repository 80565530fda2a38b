#!/usr/bin/env bash
# Brings everything the judges need onto this machine, once, into ${INTEROP_CACHE:-~/.cache/timelake-interop}:
# Maven jars of the REST Compatibility Kit, the Java reference server, Spark's runtime and Trino, the Python environments of
# PyIceberg, DuckDB (with its extension files) and Spark, PyIceberg's source package, the S3 server and the weather readings.
# About 1.7 GB. Needs no running server. Without a JDK 25 it goes on: only the judges that run Trino fail then.
#
#   provision.sh [--check]     --check only says what this machine lacks (exit 1 if anything)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

missing=()
command -v javac > /dev/null || missing+=('a JDK 17 (Debian: openjdk-17-jdk-headless)')
command -v mvn > /dev/null || missing+=('Maven 3.8 or later (Debian: maven)')
if command -v python3 > /dev/null; then
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || missing+=("Python 3.10 or later (found $(python3 --version))")
  python3 -c 'import venv, ensurepip' 2> /dev/null || missing+=('the venv module of Python (Debian: python3-venv)')
else
  missing+=('Python 3.10 or later with venv (Debian: python3 python3-venv)')
fi
{ command -v redis-server || command -v valkey-server; } > /dev/null || missing+=('Redis or Valkey (Debian: redis-server)')
ls "${POSTGRES_BIN:-/nowhere}/initdb" /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || command -v initdb > /dev/null \
  || missing+=('PostgreSQL 15 or later (Debian: postgresql)')
for tool in flock curl tar ps; do command -v $tool > /dev/null || missing+=("$tool"); done
java25=$(. "$here/trino/provision.sh" && java25)
[ -n "$java25" ] || [ "${1:-}" != --check ] || missing+=('a JDK 25 for Trino (Debian 13: openjdk-25-jdk-headless), or JAVA25_HOME')
if [ ${#missing[@]} -gt 0 ]; then
  echo 'cannot run the interop judges: this machine lacks' >&2
  printf '  - %s\n' "${missing[@]}" >&2
  exit 1
fi
[ "${1:-}" != --check ] || exit 0

(. "$here/rck/lib.sh" && prepare)
(. "$here/pyiceberg/provision.sh" && upstream_environment)
(. "$here/duckdb/provision.sh")
(. "$here/spark/provision.sh" && S3_ENDPOINT=yes iceberg_jars)
[ -z "$java25" ] || (. "$here/trino/provision.sh" && trino_jars)
(. "$here/../services/s3.sh" && s3_program > /dev/null)
