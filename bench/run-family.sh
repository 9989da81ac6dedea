#!/bin/sh
# Speed with other programs' models compared with those programs, on one core: the same files, with random weights in real shapes.
# Usage: bench/run-family.sh [BUILD] [student] [argos] [opus] [nllb] [arguments of bench/family/main.py]; all four by default.
# Installs the peers from PyPI: ctranslate2, and bergamot 0.4.5, which needs a CPython 3.10 ($PYTHON310, python3.10). Making nllb's
# file takes 6 GB of memory. Everything but the result stays under .cache/.
set -eu

needs="dragoman random-shortlist"
case "${1-}" in
    student|argos|opus|nllb) set -- build/release "$@" ;;
esac
. "$(dirname "$0")/start.sh"
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE || true
venv=.cache/family-venv
bergamot=.cache/family-venv-310

if ! "$venv/bin/python" -c 'import ctranslate2, numpy, sentencepiece, google.protobuf' 2>/dev/null; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet ctranslate2==4.8.5 numpy sentencepiece protobuf
fi
families=
while [ $# -gt 0 ]; do
    case "$1" in
        student|argos|opus|nllb) families="$families $1"; shift ;;
        *) break ;;
    esac
done
: "${families:=student argos opus nllb}"
case "$families" in
    *student*)
        if [ ! -e "$bergamot/bin/python" ]; then
            "${PYTHON310:-python3.10}" -m venv "$bergamot"
            "$bergamot/bin/pip" install --quiet bergamot==0.4.5
        fi ;;
esac

# shellcheck disable=SC2086
exec "$venv/bin/python" bench/family/main.py $families --programs "$build/bin" --work .cache/family --out bench/results \
    --bergamot "$bergamot/bin/python" --revision "$revision" "$@"
