#!/bin/sh
# Latency and throughput over HTTP on this machine, compared with what is promised: docs/serving-bench.md.
# Usage: bench/run-serve.sh [BUILD] [--quick] [--only mixed,overload,...] [--models BUNDLE] [--repetitions N]
# Takes forty minutes; with --quick a minute or two, but the figures mean nothing. Everything but the result stays under .cache/.
set -eu

needs="dragoman-server dragoman-load dragoman-sim make-tiny-bundle"
. "$(dirname "$0")/start.sh"
mkdir -p .cache/bench-serve
exec python3 bench/serve/main.py --programs "$build/bin" --models "${MODELS:-weights/bundles}" \
    --work .cache/bench-serve --out bench/results --revision "$revision" "$@"
