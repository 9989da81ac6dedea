# Sourced by the run-*.sh in this folder: checks the programs that $needs names, and sets the build folder and the revision.
# Usage: needs="dragoman step-bench"; . "$(dirname "$0")/start.sh"
# Removes BUILD from the arguments if it is the first one.

cd "$(dirname "$0")/.."
build=build/release
case "${1-}" in
    ''|-*) ;;
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

# Checks that $DATA is a folder with Multi30k, and sets $python, which has torch: $PEER_PYTHON, or one that it installs under .cache/
# from PyPI (several GB).
need_multi30k_and_torch()
{
    [ -f "${DATA-}/multi30k/train.en.gz" ] || { echo "bench: DATA must name a folder with multi30k/train.en.gz" >&2; exit 1; }
    python=${PEER_PYTHON-.cache/bench-torch-venv/bin/python}
    if ! "$python" -c 'import torch, numpy' 2>/dev/null; then
        [ -z "${PEER_PYTHON-}" ] || { echo "bench: $PEER_PYTHON has no torch" >&2; exit 1; }
        python3 -m venv .cache/bench-torch-venv
        .cache/bench-torch-venv/bin/pip install --quiet torch numpy
    fi
}
