#!/bin/sh
# Speed on realistic sizes compared with CTranslate2: short and long sentences, a big model and its start. Takes ten minutes.
# Usage: bench/run-sizes.sh [BUILD] [--only "base 250"] [--pairs N]
# Needs python3-venv and PyPI for the peer. Everything but the result stays under .cache/.
set -eu

needs="dragoman"
. "$(dirname "$0")/start.sh"
work=.cache/bench-sizes

need_ctranslate2
make_shape "$work/base" --sentences 512
make_shape "$work/big" --d-model 1024 --d-ff 4096 --heads 16 --sentences 64
rm -rf "$work/base/bundle" "$work/big/bundle"

exec "$python" bench/peer/sizes.py --programs "$build/bin" --work "$work" --out bench/results --revision "$revision" "$@"
