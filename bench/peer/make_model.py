#!/usr/bin/env python3
"""Writes a random Transformer of the paper's base size under Marian's names, so that several engines can load it.

  make_model.py --out DIR [--layers 6 --d-model 512 --d-ff 2048 --heads 8 --vocab 32000 --sentences 512]

DIR gets model.npz, vocab.yml and sentences.txt (pieces; lengths spread as in news, mean 27). The weights have the
scale of trained ones and the output is peaked, so that beam search has real decisions to make; an end of the
sentence is never likely, since speed is measured at forced lengths. Fixed seed: the same numbers everywhere.
"""
import argparse
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import random_texts  # noqa: E402

# Options of the architecture, other than sizes, that a reader of Marian models needs.
MARIAN = {
    "type": "transformer", "transformer-ffn-activation": "relu", "transformer-decoder-autoreg": "self-attention",
    "transformer-preprocess": '""', "transformer-postprocess": "dan", "transformer-postprocess-emb": "d",
    "transformer-postprocess-top": '""', "transformer-ffn-depth": 2, "transformer-decoder-ffn-depth": 0,
    "transformer-decoder-dim-ffn": 0, "transformer-train-position-embeddings": "false", "transformer-no-bias": "false",
    "transformer-no-affine": "false", "transformer-no-projection": "false", "transformer-pool": "false",
    "transformer-depth-scaling": "false", "transformer-rnn-projection": "false", "transformer-tied-layers": [],
    "transformer-guided-alignment-layer": "last", "transformer-aan-depth": 2, "transformer-aan-activation": "swish",
    "transformer-aan-nogate": "false", "tied-embeddings-all": "true", "tied-embeddings": "false",
    "tied-embeddings-src": "false", "layer-normalization": "false", "skip": "false", "output-omit-bias": "false",
    "input-types": [], "lemma-dim-emb": 0, "ulr": "false", "ulr-dim-emb": 0, "ulr-trainable-transformation": "false",
    "version": "v1.12.0 random",
}


class Writer:
    def __init__(self, seed):
        self.rng, self.arrays = np.random.default_rng(seed), {}

    def normal(self, name, shape, std, mean=0.0):
        self.arrays[name] = (mean + std * self.rng.standard_normal(shape)).astype(np.float32)

    def linear(self, weight, bias, n_in, n_out):
        """Marian stores matrices as [in, out]."""
        self.normal(weight, (n_in, n_out), (2.0 / (n_in + n_out)) ** 0.5)
        self.normal(bias, (1, n_out), 0.02)

    def norm(self, name, d, gain=1.0):
        self.normal(f"{name}_ln_scale", (1, d), 0.1 * gain, gain)
        self.normal(f"{name}_ln_bias", (1, d), 0.05)

    def attention(self, name, d):
        for x in "qkvo":
            self.linear(f"{name}_W{x}", f"{name}_b{x}", d, d)
        self.norm(f"{name}_Wo", d)

    def ffn(self, name, d, f, gain=1.0):
        self.linear(f"{name}_W1", f"{name}_b1", d, f)
        self.linear(f"{name}_W2", f"{name}_b2", f, d)
        self.norm(f"{name}_ffn", d, gain)


def make_weights(a):
    w = Writer(a.seed)
    w.normal("Wemb", (a.vocab, a.d_model), a.d_model ** -0.5)
    for i in range(1, a.layers + 1):
        w.attention(f"encoder_l{i}_self", a.d_model)
        w.ffn(f"encoder_l{i}_ffn", a.d_model, a.d_ff)
        w.attention(f"decoder_l{i}_self", a.d_model)
        w.attention(f"decoder_l{i}_context", a.d_model)
        # The gain of the last norm sets the standard deviation of the logits.
        w.ffn(f"decoder_l{i}_ffn", a.d_model, a.d_ff, 3.0 if i == a.layers else 1.0)
    w.normal("decoder_ff_logit_out_b", (1, a.vocab), 0.1)
    config = {"dim-emb": a.d_model, "dim-vocabs": [a.vocab, a.vocab], "enc-depth": a.layers, "dec-depth": a.layers,
              "transformer-heads": a.heads, "transformer-dim-ffn": a.d_ff, "transformer-dim-aan": a.d_ff, **MARIAN}
    w.arrays["special:model.yml"] = np.frombuffer("".join(f"{k}: {v}\n" for k, v in config.items()).encode() + b"\0", dtype=np.int8)
    return w.arrays


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", required=True)
    p.add_argument("--layers", type=int, default=6)
    p.add_argument("--d-model", type=int, default=512)
    p.add_argument("--d-ff", type=int, default=2048)
    p.add_argument("--heads", type=int, default=8)
    p.add_argument("--vocab", type=int, default=32000)
    p.add_argument("--sentences", type=int, default=512)
    p.add_argument("--mean-length", type=int, default=27)
    p.add_argument("--seed", type=int, default=17)
    a = p.parse_args()
    os.makedirs(a.out, exist_ok=True)
    pieces = ["</s>", "<unk>"] + [f"p{i}" for i in range(2, a.vocab)]
    with open(os.path.join(a.out, "vocab.yml"), "w", encoding="utf-8") as f:
        f.writelines(f'"{piece}": {i}\n' for i, piece in enumerate(pieces))
    random_texts.write(os.path.join(a.out, "sentences.txt"), pieces, 2, a.sentences, a.mean_length, a.seed + 1)
    np.savez(os.path.join(a.out, "model.npz"), **make_weights(a))


main()
