#!/bin/sh
# Speed on a GPU: a sentence and a decoder step of the base model (random weights, vocabulary 32,000, 27 pieces in and out,
# forced), beam 1 and 4, 1 to 256 sentences, each precision; in bf16 also with the search on the host and with steps recorded as graphs
# (DRAGOMAN_CUDA_STEP); beside PyTorch, where python3 has it: eager, and compiled with a
# static cache. Then an update of training, base and big, beside PyTorch eager and compiled. Nothing is compiled here or downloaded. Writes one JSON object.
# Usage: bench/gpu/run.sh [BUILD] [OUT.json]   (default build/release, bench/results/gpu-<device>.json)
set -eu
cd "$(dirname "$0")/../.."
build=${1-build/release}
name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1 | tr 'A-Z ' 'a-z-')
[ -n "$name" ] || { echo "bench-gpu: nvidia-smi names no device" >&2; exit 77; }
out=${2-bench/results/gpu-$name.json}
. scripts/gpu-env
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

steps() { # steps OUT PRECISION WAY
    for beam in 1 4; do
        for sentences in 1 8 64 256; do
            DRAGOMAN_CUDA_STEP=$3 "$build/bin/step-bench" --type f32 --device cuda --precision $2 --beam $beam \
                --sentences $sentences --reps 5 >>"$1" || echo "failed: $2, beam $beam, $sentences" >&2
        done
    done
}
for precision in fp32 fp16 bf16; do
    steps "$work/ours.jsonl" $precision device
done
steps "$work/host.jsonl" bf16 host
steps "$work/graph.jsonl" bf16 graph
python3 bench/gpu/torch_decode.py >"$work/torch.jsonl" 2>"$work/torch.err" || tail -3 "$work/torch.err" >&2
for model in base big; do
    for precision in fp32 bf16; do
        "$build/bin/train-bench" --model $model --device cuda --precision $precision --updates 10 >>"$work/train.jsonl" ||
            echo "failed: training $model, $precision" >&2
    done
done
python3 bench/gpu/torch_train.py >"$work/torch_train.jsonl" 2>"$work/torch.err" || tail -3 "$work/torch.err" >&2
mkdir -p "$(dirname "$out")"
python3 bench/gpu/report.py --ours "$work/ours.jsonl" --ours-host "$work/host.jsonl" \
    --ours-graph "$work/graph.jsonl" --torch "$work/torch.jsonl" \
    --train "$work/train.jsonl" --torch-train "$work/torch_train.jsonl" --out "$out" \
    --revision "$(git describe --always --dirty 2>/dev/null || echo unknown)"
