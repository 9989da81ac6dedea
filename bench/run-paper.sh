#!/bin/sh
# The paper's tables on this machine. Started again, a part continues where it stopped; `report` writes the results into docs/paper.md.
# Usage: [DATA=DIR] bench/run-paper.sh PART [BUILD] [arguments of bench/paper/PART.py]
# PART: table1, table2, grid, positions, parsing, decoding, figures, report.
set -eu

part=${1-report}
[ $# -eq 0 ] || shift
case $part in
    table1) needs= ;;
    report) needs=dragoman-train ;;
    table2|grid|positions|parsing|decoding) needs="dragoman dragoman-train" ;;
    figures) needs=dragoman ;;
    *) echo "bench: there is no part \"$part\" of the paper: see the head of bench/run-paper.sh" >&2; exit 1 ;;
esac
. "$(dirname "$0")/start.sh"
scripts/test-env
export DRAGOMAN_BUILD="$build"
case $part in
    report|figures) ;; # these measure nothing
    *) set -- --revision "$revision" "$@" ;;
esac
exec .venv/bin/python3 "bench/paper/$part.py" "$@"
