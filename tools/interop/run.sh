#!/usr/bin/env bash
# Other people's clients and kits against the server that `npm start` starts, each on a data directory of its own.
#
#   run.sh [--only JUDGE[,JUDGE…]] [--list] [--verbose] [--keep]
#
# Brings what is missing into ${INTEROP_CACHE:-~/.cache/timelake-interop} first (about 500 MB, once). README.md says what each
# judge is. Last line: N passed, N failed, N skipped; exit status 0 only if nothing failed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
case " $* " in *' --list '*) ;; *) "$here/provision.sh" ;; esac
exec python3 "$here/run.py" "$@"
