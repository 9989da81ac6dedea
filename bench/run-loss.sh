#!/bin/sh
# Loss curves of dragoman-train and PyTorch with the same settings on Multi30k, two seeds each: four runs of about an hour
# of one core. It goes on where it stopped (MINUTES=30 for a slice of half an hour; SIGTERM is fine, too) and writes what
# there is to bench/results/loss-multi30k.json and .svg.
# Usage: DATA=DIR [MINUTES=N] bench/run-loss.sh [BUILD] [arguments of bench/peer/compare_loss.py, e.g. --only pytorch-1]
# DIR holds multi30k/{train,val}.{en,de}.gz and test/multi30k_test_2016_flickr.{en,de}.gz. PEER_PYTHON as in run-train.sh.
set -eu

cd "$(dirname "$0")/.."
build=build/release
case "${1-}" in
    ''|-*) ;;
    *) build=$1; shift ;;
esac
trainer=$build/bin/dragoman-train
python=${PEER_PYTHON-.cache/bench-torch-venv/bin/python}

[ -x "$trainer" ] || { echo "bench: $trainer is not there; run make build" >&2; exit 1; }
[ -f "${DATA-}/multi30k/train.en.gz" ] || { echo "bench: DATA must name a folder with multi30k/train.en.gz" >&2; exit 1; }

if ! "$python" -c 'import torch, numpy' 2>/dev/null; then
    [ -z "${PEER_PYTHON-}" ] || { echo "bench: $PEER_PYTHON has no torch" >&2; exit 1; }
    python3 -m venv .cache/bench-torch-venv
    .cache/bench-torch-venv/bin/pip install --quiet torch numpy
fi
revision=$(git describe --always --dirty 2>/dev/null || echo unknown)
PYTHONDONTWRITEBYTECODE=1 exec "$python" bench/peer/compare_loss.py --trainer "$trainer" --data "$DATA" \
    --revision "$revision" ${MINUTES:+--minutes "$MINUTES"} "$@"
