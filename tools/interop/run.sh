#!/usr/bin/env bash
# Other people's clients and kits against the server that `npm start` starts, each on a data directory of its own, or on a
# database, a Redis database and a place in a bucket of its own (services).
#
#   run.sh [--only JUDGE[,JUDGE…]] [--mode embedded|services] [--lanes N] [--full] [--list] [--verbose] [--keep]
#
# Brings what is missing into ${INTEROP_CACHE:-~/.cache/timelake-interop} first (about 1.7 GB, once). README.md says what each
# judge is. Last line: N passed, N failed, N skipped; exit status 0 only if nothing failed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
case " $* " in *' --list '*) ;; *) "$here/provision.sh" ;; esac
exec python3 "$here/run.py" "$@"
