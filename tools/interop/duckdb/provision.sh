# Sourced by the scripts beside it: sets $cache, $venv, $extensions (a folder with avro, httpfs and iceberg .duckdb_extension files).
# The extension files come from PyPI packages (DuckDB's own extension host is not needed) and load only into the very same
# DuckDB version: 1.5.5 is the newest with a package. From Node the same files load into @duckdb/node-api 1.5.5-r.N.
version=${DUCKDB_VERSION:-1.5.5}
cache=${INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/timelake-interop}
venv=$cache/duckdb-$version
extensions=$venv/extensions
mkdir -p "$cache"
exec 8> "$cache/duckdb.lock" && flock 8
packages=("duckdb==$version" "duckdb-extension-avro==$version" "duckdb-extension-httpfs==$version" "duckdb-extension-iceberg==$version"
  'pyiceberg[pyarrow,pyiceberg-core]==0.12.0' pyarrow==26.0.1 requests pytz)
if [ "$(cat "$venv/ready" 2> /dev/null)" != "${packages[*]}" ]; then
  rm -rf "$venv" && python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check "${packages[@]}"
  mkdir "$extensions"
  for name in avro httpfs iceberg; do
    ln -s "$("$venv/bin/python" -c "import glob, site; print(glob.glob(site.getsitepackages()[0] + '/duckdb_extension_$name/extensions/*/$name.duckdb_extension')[0])")" "$extensions/"
  done
  echo "${packages[*]}" > "$venv/ready"
fi
flock -u 8
