#!/bin/sh
# Ninety pairs from one process in 1 GB (docs/operations.md, "More models than memory"): memory, first answers, failures.
# Usage: bench/run-many.sh [BUILD] [--memory BYTES] [--seconds N] [--flag=--batch-rows=32 ...]
# Takes three minutes and 3 GB under .cache/bench-many. Python needs numpy and requests.
set -eu

needs="dragoman dragoman-server random-shortlist"
. "$(dirname "$0")/start.sh"
exec python3 bench/many/main.py --programs "$build/bin" --spm weights/bundles/en-de-fr/joint.spm --work .cache/bench-many \
    --out bench/results --revision "$revision" "$@"
