# Sourced by start.sh and stop.sh. $directory is where the services keep their data; NAME.pid in it holds a process id and a word
# of its command line, so that a process id that belongs to somebody else by now is never signalled.

PORTS_IN_ROW=12
START_SECONDS_MAX=60

fail() { echo "tools/services: $*" >&2; exit 1; }

# until_true SECONDS COMMAND…: whether the command succeeds within that time.
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt "$end" ] || return 1
    sleep 0.1
  done
}

# record NAME PID WORD
record() { printf '%s %s\n' "$2" "$3" > "$directory/$1.pid"; }

pid_of() { cut -d' ' -f1 "$directory/$1.pid"; }

is_running() {
  local pid word
  [ -s "$directory/$1.pid" ] || return 1
  read -r pid word < "$directory/$1.pid"
  ps -o command= -p "$pid" 2> /dev/null | grep -qF -- "$word"
}

is_stopped() { ! is_running "$1"; }

# A killed process keeps its id until its parent has asked for its end; PostgreSQL refuses to start while the old id is taken.
is_reaped() { ! kill -0 "$(pid_of "$1")" 2> /dev/null; }

# port_row DIR FIRST: the first of a row of free ports, the same one whenever DIR is used again. Below the range from which
# systems take ports for outgoing connections.
port_row() {
  local file=$1/first-port
  if [ -n "$2" ]; then echo "$2" > "$file"; fi
  [ -s "$file" ] || node -e '
    const { createServer } = require("node:net")
    const isFree = (port) => new Promise((resolve) => {
      const probe = createServer().once("error", () => resolve(false))
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)))
    })
    const row = async (first, length) => (await Promise.all(Array.from({ length }, (_, i) => isFree(first + i)))).every(Boolean)
    const find = async (length) => {
      for (let tries = 0; tries < 100; tries++) {
        const first = 21000 + Math.floor(Math.random() * 700) * 16
        if (await row(first, length)) return first
      }
      throw new Error("no row of free ports")
    }
    find(Number(process.argv[1])).then(console.log)
  ' "$PORTS_IN_ROW" > "$file"
  cat "$file"
}
