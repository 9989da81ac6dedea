#!/bin/sh
# How time grows with length, beam, rows, vocabulary and threads: bench/scale.py. Takes about four minutes.
# Usage: bench/run-scale.sh [BUILD] [--quick] [--cpu-time]
set -eu

needs=step-bench
. "$(dirname "$0")/start.sh"
exec python3 bench/scale.py --programs "$build/bin" --out bench/results --revision "$revision" "$@"
