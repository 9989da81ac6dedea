#!/usr/bin/env python3
"""Writes the golden models and what they must answer into data/ (README.md says what lies there).

  make.py            expected values again from the committed models; the same bytes on the same numpy
  make.py --train    the models too (half an hour)
  make.py --check    nothing is written; compare with what is committed
  make.py NAME ...   only these models
"""
import argparse
import json
import os
import sys

import numpy as np

import dgw
from gradients import gradients, train
from models import MODELS, Language, Stream, double, initial_parameters, language_of, seed_of, train_model
from search import Margin, search
from transformer import Config, Transformer

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "data")
KINDS = {"odd-sizes": "f16", "two-vocabularies": "bf16"}  # the others are stored as f32

# Searches with closer decisions are left out: float32 may legitimately decide otherwise.
LEAST_MARGIN = 1e-4

SEARCHES = [
    dict(beam=1, n_best=1, penalty="gnmt", alpha=0.6, max_len=0),
    dict(beam=4, n_best=4, penalty="gnmt", alpha=0.6, max_len=0),
    dict(beam=4, n_best=1, penalty="gnmt", alpha=0.6, max_len=0),
    dict(beam=4, n_best=4, penalty="none", alpha=0.6, max_len=0),
    dict(beam=4, n_best=2, penalty="power", alpha=1.0, max_len=0),
    dict(beam=5, n_best=3, penalty="gnmt", alpha=1.0, max_len=6),
    dict(beam=2, n_best=2, penalty="power", alpha=0.6, max_len=3),
    dict(beam=3, n_best=1, penalty="gnmt", alpha=0.0, max_len=40),
    dict(beam=12, n_best=6, penalty="gnmt", alpha=2.0, max_len=12),
]
SHORT = [1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 12]
LONG = [105, 130]
LONG_SEARCHES = SEARCHES[:2]


def numbers(x, digits=7):
    """Values rounded for JSON, with -0.0 as 0.0."""
    return [round(float(v), digits) + 0.0 for v in np.ravel(x)]


def memory_of(f):
    """f with its results cached: the searches ask for the same prefixes again and again."""
    known = {}

    def g(prefix):
        if prefix not in known:
            known[prefix] = f(prefix)
        return known[prefix]
    return g


def expected_searches(c, model, sources):
    """The n-best lists of each setting, without sentences whose decisions are too close."""
    steps = [memory_of(model.next_log_probs(s)) for s in sources]
    out = []
    for setting in SEARCHES:
        results = []
        for i, (source, step) in enumerate(zip(sources, steps)):
            if len(source) >= min(LONG) and setting not in LONG_SEARCHES:
                continue
            margin = Margin()
            max_len = setting["max_len"] or len(source) + c.extra_length
            hyps = search(step, c.eos, setting["beam"], setting["n_best"], max_len, setting["alpha"],
                          setting["penalty"], margin)
            if margin.least < LEAST_MARGIN:
                continue
            results.append({"source": i, "hyps": [
                {"ids": list(h.ids), "logprob": round(h.logprob, 6), "score": round(h.score, 6),
                 **({"length_limited": True} if h.length_limited else {})} for h in hyps]})
        out.append({**setting, "results": results})
    return out


def expected_attention(c, model, source, target):
    maps = model.trace(source, target)
    return {"source": source, "target": target,
            **{kind: {"shape": list(np.shape(np.array(layers))), "weights": numbers(np.array(layers), 6)}
               for kind, layers in maps.items()}}


def expected(name, c, params):
    language = language_of(name)
    language.stream = Stream(1000 + seed_of(name))
    model = Transformer(c, double(params))
    sources = [language.source(n) for n in SHORT + LONG]
    forced = []
    for source in sources:
        target = language.translate(source)
        forced.append({"source": source, "target": target, "logprobs": numbers(model.forced(source, target))})
    return {"model": name, "forced": forced, "search": expected_searches(c, model, sources),
            "attention": [expected_attention(c, model, sources[6], language.translate(sources[6]))]}


# Training ----------------------------------------------------------------------------------------------------

TRAINING = {
    "train-paper": Config(40, 40, 16, 32, 2, 8, 8, 1, 1),
    "train-learned": Config(38, 31, 16, 24, 2, 6, 5, 2, 1, positions="learned", max_positions=24, act="gelu",
                            attention_bias=True, output_bias=True, tied_embeddings=False, tied_output=False,
                            norm_eps=1e-5, start=30),
    # Guided alignment of two of the three heads in the first of the two decoder layers.
    "train-guided": Config(40, 40, 18, 24, 3, 6, 6, 1, 2),
    # Pre-norm, with a last norm for each stack.
    "train-pre-norm": Config(40, 40, 18, 24, 3, 6, 6, 2, 2, pre_norm=True),
    # An SSRU instead of the decoder's self-attention; its product is wider than queries, keys and values together.
    "train-ssru": Config(40, 40, 18, 24, 1, 6, 6, 1, 2, decoder="ssru"),
    "train-pre-norm-ssru": Config(40, 40, 18, 24, 3, 6, 6, 1, 3, decoder="ssru", pre_norm=True, act="swish"),
}
GUIDES = {"train-guided": {"layer": 0, "head": 1, "heads": 2, "weight": 0.4}}
SMOOTHING, WARMUP, STEPS = 0.1, 40, 10


def links(stream, source, target):
    """Links of each target position to up to three source positions, </s> included. Some have none."""
    out = []
    for t in range(len(target) + 1):
        count = stream.integers(0, 4, 1)[0]
        out += [(t, s) for s in sorted(set(stream.integers(0, len(source) + 1, count)))]
    return out


def training_batches(c, seed, guide):
    language = Language(c, Stream(seed))
    batches = [[language.pair(1, 10) for _ in range(6)] for _ in range(STEPS)]
    if guide:
        batches = [[(s, t, links(language.stream, s, t)) for s, t in batch] for batch in batches]
    return batches


def expected_training(name, c, params):
    guide = GUIDES.get(name)
    batches = training_batches(c, 50 + list(TRAINING).index(name), guide)
    loss, nll, grads = gradients(c, double(params), batches[0], SMOOTHING, guide)
    final, log = train(c, params, batches, SMOOTHING, WARMUP, guide)
    description = {
        "model": name, "label_smoothing": SMOOTHING, "warmup": WARMUP, "beta1": 0.9, "beta2": 0.98, "epsilon": 1e-9,
        **({"guide": guide} if guide else {}),
        "batches": [[dict(zip(("source", "target", "links"), pair)) for pair in b] for b in batches],
        "first": {"loss": round(loss, 7), "nll": round(nll, 7)},
        "steps": [{"lr": lr, "loss": round(a, 7), "nll": round(b, 7)} for lr, a, b in log],
        "sums": {n: [round(float(x.sum()), 5), round(float((x * x).sum()), 5)] for n, x in final.items()},
    }
    return description, grads, final


# Files -------------------------------------------------------------------------------------------------------

def json_text(value):
    """JSON with one line per result, so that diffs stay readable."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace('{"source":', '\n{"source":').replace('{"beam":', '\n{"beam":') + "\n"


class Files:
    """Writes files below data/. With check=True compares instead: numbers in text and tensors to 2e-6, the rest exactly."""

    def __init__(self, check):
        self.check, self.wrong = check, []

    def json(self, name, value):
        path = os.path.join(DATA, name)
        if not self.check:
            with open(path, "w", encoding="utf-8") as f:
                f.write(json_text(value))
            return
        with open(path, encoding="utf-8") as f:
            if not same(json.load(f), json.loads(json_text(value))):
                self.wrong.append(name)

    def weights(self, name, tensors):
        path = os.path.join(DATA, name)
        if not self.check:
            dgw.write_weights(path, tensors)
            return
        there = dgw.read_weights(path)
        if there.keys() != tensors.keys() or not all(
                np.allclose(there[n], x, rtol=0, atol=2e-6) for n, x in tensors.items()):
            self.wrong.append(name)


def same(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= 2e-6
    return a == b


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--train", action="store_true")
    p.add_argument("--check", action="store_true")
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    os.makedirs(DATA, exist_ok=True)
    files = Files(a.check)
    for name in [n for n in list(MODELS) + list(TRAINING) if not a.names or n in a.names]:
        bundle = os.path.join(DATA, name)
        if a.train and not a.check:
            kind = KINDS.get(name, "f32")
            c = MODELS.get(name) or TRAINING[name]
            params = train_model(name, report=print) if name in MODELS else initial_parameters(c, Stream(40))
            dgw.write_bundle(bundle, name, c, params, kind)
        c, params = dgw.read_bundle(bundle)
        if name in MODELS:
            value = expected(name, c, params)
            files.json(f"{name}.json", value)
            kept = [len(s["results"]) for s in value["search"]]
            print(f"{name}: n-best lists {kept}", flush=True)
        else:
            value, grads, final = expected_training(name, c, params)
            files.json(f"{name}.json", value)
            files.weights(f"{name}/gradients.dgw", grads)
            files.weights(f"{name}/final.dgw", final)
            print(f"{name}: losses {[s['loss'] for s in value['steps']]}", flush=True)
    if files.wrong:
        sys.exit("differs: " + ", ".join(files.wrong))


main()
