#!/usr/bin/env python3
"""CTranslate2's half of the comparison. One JSON line with the keys of `dragoman bench --json`.

  ct2.py convert --model model.npz --vocab vocab.yml --out DIR [--quantization int8]
  ct2.py bench --model DIR --sentences FILE --mode latency|throughput --beam N --length N [--workers N --threads N]

Its best settings: a model converted in int8 for int8 (half of the memory of one that is quantised as it is loaded), batches of 512
tokens at beam 4 (faster than 4,096, and a quarter of the memory), 4,096 for greedy search.
"""
import argparse
import json
import resource
import statistics
import time

import ctranslate2


def convert(a):
    from ctranslate2.converters import MarianConverter
    MarianConverter(a.model, [a.vocab, a.vocab]).convert(a.out, quantization=a.quantization, force=True)


def cut(lines, length, count):
    """Sentences for latency: all pieces in one sequence, cut every `length` pieces, as `dragoman bench` does."""
    flat = [piece for line in lines for piece in line]
    return [flat[i * length:(i + 1) * length] for i in range(min(count, len(flat) // length))]


def bench(a):
    with open(a.sentences, encoding="utf-8") as f:
        lines = [x.split() for x in f]
    translator = ctranslate2.Translator(a.model, device="cpu", compute_type=a.compute, inter_threads=a.workers,
                                        intra_threads=a.threads)
    options = dict(beam_size=a.beam, length_penalty=0.6, return_scores=False)
    if a.length:
        options.update(min_decoding_length=a.length, max_decoding_length=a.length)
    runs, pieces, cpu = [], 0, 0.0
    if a.mode == "latency":
        sentences = cut(lines, a.src_len, a.count)
    else:
        sentences = lines
        options.update(max_batch_size=a.batch_tokens or (512 if a.beam > 1 else 4096), batch_type="tokens")
    translator.translate_batch(sentences[:2], **options)  # warm-up
    for _ in range(a.reps):
        cpu -= time.process_time()
        if a.mode == "latency":
            ms = []
            for sentence in sentences:
                start = time.perf_counter()
                out = translator.translate_batch([sentence], **options)
                ms.append(1e3 * (time.perf_counter() - start))
            runs.append(statistics.median(ms))
        else:
            start = time.perf_counter()
            out = translator.translate_batch(sentences, **options)
            seconds = time.perf_counter() - start
            runs.append(sum(len(x.hypotheses[0]) for x in out) / seconds)
        cpu += time.process_time()
        pieces = sum(len(x.hypotheses[0]) for x in out)
    print(json.dumps({
        "backend": f"ctranslate2 {ctranslate2.__version__} {translator.compute_type}", "mode": a.mode,
        "sentences": len(sentences), "tokens_out": pieces,
        "p50_ms" if a.mode == "latency" else "tokens_per_s": statistics.median(runs), "runs": runs,
        "cpu_s": cpu / a.reps, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("verb", choices=["convert", "bench"])
    p.add_argument("--model", required=True)
    p.add_argument("--vocab")
    p.add_argument("--out")
    p.add_argument("--sentences")
    p.add_argument("--mode", choices=["latency", "throughput"], default="latency")
    p.add_argument("--compute", default="float32")
    p.add_argument("--beam", type=int, default=4)
    p.add_argument("--length", type=int, default=27)
    p.add_argument("--src-len", type=int, default=27)
    p.add_argument("--count", type=int, default=12)
    p.add_argument("--reps", type=int, default=3)
    p.add_argument("--workers", type=int, default=1)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--batch-tokens", type=int, default=0, help="default: 512 with a beam, else 4096")
    p.add_argument("--quantization", choices=["int8"])
    a = p.parse_args()
    (convert if a.verb == "convert" else bench)(a)


main()
