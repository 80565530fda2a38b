# Sourced by the scripts beside it: sets $venv and $JAVA_HOME, and makes the environment if it is missing (about 516 MB).
# Iceberg's runtime jar has a line of its own for each Spark; 4.1 is the newest with one.
spark_version=${SPARK_VERSION:-4.1.4}
runtime_line=${SPARK_RUNTIME:-4.1_2.13}
iceberg_version=${ICEBERG_VERSION:-1.12.0}
cache=${INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/timelake-interop}
venv=$cache/spark-$spark_version
jars=$cache/jars
mkdir -p "$jars"

# Spark 4 runs on 17 and 21.
for candidate in "${JAVA17_HOME:-}" /usr/lib/jvm/java-17-openjdk-* /usr/lib/jvm/java-21-openjdk-* "${JAVA_HOME:-}" \
  "$(dirname "$(dirname "$(readlink -f "$(command -v java || echo ./missing/missing)")")")"; do
  if [ -x "$candidate/bin/java" ]; then export JAVA_HOME=$candidate; break; fi
done

exec 8> "$cache/spark.lock" && flock 8
if [ ! -e "$venv/.complete" ]; then
  rm -rf "$venv" && python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check "pyspark==$spark_version"
  touch "$venv/.complete"
fi
flock -u 8

# jar ARTIFACT: the path of that jar of Iceberg, fetched once.
jar() {
  local file=$jars/$1-$iceberg_version.jar
  exec 8> "$cache/spark.lock" && flock 8
  [ -e "$file" ] || mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
    -Dartifact="org.apache.iceberg:$1:$iceberg_version" -DoutputDirectory="$jars" >&2
  flock -u 8
  echo "$file"
}

# iceberg_jars: sets ICEBERG_JARS; the classes for S3 come along when S3_ENDPOINT is set.
iceberg_jars() {
  ICEBERG_JARS=$(jar "iceberg-spark-runtime-$runtime_line")
  [ -z "${S3_ENDPOINT:-}" ] || ICEBERG_JARS=$ICEBERG_JARS,$(jar iceberg-aws-bundle)
  export ICEBERG_JARS
}
