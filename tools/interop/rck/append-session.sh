#!/usr/bin/env bash
# The Java client at work: creates, appends, deletes, evolves two tables; prints `TABLE SNAPSHOTS FILES` for each.
#
#   append-session.sh URI NAMESPACE        environment as run.sh (CATALOG_WAREHOUSE, CATALOG_TOKEN, …)
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ $# -eq 2 ] || { sed -n '2,4p' "$0" >&2; exit 2; }
prepare
java_run -Duri="$1" conformance.AppendSession "$2"
