#!/usr/bin/env bash
# Ours and other catalogs side by side, one after the other in one sitting: loads (W1), commits (W2), create and list (W4),
# churn (W5), start and memory (W6); with --workloads W3 many writers on one table. Prints each table and the ratios of each pair.
#
#   peers.sh [--out DIR] [--peers reference-memory,timelake] [peerbench flags, e.g. --seconds 4 --tables 1000]
#
# The first peer is what the others are compared with; names are those of ../interop/peerbench/peers.sh. Peers on PostgreSQL and
# S3 need the variables of ../services/start.sh. About 5 minutes a peer with the defaults; the machine should be idle
# otherwise. Exit status 0 only if every answer was right on every server.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bench=$here/../interop/peerbench
out= peers=reference-memory,timelake
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=$2; shift 2 ;;
    --peers) peers=$2; shift 2 ;;
    *) break ;;
  esac
done
[ -n "$out" ] || out=$(mktemp -d)
mkdir -p "$out"
flags=(--workloads W1,W2,W4,W5 --seconds 4 --snapshots 10,1000,10000 --tables 1000 --list-tables 2000 "$@")
work=$(mktemp -d)
# The server may still be writing its last files when its process has been told to stop.
trap 'rm -rf "$work" 2> /dev/null || { sleep 2; rm -rf "$work"; }' EXIT
# Room for the ten ports behind it, which SeaweedFS takes.
free_port() { node -e "const s=require('node:net').createServer().listen(0,'127.0.0.1',()=>{console.log(Math.min(s.address().port,65000));s.close()})"; }
database=()
[ -z "${TEST_DATABASE_PID:-}" ] || database=(--pid "$TEST_DATABASE_PID")
store=()
[ -z "${S3_PID:-}" ] || store=(--pid "$S3_PID")

measure() { # PEER TITLE DIR FLAGS…
  local peer=$1 title=$2 dir=$3 port more=()
  shift 3
  port=$(free_port)
  case $peer in
    timelake*) more=(--warehouse main) ;;
    seaweedfs) more=(--warehouse bench) ;;
  esac
  case $peer in *-pg | *-postgres) more+=("${database[@]}") ;; *-services) more+=("${database[@]}" "${store[@]}") ;; esac
  node "$bench/peerbench.mjs" --name "$title" --uri "http://127.0.0.1:$port" "${more[@]}" \
    --start "bash $bench/peers.sh $peer $port $work/$dir" --start-log "$work/$dir.log" "$@"
}

status=0
for peer in ${peers//,/ }; do
  # The first start may install and compile, which would spoil the measured one.
  measure "$peer" warm-up "warm-$peer" --workloads none > /dev/null 2>&1 || true
  measure "$peer" "$peer" "$peer" --out "$out/$peer.json" "${flags[@]}" || { status=1; tail -5 "$work/$peer.log" >&2; }
done
first=${peers%%,*}
for peer in ${peers//,/ }; do
  [ "$peer" = "$first" ] || node "$bench/peerbench.mjs" --compare "$out/$first.json" "$out/$peer.json"
done
echo "figures: $out"
exit $status
