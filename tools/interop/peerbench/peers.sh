#!/usr/bin/env bash
# Starts one server in the foreground on loopback, for `peerbench.mjs --start "bash peers.sh NAME PORT DATA_DIR"`.
#
#   peers.sh NAME PORT DATA_DIR
#
# timelake           what `npm start` runs, maintenance off (the fabricated snapshots name no real files)
# timelake-services  the same on PostgreSQL (TEST_DATABASE_URL, a database of its own) and S3 (S3_ENDPOINT, S3_BUCKET, …)
# timelake-postgres  the same on PostgreSQL and a local warehouse
# reference-memory   Iceberg's Java reference catalog (Maven; class path prepared by ../rck), rows in memory, files in DATA_DIR
# reference-pg       the same, rows in PostgreSQL (TEST_DATABASE_URL)
# seaweedfs          SeaweedFS with its own catalog and store; uses PORT (catalog) to PORT+10
# stub               the toy server of this folder: what client and machine can do
#
# The variables are those that ../../services/start.sh prints. Environment: HEAP=1500m (reference), INTEROP_CACHE, JAVA_HOME
set -euo pipefail
MINE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 3 ] || { sed -n '2,15p' "$0" >&2; exit 2; }
NAME=$1 PORT=$2 DATA=$3
CACHE_ROOT=${INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/timelake-interop}
mkdir -p "$DATA" "$CACHE_ROOT/peerbench"
DATA=$(cd "$DATA" && pwd)

# A database of this server alone; prints its URL.
own_database() {
  local name="bench_$(basename "$DATA" | tr -c 'a-z0-9\n' _)_$$"
  psql -q "${TEST_DATABASE_URL:?}" -c "create database $name" >&2
  echo "${TEST_DATABASE_URL%/*}/$name"
}

timelake() { # NAME=VALUE …
  cd "$MINE/../../.."
  exec env TIMELAKE_DATA_DIR="$DATA" TIMELAKE_PORT="$PORT" TIMELAKE_MAINTENANCE=off TIMELAKE_LOG_LEVEL=warn "$@" node scripts/run.mjs start
}

reference_pg() {
  local classes=$CACHE_ROOT/peerbench/classes drivers=$CACHE_ROOT/peerbench/jdbc url
  . "$MINE/../rck/lib.sh"
  prepare
  if [ ! "$classes/stamp" -nt "$MINE/JdbcReference.java" ]; then
    mkdir -p "$classes"
    "$JAVA_HOME/bin/javac" -nowarn -proc:none -d "$classes" -cp "$CLASS_PATH" "$MINE/JdbcReference.java" >&2
    touch "$classes/stamp"
  fi
  [ -f "$drivers/postgresql-42.7.7.jar" ] ||
    mvn -q -B dependency:copy -Dartifact=org.postgresql:postgresql:42.7.7 -DoutputDirectory="$drivers" >&2
  url=$(own_database)
  exec "$JAVA" -Xmx"${HEAP:-1500m}" -XX:+UseSerialGC -Dorg.slf4j.simpleLogger.defaultLogLevel=off \
    -cp "$classes:$drivers/postgresql-42.7.7.jar:$CLASS_PATH" org.apache.iceberg.rest.JdbcReference \
    "$PORT" "file:$DATA" "jdbc:postgresql://$(echo "$url" | sed -E 's#^.*@##')" "jdbc.user=$(echo "$url" | sed -E 's#^.*//([^:@]*).*#\1#')"
}

seaweedfs() {
  local weed=$CACHE_ROOT/seaweedfs-4.48/weed
  [ -x "$weed" ] || { echo "SeaweedFS is missing: run ../../services/start.sh once" >&2; exit 2; }
  p() { echo $((PORT + $1)); }
  exec "$weed" mini -dir="$DATA" -ip=127.0.0.1 -ip.bind=127.0.0.1 -master.telemetry=false -s3.port.iceberg="$PORT" \
    -master.port="$(p 1)" -master.port.grpc="$(p 2)" -volume.port="$(p 3)" -volume.port.grpc="$(p 4)" \
    -filer.port="$(p 5)" -filer.port.grpc="$(p 6)" -s3.port="$(p 7)" -s3.port.grpc="$(p 8)" \
    -admin.port="$(p 9)" -admin.port.grpc="$(p 10)" -s3.port.lance=0 -webdav=false -tableBucket=bench
}

case $NAME in
  timelake) timelake ;;
  timelake-postgres) timelake TIMELAKE_DATABASE_URL="$(own_database)" TIMELAKE_WAREHOUSE_LOCATION="file://$DATA/warehouse" ;;
  timelake-services)
    timelake TIMELAKE_DATABASE_URL="$(own_database)" TIMELAKE_WAREHOUSE_LOCATION="s3://${S3_BUCKET:?}/bench-$$" \
      TIMELAKE_S3_ENDPOINT="${S3_ENDPOINT:?}" TIMELAKE_S3_REGION="${S3_REGION:-us-east-1}" \
      TIMELAKE_S3_ACCESS_KEY_ID="${S3_ACCESS_KEY:?}" TIMELAKE_S3_SECRET_ACCESS_KEY="${S3_SECRET_KEY:?}" ;;
  reference-memory) RCK_HEAP=${HEAP:-1500m} exec bash "$MINE/../rck/reference-server.sh" "$PORT" "$DATA" ;;
  reference-pg) reference_pg ;;
  seaweedfs) seaweedfs ;;
  stub) PORT=$PORT exec node "$MINE/stub-server.mjs" ;;
  *) echo "unknown peer $NAME" >&2; exit 2 ;;
esac
