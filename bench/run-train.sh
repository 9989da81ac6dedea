#!/bin/sh
# Speed of training beside PyTorch on the CPU: the same model, the same batches, alternating runs with one thread and with
# two, real tokens counted; 8 to 10 minutes on two Zen 3 cores. The result lies in bench/results/train-MACHINE.json.
# Usage: DATA=DIR bench/run-train.sh [BUILD] [arguments of bench/peer/compare_train.py, e.g. --rounds 5 --updates 300]
# DIR holds multi30k/train.en.gz and train.de.gz. PEER_PYTHON names a Python that has torch; without it one is made under
# .cache/ from PyPI (several GB). Everything but the result stays under .cache/.
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
PYTHONDONTWRITEBYTECODE=1 exec "$python" bench/peer/compare_train.py --trainer "$trainer" --data "$DATA" --revision "$revision" "$@"
