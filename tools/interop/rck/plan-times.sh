#!/usr/bin/env bash
# How long the Java client's own scan planning takes; see tools/bench/plan.ts.
#
#   plan-times.sh URI NAMESPACE.TABLE HOSTNAME FROM TO
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ $# -eq 5 ] || { sed -n '4p' "$0" >&2; exit 2; }
# The server of the benchmark has the warehouse `main`.
export CATALOG_WAREHOUSE=${CATALOG_WAREHOUSE:-main}
PROPS=(-Duri="$1" -Dfile.encoding=UTF-8 -Dstdout.encoding=UTF-8)
shift
for prop in ${RCK_PROPS:-}; do PROPS+=("-D$prop"); done
prepare
java_run "${PROPS[@]}" conformance.PlanTimes "$@"
