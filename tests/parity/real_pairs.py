"""Recipes over the everyday pairs of tests/data/pairs (real sentences in two domains) for tests of whole runs of `dragoman-train`."""
import json
import os

from train_runs import TRAIN, run

PAIRS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "pairs")
HALF = 30  # lines: the first half belongs to the domain "early", the rest to "late"
SPACE = "\u2581"


def lines(side):
    with open(os.path.join(PAIRS, f"everyday.{side}"), encoding="utf-8") as f:
        return f.read().splitlines()


def write_pairs(folder):
    for name, part in (("early", slice(HALF)), ("late", slice(HALF, None))):
        for side in ("en", "de"):
            (folder / f"{name}.{side}").write_text("".join(x + "\n" for x in lines(side)[part]), encoding="utf-8")


def recipe(folder, **sections):
    """Write a recipe of a small model on both files, overridden by `sections`. Returns its path."""
    files = [{"source": f"{name}.en", "target": f"{name}.de", "domain": name} for name in ("early", "late")]
    r = {"name": "everyday", "data": {"pairs": [{"source_lang": "en", "target_lang": "de", "train": files}]},
         "cleaning": {"language_check": False},
         "vocabulary": {"size": 300, "character_coverage": 1, "byte_fallback": False},
         "model": {"encoder_layers": 1, "decoder_layers": 1, "d_model": 16, "d_ff": 32, "heads": 2},
         "training": {"updates": 24, "batch_tokens": 256, "warmup": 10, "dropout": 0.2, "checkpoint_updates": 1, "log_updates": 4,
                      "threads": 2, "keep_last": 2, "average_last": 1, "precision": "fp32"}}
    for name, values in sections.items():
        r[name] = {**r.get(name, {}), **values} if isinstance(values, dict) else values
    path = folder / f"recipe-{len(list(folder.iterdir()))}.json"
    path.write_text(json.dumps(r))
    return path


def prepare(path, out):
    return run([TRAIN, "prepare", str(path), "--data", str(path.parent), "--out", str(out), "--quiet"])


def batches(path, prepared, n):
    """The first n batches, each a list of (source, target) as text."""
    text = run([TRAIN, "batches", str(path), "--prepared", str(prepared), "--lines", str(n)])
    with open(prepared / "source.vocab", encoding="utf-8") as f:
        pieces = f.read().splitlines()

    def words(ids):
        return "".join(pieces[i] for i in ids[:-1]).replace(SPACE, " ").strip()
    return [[(words(s), words(t)) for s, t in zip(b["source"], b["target"])] for b in map(json.loads, text.splitlines())]
