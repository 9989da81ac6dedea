#!/bin/sh
# CPU time compared with an earlier revision (BEFORE=d48fe55, when server/ had no subfolders yet), in alternating pairs of runs:
# HTTP with and without cache hits, the base int8 step at 4 and 128 rows. Takes a quarter of an hour, plus the other revision's build.
# Usage: bench/run-pairs.sh [BUILD] [--quick] [--pairs N] [--only cached,uncached,rows-4,rows-128]
# The other revision is checked out and built under .cache/pairs/.
set -eu

needs="dragoman-server dragoman-load step-bench"
. "$(dirname "$0")/start.sh"
before=$(git rev-parse --short "${BEFORE:-d48fe55}")
tree=.cache/pairs/$before
if [ ! -x "$tree/build/release/bin/step-bench" ]; then
    mkdir -p .cache/pairs
    git worktree prune
    [ -d "$tree" ] || git worktree add --detach "$tree" "$before" >/dev/null
    (cd "$tree" && cmake --preset release --log-level=WARNING &&
        cmake --build --preset release --target dragoman-server step-bench) >&2
fi
exec python3 bench/pairs/main.py --programs "$build/bin" --before "$tree/build/release/bin" \
    --models "${MODELS:-$tree/weights/bundles}" --out "bench/results/pairs.json" \
    --revision "$revision" --before-revision "$before" "$@"
