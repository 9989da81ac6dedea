#!/usr/bin/env python3
"""Makes the models in this folder with Marian itself: `pip install pymarian==1.12.42 numpy` in a CPython 3.11, then
`python make.py [NAME...]` in this folder. Each NAME.npz is the file that Marian wrote after training the toy, without the
optimiser's state; NAME*.spm are its vocabularies; NAME.json has the results of its decoder and its scorer."""
import json
import os
import subprocess
import sys
import tempfile

import corpus

COMMON = {"type": "transformer", "dim-emb": "32", "transformer-heads": "4", "transformer-dim-ffn": "64",
          "transformer-postprocess-emb": "d", "mini-batch": "64", "cpu-threads": "2", "learn-rate": "0.004", "lr-warmup": "100",
          "optimizer": "adam", "cost-type": "ce-mean-words", "seed": "7", "max-length": "60", "workspace": "500",
          "label-smoothing": "0.1", "disp-freq": "200", "after-batches": "1200"}
MODELS = {
    "attention": {"dim-vocabs": ["144", "144"], "enc-depth": "2", "dec-depth": "1", "transformer-preprocess": "",
                  "transformer-postprocess": "dan", "tied-embeddings-all": "true", "transformer-ffn-activation": "swish"},
    "prenorm": {"dim-vocabs": ["80", "96"], "enc-depth": "2", "dec-depth": "2", "transformer-preprocess": "n",
                "transformer-postprocess": "da", "transformer-postprocess-top": "n", "tied-embeddings": "true",
                "transformer-ffn-activation": "relu", "transformer-decoder-dim-ffn": "96"},
    # Bergamot's engine (../bergamot) needs sizes that are multiples of 64.
    "ssru": {"dim-emb": "64", "dim-vocabs": ["144", "144"], "enc-depth": "2", "dec-depth": "2", "transformer-preprocess": "",
             "transformer-postprocess": "dan", "tied-embeddings-all": "true", "transformer-ffn-activation": "relu",
             "transformer-decoder-autoreg": "rnn", "dec-cell": "ssru", "transformer-guided-alignment-layer": "last"},
}
HERE = os.getcwd()


def marian(command, options, stdin=None):
    args = [os.path.join(os.path.dirname(sys.executable), "pymarian"), command]
    for key, value in options.items():
        args += ["--" + key] + (value if isinstance(value, list) else [value] if value != [] else [])
    return subprocess.run(args, input=stdin, text=True, check=True, stdout=subprocess.PIPE).stdout


def write(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(line + "\n" for line in lines)


def make(name, own):
    two = "tied-embeddings" in own
    spm = [name + ".source.spm", name + ".target.spm"] if two else [name + ".spm", name + ".spm"]
    with tempfile.TemporaryDirectory() as tmp:
        at = {side: os.path.join(tmp, side) for side in ("en", "de", "test.en", "test.de")}
        pairs = corpus.pairs(3000, 1)
        write(at["en"], [p[0] for p in pairs])
        write(at["de"], [p[1] for p in pairs])
        model, vocabs = os.path.join(tmp, "model.npz"), [os.path.join(tmp, s) for s in spm]
        options = dict(COMMON, **own)
        marian("train", dict(options, **{"train-sets": [at["en"], at["de"]], "vocabs": vocabs, "model": model,
                                         "overwrite": [], "sentencepiece-options": "--character_coverage=1.0"}))
        for path in [model] + sorted(set(vocabs)):
            target = name + ".npz" if path == model else os.path.basename(path)
            with open(path, "rb") as a, open(os.path.join(HERE, target), "wb") as b:
                b.write(a.read())
        # The long ones go beyond the training data: positions above a hundred.
        test = corpus.pairs(24, 2, (1, 1, 2, 3)) + corpus.pairs(2, 3, (12,))
        write(at["test.en"], [p[0] for p in test])
        write(at["test.de"], [p[1] for p in test])
        decoder = {"models": model, "vocabs": vocabs, "cpu-threads": "1", "mini-batch": "1"}
        lines = marian("decode", dict(decoder, **{"beam-size": "1", "n-best": [], "word-scores": [], "alignment": "soft",
                                                  "no-spm-decode": [], "max-length-factor": "3", "quiet": []}),
                       "".join(p[0] + "\n" for p in test)).splitlines()
        text = marian("decode", dict(decoder, **{"beam-size": "1", "max-length-factor": "3", "quiet": []}),
                      "".join(p[0] + "\n" for p in test)).splitlines()
        scores = marian("score", {"model": model, "vocabs": vocabs, "cpu-threads": "1", "mini-batch": "1", "quiet": [],
                                  "train-sets": [at["test.en"], at["test.de"]]}).splitlines()
    write_json(name, test, lines, text, scores)


def aligned(weights):
    """Index of the source position with the largest weight, -1 if the second largest is within 1e-3."""
    order = sorted(range(len(weights)), key=lambda i: -weights[i])
    return order[0] if weights[order[0]] > weights[order[1]] + 1e-3 else -1


def answer(line):
    """Parse a line of an n-best list: pieces, log-probabilities (with </s>), total, and each piece's alignment."""
    _, pieces, soft, words, total = line.split(" ||| ")[:5]
    words = words.split("WordScores= ")[1].split()
    return {"pieces": pieces, "logprobs": [float(w) for w in words], "total": float(total.split("= ")[1]),
            "alignment": [aligned([float(w) for w in row.split(",")]) for row in soft.split()]}


def write_json(name, test, lines, text, scores):
    with open(name + ".json", "w", encoding="utf-8") as f:
        cases = [{"source": p[0], "target": p[1], "score": float(s), "answer": t, "greedy": answer(line)}
                 for p, s, t, line in zip(test, scores, text, lines)]
        if name == "prenorm":
            # For such a model, Marian 1.12.42's step-by-step decoder disagrees with its own scorer from the second piece on, and
            # so gives other answers. Only the scorer's results are kept, which agree with training.
            for case in cases:
                del case["answer"], case["greedy"]
        json.dump(cases, f, ensure_ascii=False, indent=1)
        f.write("\n")


for model in sys.argv[1:] or MODELS:
    make(model, MODELS[model])
