#!/bin/sh
# Speed on the CPU beside CTranslate2, int8 and float32: the same random base-size weights, forced lengths, alternating
# runs; 10 to 15 minutes. Usage: bench/run-cpu.sh [BUILD] [--brief] [arguments of bench/peer/compare.py, e.g. --only "int8 latency"]
# --brief: at most five minutes; writes nothing and reports what has become slower; then compares a pair of Firefox's tiny shape with
# the Bergamot engine, if there is a CPython 3.10 ($PYTHON310, python3.10).
# Needs python3-venv and PyPI for the peers. Everything but the result stays under .cache/.
set -eu

needs="dragoman step-bench limits-bench random-shortlist"
. "$(dirname "$0")/start.sh"
work=.cache/bench

need_ctranslate2
make_shape "$work"
if [ ! -f "$work/ct2/model.bin" ]; then
    "$python" bench/peer/ct2.py convert --model "$work/model.npz" --vocab "$work/vocab.yml" --out "$work/ct2"
fi
rm -rf "$work/short"
# As long as lists learned from training text (docs/models.md): 100 pieces per source piece, and 200 that are always in.
cp -R "$work/int8" "$work/short"
"$build/bin/random-shortlist" "$work/short" 100 200

"$python" bench/peer/compare.py --programs "$build/bin" --bundle "$work/bundle" --int8 "$work/int8" --short "$work/short" \
    --peer "$work/ct2" --peer-int8 "$work/ct2-int8" --sentences "$work/sentences.txt" --out bench/results --revision "$revision" "$@"

case " $* " in
    *" --brief "*) ;;
    *) exit 0 ;;
esac
if [ -e .cache/family-venv-310/bin/python ] || command -v "${PYTHON310:-python3.10}" >/dev/null; then
    exec bench/run-family.sh "$build" student --pairs 1 --out "$work"
fi
echo "bench: beside the Bergamot engine nothing is measured: there is no CPython 3.10 (PYTHON310=PATH)"
