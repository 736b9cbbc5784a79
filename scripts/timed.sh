#!/usr/bin/env bash
# Runs a stage of a make target and prints how long it took: timed.sh NAME COMMAND...
set -euo pipefail

stage=$1
shift
started=$SECONDS
echo "== $stage: $*"
status=0
"$@" || status=$?
took=$((SECONDS - started))
if ((status == 0)); then
    echo "== $stage: done in ${took} s"
else
    echo "== $stage: failed with status $status after ${took} s" >&2
fi
exit "$status"
