#!/usr/bin/env bash
# Java for contention/judge.py.
#
#   contention.sh writers URI NAMESPACE TABLE FILES     Java writers on one table (conformance.ContentionWriters)
#   contention.sh audit URI NAMESPACE TABLE             what Java finds when it reads the table (conformance.TableAudit)
#
# Environment as run.sh (CATALOG_WAREHOUSE, CATALOG_TOKEN, …).
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ $# -ge 4 ] || { sed -n '2,7p' "$0" >&2; exit 2; }
case $1 in
  writers) class=conformance.ContentionWriters ;;
  audit) class=conformance.TableAudit ;;
  *) sed -n '2,7p' "$0" >&2; exit 2 ;;
esac
uri=$2
shift 2
prepare
java_run -Duri="$uri" "$class" "$@"
