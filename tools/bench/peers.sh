#!/usr/bin/env bash
# Ours and the Java reference catalog side by side, one after the other in one sitting: loads (W1), commits (W2), create
# and list (W4), churn (W5), start and memory (W6). Prints both tables and the ratios ours / reference.
#
#   peers.sh [OUT_DIR] [peerbench flags, e.g. --seconds 4 --snapshots 10,1000,10000 --tables 1000 --list-tables 2000]
#
# About 10 minutes with the defaults; the machine should be idle otherwise. OUT_DIR gets reference.json and timelake.json.
# Exit status 0 only if every answer was right on both servers.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bench=$here/../interop/peerbench
out=
case "${1:-}" in --*|'') out=$(mktemp -d) ;; *) out=$1; shift; mkdir -p "$out" ;; esac
flags=(--seconds 4 --snapshots 10,1000,10000 --tables 1000 --list-tables 2000 "$@")
work=$(mktemp -d)
# The server may still be writing its last files when its process has been told to stop.
trap 'rm -rf "$work" 2> /dev/null || { sleep 2; rm -rf "$work"; }' EXIT
free_port() { node -e "const s=require('node:net').createServer().listen(0,'127.0.0.1',()=>{console.log(s.address().port);s.close()})"; }

status=0
for name in reference-memory timelake; do
  warehouse=()
  [ "$name" != timelake ] || warehouse=(--warehouse main)
  measure() { # NAME PORT DIR FLAGS…
    local title=$1 port=$2 dir=$3
    shift 3
    node "$bench/peerbench.mjs" --name "$title" --uri "http://127.0.0.1:$port" "${warehouse[@]}" \
      --start "bash $bench/peers.sh $name $port $work/$dir" --start-log "$work/$dir.log" "$@"
  }
  # The first start may install and compile, which would spoil the measured one.
  measure warm-up "$(free_port)" "warm-$name" --workloads none > /dev/null 2>&1 || true
  measure "$name" "$(free_port)" "$name" --out "$out/$name.json" "${flags[@]}" || { status=1; tail -5 "$work/$name.log" >&2; }
done
node "$bench/peerbench.mjs" --compare "$out/reference-memory.json" "$out/timelake.json"
echo "figures: $out"
exit $status
