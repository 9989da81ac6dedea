"""A student's files in the layout of Bergamot and Firefox (tests/data/convert/bergamot), converted by `dragoman convert bergamot` and
compared with Bergamot's own engine, one sentence a call: with the file's activation scales the texts are equal, with and without its
shortlist; with dynamic ones nearly always. Bergamot's answers depend on what else is in a batch, ours do not."""
import json
import os
import shutil
import struct

import pytest

from program import run

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "convert", "bergamot")


@pytest.fixture(scope="session")
def expected():
    with open(os.path.join(DATA, "answers.json"), encoding="utf-8") as f:
        return json.load(f)


def translate(bundle, texts):
    return run(["translate", "--model", str(bundle), "--keep-loops"], texts).splitlines()


def test_with_stored_scales_and_the_shortlist(tmp_path, expected):
    run(["convert", "bergamot", DATA, "--activation-scales", "stored", "--out", str(tmp_path / "b")])
    got = translate(tmp_path / "b", expected["texts"])
    assert len(expected["filled_up"]) <= 8  # of 40; make.py explains them
    for i, (answer, other) in enumerate(zip(got, expected["shortlist"])):
        if i not in expected["filled_up"]:
            assert answer == other


def test_with_stored_scales_and_all_pieces(tmp_path, expected):
    run(["convert", "marian", "--model", os.path.join(DATA, "model.ende.intgemm.alphas.bin"), "--vocab",
         os.path.join(DATA, "vocab.ende.spm"), "--source-lang", "en", "--target-lang", "de", "--activation-scales", "stored",
         "--out", str(tmp_path / "b")])
    assert translate(tmp_path / "b", expected["texts"]) == expected["all"]


def test_dynamic_scales_are_near(tmp_path, expected):
    """The default: the file's s8 matrices unchanged, and a separate scale for each row of activations."""
    run(["convert", "bergamot", DATA, "--out", str(tmp_path / "b")])
    got = translate(tmp_path / "b", expected["texts"])
    assert sum(a == b for a, b in zip(got, expected["shortlist"])) >= 28  # of 40: a toy model's decisions are often close
    with open(tmp_path / "b" / "manifest.json", encoding="utf-8") as f:
        m = json.load(f)
    assert m["pairs"] == [["en", "de"]] and m["files"]["shortlist"] == "shortlist.dgl"
    assert m["model"]["decoder"] == "ssru" and m["decoding"]["length_factor"] == 2 and m["decoding"]["max_source_tokens"] == 128
    assert "output <= 2 x input, sentences <= 128 tokens" in run(["inspect", str(tmp_path / "b")])


def test_sentences_are_split_at_127_pieces(tmp_path, expected):
    """With </s> these are 128, like max-length-break of the engines for such models. No word is lost."""
    run(["convert", "bergamot", DATA, "--out", str(tmp_path / "b")])
    words = expected["texts"][0].rstrip(".")
    shown = json.loads(run(["attention", "--model", str(tmp_path / "b"), "--source", words, "--target", "Hund", "--json"]))
    pieces = len(shown["source_tokens"]) - 1
    fits = 127 // pieces
    assert shown["source_tokens"][-1] == "</s>" and fits >= 4
    for n, split in ((1, False), (fits, False), (fits + 1, True), (3 * fits, True)):
        answer = json.loads(run(["translate", "--model", str(tmp_path / "b"), "--json", "--keep-loops"], [" ".join([words] * n)]))
        assert ("split" in answer["flags"]) == split, n


def test_only_bergamot_depends_on_the_batch(tmp_path, expected):
    assert expected["together"] != expected["shortlist"]
    run(["convert", "bergamot", DATA, "--out", str(tmp_path / "b")])
    together = translate(tmp_path / "b", expected["texts"])
    assert together == [translate(tmp_path / "b", [t])[0] for t in expected["texts"]]


def test_the_elements_are_the_files(tmp_path):
    """No byte of a matrix changes: the bundle has the file's int8 elements; scales are 1/multiplier."""
    run(["convert", "bergamot", DATA, "--out", str(tmp_path / "b")])
    weights = open(tmp_path / "b" / "weights.dgw", "rb").read()
    seen = 0
    for name, kind, shape, data in read_items(os.path.join(DATA, "model.ende.intgemm.alphas.bin")):
        if kind == 0x4101:
            assert data[:shape[0] * shape[1]] in weights, name
            seen += 1
    assert seen > 20


def test_without_a_configuration_names_say_it(tmp_path):
    folder = tmp_path / "student"
    shutil.copytree(DATA, folder)
    (folder / "config.intgemm8bitalpha.yml").unlink()
    run(["convert", "bergamot", DATA, "--out", str(tmp_path / "a")])
    run(["convert", "bergamot", str(folder), "--out", str(tmp_path / "b")])
    versions = [json.load(open(tmp_path / x / "manifest.json"))["version"] for x in "ab"]
    assert versions[0] == versions[1]
    shutil.copy(folder / "vocab.ende.spm", folder / "vocab.other.spm")
    assert "expected one of them" in run(["convert", "bergamot", str(folder), "--out", str(tmp_path / "c")], code=1)
    (folder / "model.ende.intgemm.alphas.bin").rename(folder / "model.ende.intgemm.alphas.bin.gz")
    assert "(unpack files that end in .gz or .zst first)" in run(["convert", "bergamot", str(folder), "--out", str(tmp_path / "c")], code=1)


def read_items(path):
    """[(name, type, shape, bytes)] of Marian's binary file."""
    file = open(path, "rb").read()
    n, = struct.unpack_from("<Q", file, 8)
    heads = [struct.unpack_from("<4Q", file, 16 + 32 * i) for i in range(n)]
    at, names, shapes = 16 + 32 * n, [], []
    for h in heads:
        names.append(file[at:at + h[0] - 1].decode())
        at += h[0]
    for h in heads:
        shapes.append(struct.unpack_from("<%di" % h[2], file, at))
        at += 4 * h[2]
    at += 8 + struct.unpack_from("<Q", file, at)[0]
    items = []
    for name, h, shape in zip(names, heads, shapes):
        items.append((name, h[1], shape, file[at:at + h[3]]))
        at += h[3]
    return items


def write_items(path, items):
    head = struct.pack("<QQ", 1, len(items))
    head += b"".join(struct.pack("<4Q", len(name) + 1, kind, len(shape), len(data)) for name, kind, shape, data in items)
    head += b"".join(name.encode() + b"\0" for name, *_ in items)
    head += b"".join(struct.pack("<%di" % len(shape), *shape) for _, _, shape, _ in items)
    pad = ((len(head) + 8) // 256 + 1) * 256 - len(head) - 8
    with open(path, "wb") as f:
        f.write(head + struct.pack("<Q", pad) + b"\0" * pad + b"".join(data for *_, data in items))


def test_two_vocabularies(tmp_path, expected):
    """Two vocabularies (srcvocab, trgvocab) and tables, the target's tied to the output, as for English to Chinese. With two equal ones,
    the answers are those of one joint vocabulary."""
    folder = tmp_path / "student"
    folder.mkdir()
    items = []
    for name, kind, shape, data in read_items(os.path.join(DATA, "model.ende.intgemm.alphas.bin")):
        if name.startswith("Wemb"):
            items += [(side + "_" + name, kind, shape, data) for side in ("encoder", "decoder")]
        elif name == "special:model.yml":
            text = data.decode().replace("tied-embeddings-all: true", "tied-embeddings-all: false")
            data = text.replace("tied-embeddings: false", "tied-embeddings: true").encode()
            items.append((name, kind, (len(data),), data))
        else:
            items.append((name, kind, shape, data))
    write_items(folder / "model.ende.intgemm.alphas.bin", items)
    for side in ("srcvocab", "trgvocab"):
        shutil.copy(os.path.join(DATA, "vocab.ende.spm"), folder / (side + ".ende.spm"))
    run(["convert", "bergamot", str(folder), "--activation-scales", "stored", "--out", str(tmp_path / "b")])
    with open(tmp_path / "b" / "manifest.json", encoding="utf-8") as f:
        m = json.load(f)["model"]
    assert not m["tied_embeddings"] and m["tied_output"]
    assert translate(tmp_path / "b", expected["texts"]) == expected["all"]
