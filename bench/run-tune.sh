#!/bin/sh
# Compares settings of a recipe at equal CPU time: bench/tune/main.py, which continues where it stopped (SIGTERM is fine).
# Usage: DATA=DIR bench/run-tune.sh [BUILD] [bench/tune/PLAN.json] [--minutes N] [--only NAME,...]
# DIR is made by scripts/get-data. Sixteen runs of five minutes of one core each; start it twice with --only for two cores.
set -eu

needs=dragoman-train
. "$(dirname "$0")/start.sh"
case "${1-}" in
    *.json) plan=$1; shift ;;
    *) plan=bench/tune/en-de.json ;;
esac
need_data multi30k/train.en.gz
exec python3 bench/tune/main.py "$plan" --trainer "$build/bin/dragoman-train" --data "$DATA" --revision "$revision" "$@"
