#!/usr/bin/env bash
# Migrates tables from the Java reference catalog into ours and back into an empty reference catalog.
#
#   migrate.sh [--tables 1000] [--spark] [--keep]
#
# Every table must be there with its UUID and its metadata file, in each step; tables that were committed to meanwhile
# must come back with their newest state. With --spark, Spark counts the rows of every table in ours and in the last one.
# Needs what the judges rck and pyiceberg need (../provision.sh). Last line: N passed, N failed.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/migrate.py" "$@"
