#!/bin/sh
# Speed on a GPU: a sentence and a decoder step of the base model (random weights, vocabulary 32,000, 27 pieces in and out,
# forced), beam 1 and 4, 1 to 256 sentences, each precision; in bf16 also with the search on the host and with steps recorded as graphs
# (DRAGOMAN_CUDA_STEP); beside PyTorch, where python3 has it: eager, and compiled and recorded with a static cache. Then an update of
# training, base and big, beside PyTorch eager and compiled. Nothing is compiled here or downloaded. Writes one JSON object.
# Usage: bench/gpu/run.sh [BUILD] [OUT.json] [PART...]   (default build/release, bench/results/gpu-<device>.json, all parts)
# Parts: steps torch train torch-train report. Each leaves its lines in $WORK (default build/bench-gpu), where report finds them, so
# that parts may run at different times.
set -eu
cd "$(dirname "$0")/../.."
build=${1-build/release}
name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1 | tr 'A-Z ' 'a-z-')
[ -n "$name" ] || { echo "bench-gpu: nvidia-smi names no device" >&2; exit 77; }
out=${2-bench/results/gpu-$name.json}
if [ $# -gt 2 ]; then shift 2; else set -- steps torch train torch-train report; fi
. scripts/gpu-env
pairs=926 # 25,000 pieces a side, as in the paper (section 5.1)
work=${WORK:-build/bench-gpu}
mkdir -p "$work" "$(dirname "$out")"

way() { # way OUT PRECISION WAY
    : >"$work/$1"
    for beam in 1 4; do
        for sentences in 1 8 64 256; do
            DRAGOMAN_CUDA_STEP=$3 "$build/bin/step-bench" --type f32 --device cuda --precision $2 --beam $beam \
                --sentences $sentences --reps 5 >>"$work/$1" || echo "failed: $2, beam $beam, $sentences, $3" >&2
        done
    done
}

torch() { # torch SCRIPT OUT ARGUMENT...
    script=$1 to=$2
    shift 2
    python3 "bench/gpu/$script" "$@" >"$work/$to" 2>"$work/$to.err" || tail -3 "$work/$to.err" >&2
}

for part; do
    case $part in
        steps)
            for precision in bf16 fp16 fp32; do way $precision.jsonl $precision device; done
            way host.jsonl bf16 host
            way graph.jsonl bf16 graph
            cat "$work/fp32.jsonl" "$work/fp16.jsonl" "$work/bf16.jsonl" >"$work/ours.jsonl"
            ;;
        torch) torch torch_decode.py torch.jsonl ;;
        train)
            : >"$work/train.jsonl"
            for model in base big; do
                for precision in bf16 fp32; do
                    "$build/bin/train-bench" --model $model --device cuda --precision $precision --pairs $pairs --updates 10 >>"$work/train.jsonl" ||
                        echo "failed: training $model, $precision" >&2
                done
            done
            ;;
        torch-train) torch torch_train.py torch_train.jsonl --pairs $pairs ;;
        report)
            python3 bench/gpu/report.py --ours "$work/ours.jsonl" --ours-host "$work/host.jsonl" --ours-graph "$work/graph.jsonl" \
                --torch "$work/torch.jsonl" --train "$work/train.jsonl" --torch-train "$work/torch_train.jsonl" --out "$out" \
                --revision "$(git describe --always --dirty 2>/dev/null || echo unknown)"
            ;;
        *) echo "bench-gpu: there is no part $part" >&2; exit 2 ;;
    esac
done
