#!/usr/bin/env bash
# Brings everything the judges need onto this machine, once, into ${INTEROP_CACHE:-~/.cache/timelake-interop}:
# Maven jars of the REST Compatibility Kit and the Java reference server, the Python environments of PyIceberg and
# DuckDB with its extension files, PyIceberg's source package, and the weather readings. Needs no running server.
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
for tool in flock curl tar; do command -v $tool > /dev/null || missing+=("$tool"); done
if [ ${#missing[@]} -gt 0 ]; then
  echo 'cannot run the interop judges: this machine lacks' >&2
  printf '  - %s\n' "${missing[@]}" >&2
  exit 1
fi
[ "${1:-}" != --check ] || exit 0

(. "$here/rck/lib.sh" && prepare)
(. "$here/pyiceberg/provision.sh" && upstream_environment)
(. "$here/duckdb/provision.sh")
