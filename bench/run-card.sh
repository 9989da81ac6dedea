#!/bin/sh
# Scores, flags, speed and sentences for model cards: bench/card/main.py, which keeps its results in .cache/.
# Usage: DATA=DIR [BUNDLES="DIR ..."] bench/run-card.sh [BUILD] [--pairs en-de,...] [--sets NAME,...] [--lines N] [--rerank]
# DIR is made by scripts/get-data; the default bundles are those of weights/bundles. Takes some minutes for each direction.
set -eu

needs="dragoman dragoman-train"
. "$(dirname "$0")/start.sh"
need_data multi30k/val.en.gz
# shellcheck disable=SC2086 # several folders
exec python3 bench/card/main.py --dragoman "$build/bin/dragoman" --trainer "$build/bin/dragoman-train" --data "$DATA" "$@" \
    ${BUNDLES:-weights/bundles/*}
