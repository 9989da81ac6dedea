# Sourced by the run-*.sh in this folder: checks the programs that $needs names, and sets the build folder and the revision.
# Usage: needs="dragoman step-bench"; . "$(dirname "$0")/start.sh"
# Removes BUILD from the arguments if it is the first one.

cd "$(dirname "$0")/.."
build=build/release
case "${1-}" in
    ''|-*|*.json) ;;
    *) build=$1; shift ;;
esac
for program in $needs; do
    [ -x "$build/bin/$program" ] || { echo "bench: $build/bin/$program is not there; run make build" >&2; exit 1; }
done
revision=$(git describe --always --dirty 2>/dev/null || echo unknown)
mkdir -p bench/results
export PYTHONDONTWRITEBYTECODE=1
# Settings of thread and matrix libraries would tune only one side.
for variable in $(env | sed -n 's/^\(\(OPENBLAS\|GOTO\|OMP\|GOMP\|KMP\|MKL\|DNNL\|ONEDNN\|BLIS\|CT2\)_[A-Z0-9_]*\)=.*/\1/p'); do
    echo "bench: $variable is cleared for all sides" >&2
    unset "$variable"
done

# Checks that $DATA is a folder with this file.
need_data()
{
    [ -f "${DATA-}/$1" ] || { echo "bench: DATA must name a folder with $1" >&2; exit 1; }
}

# Sets $python, which has torch: $PEER_PYTHON, or one that it installs under .cache/ from PyPI (several GB).
need_torch()
{
    python=${PEER_PYTHON-.cache/bench-torch-venv/bin/python}
    if ! "$python" -c 'import torch, numpy' 2>/dev/null; then
        [ -z "${PEER_PYTHON-}" ] || { echo "bench: $PEER_PYTHON has no torch" >&2; exit 1; }
        python3 -m venv .cache/bench-torch-venv
        .cache/bench-torch-venv/bin/pip install --quiet torch numpy
    fi
}

# Sets $python, which has ctranslate2: installs it under .cache/ from PyPI.
need_ctranslate2()
{
    python=.cache/bench-venv/bin/python
    if ! "$python" -c 'import ctranslate2, numpy, yaml' 2>/dev/null; then
        python3 -m venv .cache/bench-venv
        .cache/bench-venv/bin/pip install --quiet ctranslate2 numpy pyyaml
    fi
}

# Random weights of one shape in FOLDER, after need_ctranslate2: sentences.txt, model.npz and vocab.yml, from these ct2-int8 for the
# peer, and bundle and int8 for us. Usage: make_shape FOLDER [options of bench/peer/make_model.py]
make_shape()
{
    folder=$1
    shift
    if [ ! -f "$folder/ct2-int8/model.bin" ]; then
        "$python" bench/peer/make_model.py --out "$folder" "$@"
        "$python" bench/peer/ct2.py convert --model "$folder/model.npz" --vocab "$folder/vocab.yml" --out "$folder/ct2-int8" --quantization int8
    fi
    # Always made again, because the bundles' packed layouts depend on the build.
    rm -rf "$folder/bundle" "$folder/int8"
    "$build/bin/dragoman" convert marian --model "$folder/model.npz" --vocab "$folder/vocab.yml" --vocab "$folder/vocab.yml" \
        --source-lang en --target-lang de --positions halves --out "$folder/bundle" >/dev/null
    "$build/bin/dragoman" quantize "$folder/bundle" --out "$folder/int8" >/dev/null
}
