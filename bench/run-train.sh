#!/bin/sh
# Speed of training compared with PyTorch on the CPU: the same model, the same batches, alternating runs with one thread and with
# two; only real tokens count. Takes 8 to 10 minutes on two Zen 3 cores, 12 with bf16. The result is in
# bench/results/train-MACHINE.json.
# Usage: DATA=DIR bench/run-train.sh [BUILD] [arguments of bench/peer/compare_train.py, e.g. --rounds 5 --updates 300]
# DIR holds multi30k/train.en.gz and train.de.gz. PEER_PYTHON is a Python that has torch; by default one is installed
# under .cache/ from PyPI (several GB). Everything but the result stays under .cache/.
set -eu

needs=dragoman-train
. "$(dirname "$0")/start.sh"
need_data multi30k/train.en.gz
need_torch
exec "$python" bench/peer/compare_train.py --trainer "$build/bin/dragoman-train" --data "$DATA" --revision "$revision" "$@"
