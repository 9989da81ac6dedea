#!/bin/sh
# How time grows with length, beam, rows, vocabulary and threads: bench/scale.py. About four minutes.
# Usage: bench/run-scale.sh [BUILD] [--quick] [--cpu-time]
set -eu

cd "$(dirname "$0")/.."
build=build/release
case "${1-}" in
    ''|-*) ;;
    *) build=$1; shift ;;
esac
[ -x "$build/bin/step-bench" ] || { echo "bench: $build/bin/step-bench is not there; run make build" >&2; exit 1; }
revision=$(git describe --always --dirty 2>/dev/null || echo unknown)
mkdir -p bench/results
PYTHONDONTWRITEBYTECODE=1 exec python3 bench/scale.py --programs "$build/bin" --out bench/results --revision "$revision" "$@"
