#!/usr/bin/env bash
# Runs Apache Iceberg's REST Compatibility Kit (1.11.0) against a running catalog.
#
#   run.sh URI [--catalog|--views|--all] [--wide] [--kit-locations] [--server-planning] [--clean] [--only METHOD[,METHOD…]]
#
#   --catalog  101 table and namespace methods      --views  50 view methods      --all  both (default)
#   --wide     the catalog class with nested namespaces, names with slashes and with dots turned on; with KIT_BASE, a location inside
#              the warehouse, the view class asks for places below it instead of below file:/tmp
#   --kit-locations     only the nine methods that ask for a table location, with the kit's own below file:/tmp (with --wide;
#              otherwise --wide asks for places below the namespace's location)
#   --server-planning   every planFiles() of the kit goes through the server's planning routes
#   --clean    first drop the kit's own namespaces with all their tables and views (a failed run leaves them behind)
#   --only     names of single methods, e.g. --only testAppend,testBasicCreateTable
#
# Environment: any CATALOG_* becomes a client property (CATALOG_ removed, __ → -, _ → ., lower case):
#   CATALOG_TOKEN, CATALOG_CREDENTIAL, CATALOG_OAUTH2__SERVER__URI, CATALOG_WAREHOUSE, CATALOG_IO__IMPL, CATALOG_S3_ENDPOINT…
#   RCK_PROPS="key=value key=value"  properties whose names have capitals
#   RCK_NAMESPACE_REQUIRED=true|unset  does the server refuse a table in a missing namespace (default true)
#   RCK_LOCATION_OVERRIDDEN=false    true when the server ignores a requested table location
#   RCK_SERVER_RETRY=true            false when the server does not merge non-conflicting commits
#   RCK_HEAP=1500m  JAVA_HOME  INTEROP_CACHE  RCK_LOG=off|warn|debug
# The server must not contain the namespaces ns, newdb, ns1, ns2, other_ns; the kit empties and drops them after each test.
# It drops tables without purging them: if the server gives a new table an old location, empty the warehouse before the
# next run, or dropAfterRenameDoesntCorruptTable finds its files there already.
# Prints failing tests with the first message lines; last line: N passed, N failed, N skipped. Exit status 0 only if all passed.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() { sed -n '2,27p' "$0" >&2; exit 2; }
[ $# -ge 1 ] || usage
case $1 in http://*|https://*) URI=$1 ;; *) usage ;; esac
shift
CATALOG_CLASS=org.apache.iceberg.rest.RESTCompatibilityKitCatalogTests
VIEW_CLASS=org.apache.iceberg.rest.RESTCompatibilityKitViewCatalogTests
WHICH=all
ONLY=
CLEAN=
PROPS=()
while [ $# -gt 0 ]; do
  case $1 in
    --catalog|--views|--all) WHICH=${1#--} ;;
    --wide) CATALOG_CLASS=org.apache.iceberg.rest.WiderCatalogTests VIEW_CLASS=org.apache.iceberg.rest.WiderViewTests
      PROPS+=(-Drck.supports-names-with-dot=true)
      [ -z "${KIT_BASE:-}" ] || PROPS+=("-Dkit.base=$KIT_BASE") ;;
    --kit-locations)
      PROPS+=(-Dkit.locations=own)
      ONLY=testCompleteCreateTable,testCreateTableWithDefaultColumnValue,testLoadTable,testCompleteCreateTransaction
      ONLY+=,testCompleteCreateTransactionMultipleSchemas,testCompleteCreateTransactionV2,testCompleteReplaceTransaction
      ONLY+=,testCompleteCreateOrReplaceTransactionCreate,testCompleteCreateOrReplaceTransactionReplace ;;
    # The client sends no scan report for a remote plan, so the reporter test fails on every server.
    --server-planning) PROPS+=(-Dscan-planning-mode=server -Dkit.known=testCatalogWithCustomMetricsReporter) ;;
    --clean) CLEAN=yes ;;
    --only) ONLY=$2; shift ;;
    *) usage ;;
  esac
  shift
done

case $WHICH in
  catalog) CLASSES=("$CATALOG_CLASS") ;;
  views) CLASSES=("$VIEW_CLASS") ;;
  all) CLASSES=("$CATALOG_CLASS" "$VIEW_CLASS") ;;
esac
[ -z "$ONLY" ] || PROPS+=("-Dkit.only=$ONLY")

# Left unset, the kit's own defaults differ: false for catalog tests, true for view tests.
[ "${RCK_NAMESPACE_REQUIRED:-true}" = unset ] || PROPS+=(-Drck.requires-namespace-create="${RCK_NAMESPACE_REQUIRED:-true}")
for prop in ${RCK_PROPS:-}; do PROPS+=("-D$prop"); done

PROPS+=(-Drck.local=false -Duri="$URI" \
  -Drck.overrides-requested-location="${RCK_LOCATION_OVERRIDDEN:-false}" \
  -Drck.supports-serverside-retry="${RCK_SERVER_RETRY:-true}")

prepare
[ -z "$CLEAN" ] || java_run "${PROPS[@]}" org.apache.iceberg.rest.CleanKit
java_run "${PROPS[@]}" conformance.RunKit "${CLASSES[@]}"
