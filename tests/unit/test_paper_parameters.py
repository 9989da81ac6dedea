"""`dragoman inspect` prints the parameter count of the formula for each recipe of Table 3 and of later architectures (vocabulary: 37,000 tokens).
The weights files are sparse and hold no numbers, because inspect reads only their headers."""
import json
import os
import re
import struct
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))

from dgw import MAGIC, padded, xxh3  # noqa: E402
from transformer import Config, parameter_shapes  # noqa: E402

BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin")
RECIPES = "trainer/recipes/paper"
V = 37000
ROWS, SINCE = (sorted(f"{folder}/{os.path.splitext(f)[0]}" for f in os.listdir(f"{RECIPES}/{folder}")) for folder in ("table3", "since"))


def formula(m):
    """Number of parameters, from the paper's matrices: one table, no biases except in the feed-forward networks, gain and bias of every
    norm. An SSRU has two matrices with biases instead of the decoder's self-attention; a pre-norm stack has one more norm."""
    d, a = m["d_model"], 2 * m["d_model"] * m["heads"] * (m["d_k"] + m["d_v"])
    f = 2 * d * m["d_ff"] + m["d_ff"] + d
    learned = 2 * m["max_positions"] * d if m["positions"] == "learned" else 0
    back = 2 * d * d + 2 * d if m["decoder"] == "ssru" else a
    return V * d + m["encoder_layers"] * (a + f + 4 * d) + m["decoder_layers"] * (back + a + f + 6 * d) + learned + (4 * d if m["pre_norm"] else 0)


def recipe(row):
    out = subprocess.run([f"{BIN}/dragoman-train", "recipe", f"{RECIPES}/{row}.json"], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)["model"]


def write_hollow(path, shapes):
    """Write a sparse weights file: a valid header, and a hole instead of numbers."""
    names = b"".join(n.encode() + b"\0" for n in shapes)
    header_bytes = len(padded(b"\0" * (64 + 96 * len(shapes)) + names))
    entries, forms, name_offset, at = b"", b"", 0, header_bytes
    for i, (name, (rows, columns)) in enumerate(shapes.items()):
        size = 4 * rows * columns
        entries += struct.pack("<IIQQII", name_offset, len(name), rows, columns, i, 1)
        forms += struct.pack("<IIQQQQQQQ", 0, 0, at, size, 0, 0, 0, 0, 0)
        name_offset += len(name) + 1
        at += -(-size // 64) * 64
    rest = struct.pack("<IIQQIIIIQ", 0x01020304, 1, header_bytes, at, len(shapes), len(shapes), len(names), 0, 0)
    rest = padded(b"\0" * 16 + rest + entries + forms + names)[16:]
    with open(path, "wb") as f:
        f.write(MAGIC + struct.pack("<Q", xxh3(rest)) + rest)
        f.truncate(at)


def write_bundle(folder, row, m):
    c = Config(V, V, m["d_model"], m["d_ff"], m["heads"], m["d_k"], m["d_v"], m["encoder_layers"], m["decoder_layers"],
               positions=m["positions"], max_positions=m["max_positions"], decoder=m["decoder"], pre_norm=m["pre_norm"])
    write_hollow(folder / "weights.dgw", parameter_shapes(c))
    (folder / "joint.vocab").write_text("".join(f"w{i}\n" for i in range(V)))
    model = {k: m[k] for k in ("d_model", "d_ff", "heads", "d_k", "d_v", "encoder_layers", "decoder_layers", "positions", "max_positions",
                               "first_position", "activation", "attention_bias", "output_bias", "tied_embeddings", "tied_output", "decoder", "pre_norm")}
    model.update(source_vocab=V, target_vocab=V, norm_eps=1e-6, embed_scale=m["d_model"] ** 0.5, eos=0, unk=1, start="zero", source_eos=True)
    manifest = {"format": 1, "name": os.path.basename(row), "version": "0" * 64, "pairs": [["en", "de"]], "model": model,
                "files": {"weights": "weights.dgw", "source_vocab": "joint.vocab", "target_vocab": "joint.vocab"}}
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("row", ROWS + SINCE)
def test_inspect_counts_what_the_formula_gives(row, tmp_path):
    m = recipe(row)
    write_bundle(tmp_path, row, m)
    said = subprocess.run([f"{BIN}/dragoman", "inspect", str(tmp_path), "--tensors"], capture_output=True, text=True, check=True).stdout
    stored = sum(int(n) * int(k) for n, k in re.findall(r"^  \S+ +\[(\d+),(\d+)\]", said, re.M))
    assert int(re.search(r"^parameters +(\d+)$", said, re.M).group(1)) == stored == formula(m)


def test_base_and_big_are_known():
    assert (formula(recipe("table3/base")), formula(recipe("table3/big"))) == (63045632, 214171648)
    assert len(ROWS) == 20 and len(SINCE) == 3
