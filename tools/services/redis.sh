# Sourced by start.sh.

start_redis() {
  local data=$directory/redis port=$((first_port + 1)) server keep=(--save '' --appendonly no)
  [ "$durable" = no ] || keep=(--save '' --appendonly yes --appendfsync everysec)
  server=$(command -v redis-server || command -v valkey-server) || fail 'no Redis found (Debian: redis-server or valkey-server)'
  if ! is_running redis; then
    mkdir -p "$data"
    nohup "$server" --port "$port" --bind 127.0.0.1 --dir "$data" --maxmemory-policy noeviction --databases 64 "${keep[@]}" \
      < /dev/null >> "$directory/redis.log" 2>&1 &
    # The server puts its address into its command line.
    record redis $! ":$port"
    until_true $START_SECONDS_MAX redis_answers "$port" || { tail -n 5 "$directory/redis.log" >&2; fail "Redis does not answer on port $port"; }
  fi
  echo "TEST_REDIS_URL=redis://127.0.0.1:$port"
  echo "REDIS_PID=$(pid_of redis)"
}

redis_answers() {
  (exec 3<> "/dev/tcp/127.0.0.1/$1" && printf 'PING\r\n' >&3 && IFS= read -r -t 2 answer <&3 && [ "${answer%$'\r'}" = +PONG ]) 2> /dev/null
}
