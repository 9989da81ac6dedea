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

import random_marian  # noqa: E402
import random_texts  # noqa: E402

MARIAN = {
    **random_marian.OPTIONS, "transformer-decoder-autoreg": "self-attention", "transformer-no-bias": "false", "transformer-no-affine": "false",
    "transformer-pool": "false", "transformer-depth-scaling": "false", "output-omit-bias": "false", "ulr-dim-emb": 0,
    "ulr-trainable-transformation": "false", "version": "v1.12.0 random"}


def make_weights(a):
    w = random_marian.Writer(np.random.default_rng(a.seed))
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
    w.arrays["special:model.yml"] = np.frombuffer(random_marian.yaml(config), dtype=np.int8)
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
