#!/bin/sh
# Training compared with Marian on the CPU: the same small recipe on Multi30k, the same vocabulary, batch budget and schedule, one
# thread, alternating runs. One program scores both models. The result is in bench/results/marian-MACHINE.json and .md.
# Usage: DATA=DIR bench/run-marian.sh [BUILD] [arguments of bench/marian/compare.py, e.g. --updates 200 --rounds 2]
# DIR holds multi30k/train.{en,de}.gz and test/multi30k_test_2016_flickr.{en,de}.gz. MARIAN is the path of a `pymarian`; by default
# one is installed under .cache/ from PyPI (600 MB, for CPython 3.11). Everything but the result stays under .cache/.
set -eu

needs="dragoman-train dragoman"
. "$(dirname "$0")/start.sh"
need_data multi30k/train.en.gz
marian=${MARIAN-.cache/bench-marian-venv/bin/pymarian}
if ! "$marian" --version >/dev/null 2>&1; then
    [ -z "${MARIAN-}" ] || { echo "bench: $MARIAN does not run" >&2; exit 1; }
    python3.11 -m venv .cache/bench-marian-venv
    .cache/bench-marian-venv/bin/pip install --quiet pymarian==1.12.42
fi
exec python3 bench/marian/compare.py --build "$build/bin" --marian "$marian" --data "$DATA" --revision "$revision" "$@"
