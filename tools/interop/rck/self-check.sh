#!/usr/bin/env bash
# Checks these tools on the reference server: green where it is right, red where it is wrong or absent.
#
#   self-check.sh PORT
#
# Uses PORT on 127.0.0.1 and a temporary folder. Last line: N passed, N failed. About 2 minutes on two idle cores.
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,6p' "$0" >&2; exit 2; }
DIR=$(cd "$(dirname "$0")" && pwd)
PORT=$1
WORK=$(mktemp -d)
SERVER=
PASSED=0
FAILED=0
trap 'stop; rm -rf "$WORK"' EXIT

start() { # VAR=value…: a fresh server on an empty warehouse
  stop
  rm -rf "$WORK/warehouse"
  : > "$WORK/log"
  env "$@" "$DIR/reference-server.sh" "$PORT" "$WORK/warehouse" > "$WORK/log" 2>&1 &
  SERVER=$!
  for _ in $(seq 240); do
    grep -q ready "$WORK/log" && return
    kill -0 "$SERVER" 2> /dev/null || break
    sleep 0.5
  done
  cat "$WORK/log" >&2
  exit 1
}
stop() {
  [ -z "$SERVER" ] || { kill "$SERVER" 2> /dev/null && wait "$SERVER" 2> /dev/null || true; }
  SERVER=
}
expect() { # green|red LABEL COMMAND…
  local want=$1 label=$2 got=green last
  shift 2
  "$@" > "$WORK/out" 2>&1 || got=red
  last=$(tail -1 "$WORK/out")
  # The counts must say the same as the exit status: green is some passed and 0 failed, red is 1 failed or more.
  local counts='^[1-9][0-9]* passed, 0 failed, [0-9]+ skipped$'
  [ "$want" = green ] || counts='^[0-9]+ passed, [1-9][0-9]* failed, [0-9]+ skipped$'
  if [ "$got" = "$want" ] && [[ $last =~ $counts ]]; then
    PASSED=$((PASSED + 1)); echo "ok   $label: $last"
  else
    FAILED=$((FAILED + 1)); echo "FAIL $label: wanted $want, got $got: $last"; grep -E '^(FAIL|  )' "$WORK/out" | head -5 || true
  fi
}

URI=http://127.0.0.1:$PORT/
start REF_BACKEND=memory
expect green 'kit, wide' "$DIR/run.sh" "$URI" --all --wide
start REF_BACKEND=memory
expect green "kit, its own locations" "$DIR/run.sh" "$URI" --catalog --wide --kit-locations
expect red 'errors, the reference has 5xx' node "$DIR/errors.mjs" "$URI" --against "$URI"
start REF_BACKEND=jdbc
expect red 'kit, server that takes tables in missing namespaces' "$DIR/run.sh" "$URI" --catalog --only tableCreationWithoutNamespace
expect red 'kit, nothing selected that exists' "$DIR/run.sh" "$URI" --catalog --only noSuchMethod
stop
expect red 'kit, no server' "$DIR/run.sh" "$URI" --catalog --only testAppend
echo "$PASSED passed, $FAILED failed"
[ "$FAILED" -eq 0 ]
