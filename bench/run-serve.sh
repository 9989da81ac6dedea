#!/bin/sh
# Latency and throughput over HTTP on this machine, against what is promised: docs/serving-bench.md.
# Usage: bench/run-serve.sh [BUILD] [--quick] [--only mixed,overload,...] [--models BUNDLE] [--repetitions N]
# Takes about an hour; --quick a minute or two, without meaning. Everything but the result stays under .cache/.
set -eu

cd "$(dirname "$0")/.."
build=build/release
case "${1-}" in
    ''|-*) ;;
    *) build=$1; shift ;;
esac
for program in dragoman-server dragoman-load dragoman-sim make-tiny-bundle; do
    [ -x "$build/bin/$program" ] || { echo "bench: $build/bin/$program is not there; run make build" >&2; exit 1; }
done

revision=$(git describe --always --dirty 2>/dev/null || echo unknown)
mkdir -p bench/results .cache/bench-serve
PYTHONDONTWRITEBYTECODE=1 exec python3 bench/serve/main.py --programs "$build/bin" --models "${MODELS:-weights/bundles}" \
    --work .cache/bench-serve --out bench/results --revision "$revision" "$@"
