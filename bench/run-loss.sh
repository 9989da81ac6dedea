#!/bin/sh
# Loss curves of dragoman-train and PyTorch with the same settings on Multi30k, two seeds each: four runs of about an hour
# of one core. Started again, it continues where it stopped (MINUTES=30 for a slice of half an hour; SIGTERM is fine, too), and
# writes the results so far to bench/results/loss-multi30k.json and .svg.
# Usage: DATA=DIR [MINUTES=N] bench/run-loss.sh [BUILD] [arguments of bench/peer/compare_loss.py, e.g. --only pytorch-1]
# DIR holds multi30k/{train,val}.{en,de}.gz and test/multi30k_test_2016_flickr.{en,de}.gz. PEER_PYTHON as in run-train.sh.
set -eu

needs=dragoman-train
. "$(dirname "$0")/start.sh"
need_data multi30k/train.en.gz
need_torch
exec "$python" bench/peer/compare_loss.py --trainer "$build/bin/dragoman-train" --data "$DATA" \
    --revision "$revision" ${MINUTES:+--minutes "$MINUTES"} "$@"
