# Sourced by the scripts beside it: sets $JAVA25 and $class_path, and fetches Trino's jars if they are missing (about 480 MB).
# One coordinator in one JVM, made of the published jars; the server's own archive is not published for this version.
trino_version=${TRINO_VERSION:-483}
cache=${INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/timelake-interop}/trino-$trino_version
mkdir -p "$cache"

# java25: the folder of a JDK 25 or newer, or nothing. Trino runs on no older one.
java25() {
  local candidate
  for candidate in "${JAVA25_HOME:-}" /usr/lib/jvm/*25* "${JAVA_HOME:-}"; do
    if [ -x "$candidate/bin/javac" ] && [[ $("$candidate/bin/javac" -version 2>&1) =~ ^javac\ (2[5-9]|[3-9][0-9]) ]]; then
      echo "$candidate"
      return
    fi
  done
}

trino_jars() {
  JAVA25=$(java25)
  if [ -z "$JAVA25" ]; then
    echo 'Trino needs a JDK 25, and this machine has none (Debian 13: openjdk-25-jdk-headless); JAVA25_HOME names one elsewhere' >&2
    return 1
  fi
  exec 8> "$cache/lock" && flock 8
  if [ ! -s "$cache/classpath" ]; then
    cat > "$cache/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>interop</groupId><artifactId>trino</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>io.trino</groupId><artifactId>trino-testing</artifactId><version>$trino_version</version></dependency>
    <dependency><groupId>io.trino</groupId><artifactId>trino-iceberg</artifactId><version>$trino_version</version></dependency>
  </dependencies>
</project>
POM
    (cd "$cache" && JAVA_HOME=$JAVA25 mvn -q -B dependency:build-classpath -Dmdep.outputFile=classpath.new >&2 && mv classpath.new classpath)
  fi
  if [ "$trino_sources/TrinoServer.java" -nt "$cache/classes/TrinoServer.class" ]; then
    mkdir -p "$cache/classes"
    "$JAVA25/bin/javac" -proc:none -cp "$(cat "$cache/classpath")" -d "$cache/classes" "$trino_sources/TrinoServer.java"
  fi
  flock -u 8
  class_path=$cache/classes:$(cat "$cache/classpath")
}
trino_sources=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
