#!/usr/bin/env bash
# Starts one server in the foreground on loopback, for `peerbench.mjs --start "bash peers.sh NAME PORT DATA_DIR"`.
#
#   peers.sh timelake|reference-memory|stub PORT DATA_DIR
#
# timelake          what `npm start` runs, maintenance off (the fabricated snapshots name no real files)
# reference-memory  Iceberg's Java reference catalog (Maven; class path prepared by ../rck), files in DATA_DIR
# stub              the toy server of this folder: what client and machine can do
#
# Environment: HEAP=1500m (reference), INTEROP_CACHE, JAVA_HOME
set -euo pipefail
MINE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 3 ] || { sed -n '2,10p' "$0" >&2; exit 2; }
NAME=$1 PORT=$2 DATA=$3
mkdir -p "$DATA"
DATA=$(cd "$DATA" && pwd)

case $NAME in
  timelake)
    cd "$MINE/../../.."
    export TIMELAKE_DATA_DIR=$DATA TIMELAKE_PORT=$PORT TIMELAKE_MAINTENANCE=off TIMELAKE_LOG_LEVEL=warn
    exec node scripts/run.mjs start ;;
  reference-memory) RCK_HEAP=${HEAP:-1500m} exec bash "$MINE/../rck/reference-server.sh" "$PORT" "$DATA" ;;
  stub) PORT=$PORT exec node "$MINE/stub-server.mjs" ;;
  *) echo "unknown peer $NAME" >&2; exit 2 ;;
esac
