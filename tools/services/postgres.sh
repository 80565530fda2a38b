# Sourced by start.sh.

start_postgres() {
  local data=$directory/postgres port=$first_port bin as=() speed=(-c fsync=off -c synchronous_commit=off -c full_page_writes=off)
  bin=$(postgres_programs)
  [ "$durable" = no ] || speed=()
  if [ "$(id -u)" = 0 ]; then
    as=(setpriv --reuid=postgres --regid=postgres --init-groups)
    chmod a+x "$directory"
    "${as[@]}" test -x "$directory" || fail "the user postgres cannot reach $directory: choose another place"
    install -d -o postgres -g postgres -m 700 "$data"
  fi
  if ! is_running postgres; then
    [ -s "$data/PG_VERSION" ] || (cd / && "${as[@]}" "$bin/initdb" -D "$data" -U postgres -A trust -E UTF8 --locale=C --no-sync > "$directory/initdb.log" 2>&1) \
      || { tail -n 5 "$directory/initdb.log" >&2; fail 'PostgreSQL cannot make its data folder'; }
    (cd / && exec nohup "${as[@]}" "$bin/postgres" -D "$data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
      -c max_connections=300 "${speed[@]}" < /dev/null >> "$directory/postgres.log" 2>&1) &
    record postgres $! "$data"
    until_true $START_SECONDS_MAX postgres_answers "$bin" "$port" "$data" \
      || { tail -n 5 "$directory/postgres.log" >&2; fail "PostgreSQL does not answer on port $port"; }
  fi
  echo "TEST_DATABASE_URL=postgres://postgres@127.0.0.1:$port/postgres"
  echo "POSTGRES_PID=$(pid_of postgres)"
}

postgres_answers() {
  # A process that has just been forked still has the command line of this script.
  ! is_reaped postgres || fail "PostgreSQL ended at its start, see $directory/postgres.log"
  # Somebody else's server may answer on the port. The eighth line is the state of the one whose id is in the first.
  [ "$(sed -n '1p; 8s/ *$//p' "$3/postmaster.pid" 2> /dev/null | tr '\n' ' ')" = "$(pid_of postgres) ready " ] \
    && "$1/pg_isready" -q -U postgres -h 127.0.0.1 -p "$2"
}

# The folder of the newest PostgreSQL. Debian keeps its versions apart and leaves most programs out of PATH.
postgres_programs() {
  local found
  found=${POSTGRES_BIN:-$(ls -d /usr/lib/postgresql/*/bin 2> /dev/null | sort -t/ -k5 -n | tail -n 1)}
  [ -n "$found" ] || found=$(dirname "$(command -v postgres || echo ./missing)")
  [ -x "$found/initdb" ] || fail 'no PostgreSQL found (Debian: postgresql); POSTGRES_BIN names the folder of its programs'
  echo "$found"
}
