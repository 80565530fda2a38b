#!/usr/bin/env bash
# Ends what start.sh started in DIR: asks, waits, and after 20 s kills. Only processes that DIR records and that still are what
# they were then. The data stays.
#
#   stop.sh DIR [--only postgres,redis,s3] [--kill]     --kill does not ask: the machine has lost power
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"

usage() { sed -n '2,6p' "${BASH_SOURCE[0]}" >&2; exit 2; }
[ $# -ge 1 ] && [ "${1#-}" = "$1" ] || usage
directory=$1
shift
only=s3,redis,postgres
how=ask
while [ $# -gt 0 ]; do
  case $1 in
    --only) only=${2:?$(usage)}; shift ;;
    --kill) how=kill ;;
    *) usage ;;
  esac
  shift
done
[ -d "$directory" ] || exit 0
directory=$(cd "$directory" && pwd)

# PostgreSQL's SIGINT ends sessions that are open; its SIGTERM would wait for them.
signal_of() {
  if [ "$how" = kill ]; then echo KILL; elif [ "$1" = postgres ]; then echo INT; else echo TERM; fi
}
for name in ${only//,/ }; do
  if is_running "$name"; then kill "-$(signal_of "$name")" "$(pid_of "$name")" || true; fi
done
for name in ${only//,/ }; do
  until_true 20 is_stopped "$name" || { kill -KILL "$(pid_of "$name")"; until_true 10 is_stopped "$name"; }
  [ ! -s "$directory/$name.pid" ] || until_true 5 is_reaped "$name" || true
  rm -f "$directory/$name.pid"
done
