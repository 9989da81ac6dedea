#!/bin/sh
# Speed on the CPU beside CTranslate2, int8 and float32: the same random base-size weights, forced lengths, alternating
# runs; 10 to 15 minutes. Usage: bench/run-cpu.sh [BUILD] [arguments of bench/peer/compare.py, e.g. --only "int8 latency"]
# Needs python3-venv and PyPI for the peer. Everything but the result stays under .cache/.
set -eu

needs="dragoman step-bench limits-bench random-shortlist"
. "$(dirname "$0")/start.sh"
dragoman=$build/bin/dragoman
venv=.cache/bench-venv
work=.cache/bench
peer=bench/peer

if ! "$venv/bin/python" -c 'import ctranslate2, numpy, yaml' 2>/dev/null; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet ctranslate2 numpy pyyaml
fi
if [ ! -f "$work/model.npz" ]; then
    "$venv/bin/python" $peer/make_model.py --out "$work"
fi
if [ ! -f "$work/ct2/model.bin" ]; then
    "$venv/bin/python" $peer/ct2.py convert --model "$work/model.npz" --vocab "$work/vocab.yml" --out "$work/ct2"
fi
# Always anew: the bundles' packed layouts belong to this build.
rm -rf "$work/bundle" "$work/int8" "$work/short"
"$dragoman" convert marian --model "$work/model.npz" --vocab "$work/vocab.yml" --vocab "$work/vocab.yml" \
    --source-lang en --target-lang de --positions halves --out "$work/bundle" >/dev/null
"$dragoman" quantize "$work/bundle" --out "$work/int8" >/dev/null
# As long as lists from training text are (docs/models.md): 100 pieces of each source piece, 200 always.
cp -R "$work/int8" "$work/short"
"$build/bin/random-shortlist" "$work/short" 100 200

exec "$venv/bin/python" $peer/compare.py --programs "$build/bin" --bundle "$work/bundle" \
    --int8 "$work/int8" --short "$work/short" --peer "$work/ct2" --sentences "$work/sentences.txt" --out bench/results --revision "$revision" "$@"
