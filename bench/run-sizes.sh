#!/bin/sh
# Speed on realistic sizes compared with CTranslate2: short and long sentences, a big model and its start. Takes ten minutes.
# Usage: bench/run-sizes.sh [BUILD] [--only "base 250"] [--pairs N]
# Needs python3-venv and PyPI for the peer. Everything but the result stays under .cache/.
set -eu

needs="dragoman"
. "$(dirname "$0")/start.sh"
dragoman=$build/bin/dragoman
venv=.cache/bench-venv
work=.cache/bench-sizes
peer=bench/peer

if ! "$venv/bin/python" -c 'import ctranslate2, numpy, yaml' 2>/dev/null; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet ctranslate2 numpy pyyaml
fi
make_shape()
{
    folder=$work/$1
    shift
    if [ ! -f "$folder/ct2-int8/model.bin" ]; then
        "$venv/bin/python" $peer/make_model.py --out "$folder" "$@"
        "$venv/bin/python" $peer/ct2.py convert --model "$folder/model.npz" --vocab "$folder/vocab.yml" --out "$folder/ct2-int8" --quantization int8
    fi
    rm -rf "$folder/bundle" "$folder/int8"
    "$dragoman" convert marian --model "$folder/model.npz" --vocab "$folder/vocab.yml" --vocab "$folder/vocab.yml" \
        --source-lang en --target-lang de --positions halves --out "$folder/bundle" >/dev/null
    "$dragoman" quantize "$folder/bundle" --out "$folder/int8" >/dev/null
    rm -rf "$folder/bundle"
}
make_shape base --sentences 512
make_shape big --d-model 1024 --d-ff 4096 --heads 16 --sentences 64

exec "$venv/bin/python" $peer/sizes.py --programs "$build/bin" --work "$work" --out bench/results --revision "$revision" "$@"
