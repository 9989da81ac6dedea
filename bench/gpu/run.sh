#!/bin/sh
# Speed on a GPU: a sentence and a decoder step of the base model (random weights, vocabulary 32,000, 27 pieces in and out,
# forced), beam 1 and 4, 1 to 256 sentences, each precision; in bf16 also with the search on the host
# (DRAGOMAN_CUDA_STEP) and with steps that are not recorded as graphs. An update of training, base and big, in bf16 with attention
# on tensor cores and without, and in fp32. Both are compared with PyTorch if python3 has it. Compiles and downloads nothing.
# Writes one JSON object.
# Usage: bench/gpu/run.sh [BUILD] [OUT.json] [PART...]   (default build/release, bench/results/gpu-<device>.json, also for -, all parts)
# Parts: steps train torch torch-train report. Each leaves its results in $WORK (default build/bench-gpu), and the programs' messages,
# with cuBLASLt's algorithms, in *.err. So parts may run at different times, and the report, which needs no GPU, on another machine.
#   BUDGET=SECONDS     then the running program is stopped, and the rest is left out
#   ARCHIVE=FILE.tar   archive of $WORK, written again after each program
#   REVISION=NAME      revision of the programs; default: BUILD/REVISION, which scripts/gpu-pack wrote, or git's
# If a program fails or takes too long, that is reported, and the next one runs.
set -eu
cd "$(dirname "$0")/../.."
build=${1-build/release}
out=${2--}
if [ $# -gt 2 ]; then shift 2; else set -- steps train torch torch-train report; fi
work=${WORK:-build/bench-gpu}
mkdir -p "$work"
until=$(($(date +%s) + ${BUDGET:-1000000}))
pairs=926 # 25,000 pieces a side, as in the paper (section 5.1)

measuring() { # what is measured here, and with what
    . scripts/gpu-env
    export DRAGOMAN_DEBUG=cuda-log
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1 >"$work/device"
    [ -s "$work/device" ] || { echo "bench-gpu: nvidia-smi names no device" >&2; exit 77; }
    { [ -z "${REVISION-}" ] || echo "$REVISION"; cat "$build/REVISION" 2>/dev/null || git describe --always --dirty 2>/dev/null || echo unknown; } |
        head -1 >"$work/revision"
}

fresh() { # fresh NAME
    : >"$work/$1.jsonl"
    : >"$work/$1.err"
}

missed() { # missed NAME WHY COMMAND...
    to=$work/$1.err why=$2
    shift 2
    echo "$why: $*" >&2
    printf '\n%s: %s\n' "$why" "$*" >>"$to" # what it said last may be half a line
}

run() { # run NAME LIMIT COMMAND...: appends its lines to NAME.jsonl and its messages to NAME.err
    name=$1 limit=$2 left=$((until - $(date +%s))) rc=0
    shift 2
    [ $left -gt "$limit" ] || limit=$left
    if [ "$limit" -lt 5 ]; then
        missed "$name" "left out" "$@"
    else
        timeout -k 5 "$limit" "$@" >>"$work/$name.jsonl" 2>>"$work/$name.err" || rc=$?
        case $rc in
            0) ;;
            124 | 137) missed "$name" "failed: not done after $limit s" "$@" ;;
            *) tail -1 "$work/$name.err" >&2; missed "$name" "failed: exit status $rc" "$@" ;;
        esac
        [ $rc -eq 0 ] || echo >>"$work/$name.jsonl" # as above
    fi
    [ -z "${ARCHIVE-}" ] || { tar cf "$ARCHIVE.new" -C "$work" . && mv "$ARCHIVE.new" "$ARCHIVE"; }
}

way() { # way NAME PRECISION [VARIABLE=VALUE]
    fresh "$1"
    for beam in 4 1; do
        for sentences in 1 8 64 256; do
            run "$1" 60 env ${3+"$3"} "$build/bin/step-bench" --type f32 --device cuda --precision "$2" --beam $beam \
                --sentences $sentences --reps 20
        done
    done
}

update() { # update NAME MODEL PRECISION
    run "$1" 120 "$build/bin/train-bench" --model "$2" --device cuda --precision "$3" --pairs $pairs --updates 10
}

[ "$*" = report ] || measuring
for part; do
    case $part in
        steps) # what matters most comes first
            way bf16 bf16
            way ops bf16 DRAGOMAN_DEBUG=cuda-log,cuda-graphs-off
            way host bf16 DRAGOMAN_CUDA_STEP=host
            way fp16 fp16
            way fp32 fp32
            ;;
        train)
            fresh train
            fresh plain
            for model in base big; do
                update train $model bf16
                DRAGOMAN_DEBUG=cuda-log,cuda-plain-attention update plain $model bf16
                update train $model fp32
            done
            ;;
        torch)
            fresh torch
            run torch 580 python3 bench/gpu/torch_decode.py --reps 20
            ;;
        torch-train)
            fresh torch_train
            run torch_train 580 python3 bench/gpu/torch_train.py --pairs $pairs --updates 10
            ;;
        report) python3 bench/gpu/report.py "$work" --out "$out" ${DEVICE:+--device "$DEVICE"} ;;
        *) echo "bench-gpu: there is no part $part" >&2; exit 2 ;;
    esac
done
