#!/bin/sh
# Scores, flags, speed and sentences for model cards: bench/card/main.py, which keeps in .cache/ what it has measured.
# Usage: DATA=DIR [BUNDLES="DIR ..."] bench/run-card.sh [BUILD] [--pairs en-de,...] [--sets NAME,...] [--lines N]
# DIR as scripts/get-data makes it; the bundles are those of weights/bundles where none are named. Some minutes for each direction.
set -eu

needs="dragoman dragoman-train"
. "$(dirname "$0")/start.sh"
[ -f "${DATA-}/multi30k/val.en.gz" ] || { echo "bench: DATA must name a folder with multi30k/val.en.gz" >&2; exit 1; }
# shellcheck disable=SC2086 # several folders
exec python3 bench/card/main.py --dragoman "$build/bin/dragoman" --trainer "$build/bin/dragoman-train" --data "$DATA" "$@" \
    ${BUNDLES:-weights/bundles/*}
