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
trap 'rm -rf "$work"' EXIT
free_port() { node -e "const s=require('node:net').createServer().listen(0,'127.0.0.1',()=>{console.log(s.address().port);s.close()})"; }

status=0
for name in reference-memory timelake; do
  port=$(free_port)
  # The first start may install and compile, which would spoil the measured one.
  warehouse=()
  [ "$name" != timelake ] || warehouse=(--warehouse main)
  node "$bench/peerbench.mjs" --name warm-up --uri "http://127.0.0.1:$port" "${warehouse[@]}" --start "bash $bench/peers.sh $name $port $work/warm-$name" --workloads none > /dev/null 2>&1 || true
  node "$bench/peerbench.mjs" --name "$name" --uri "http://127.0.0.1:$port" "${warehouse[@]}" --start "bash $bench/peers.sh $name $port $work/$name" --out "$out/$name.json" "${flags[@]}" || status=1
done
node "$bench/peerbench.mjs" --compare "$out/reference-memory.json" "$out/timelake.json"
echo "figures: $out"
exit $status
