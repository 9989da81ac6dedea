"""Builds bundles of small random models with the converter. Their output is gibberish, but the server handles them like
real models. Needs numpy."""
import contextlib
import json
import os
import shutil
import subprocess

import numpy as np

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "tokenizer")


def vocabulary_size(path):
    """Counts the pieces of a SentencePiece model: one field 1 of the protocol buffer each."""
    data = open(path, "rb").read()
    at, count = 0, 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        count += key >> 3 == 1
        assert key & 7 == 2, "the top level holds messages only"
        length = varint()
        at += length
    return count


def marian_arrays(V, D, F, layers, end_bias, seed, unk_bias=0.0):
    rng = np.random.default_rng(seed)
    arrays = {}

    def draw(name, *shape):
        arrays[name] = (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)

    def sublayer(scope, norm):
        arrays[scope + norm + "_ln_scale"] = np.ones((1, D), np.float32)
        arrays[scope + norm + "_ln_bias"] = np.zeros((1, D), np.float32)

    arrays["Wemb"] = rng.standard_normal((V, D)).astype(np.float32) * 0.25
    arrays["decoder_ff_logit_out_b"] = np.zeros((1, V), np.float32)
    arrays["decoder_ff_logit_out_b"][0, 0] = end_bias  # </s>
    arrays["decoder_ff_logit_out_b"][0, 1] = unk_bias  # <unk>
    for side, kinds in (("encoder", ["self"]), ("decoder", ["self", "context"])):
        for i in range(1, layers + 1):
            for kind in kinds:
                for letter in "qkvo":
                    draw("%s_l%d_%s_W%s" % (side, i, kind, letter), D, D)
                    arrays["%s_l%d_%s_b%s" % (side, i, kind, letter)] = np.zeros((1, D), np.float32)
                sublayer("%s_l%d_%s" % (side, i, kind), "_Wo")
            draw("%s_l%d_ffn_W1" % (side, i), D, F)
            draw("%s_l%d_ffn_W2" % (side, i), F, D)
            arrays["%s_l%d_ffn_b1" % (side, i)] = np.zeros((1, F), np.float32)
            arrays["%s_l%d_ffn_b2" % (side, i)] = np.zeros((1, D), np.float32)
            sublayer("%s_l%d_ffn" % (side, i), "_ffn")
    options = {
        "type": "transformer", "dim-emb": D, "dim-vocabs": "[%d, %d]" % (V, V), "enc-depth": layers,
        "dec-depth": layers, "transformer-heads": 4, "transformer-dim-ffn": F, "transformer-ffn-depth": 2,
        "transformer-decoder-dim-ffn": 0, "transformer-decoder-ffn-depth": 0,
        "transformer-ffn-activation": "relu", "transformer-decoder-autoreg": "self-attention",
        "transformer-preprocess": '""', "transformer-postprocess": "dan", "transformer-postprocess-emb": "d",
        "transformer-postprocess-top": '""', "transformer-no-projection": "false",
        "transformer-train-position-embeddings": "false", "transformer-guided-alignment-layer": "last",
        "transformer-tied-layers": "[]", "tied-embeddings": "false", "tied-embeddings-src": "false",
        "tied-embeddings-all": "true", "right-left": "false", "input-types": "[]", "version": "v1.12.0 test",
    }
    text = "".join("%s: %s\n" % kv for kv in options.items())
    arrays["special:model.yml"] = np.frombuffer(text.encode() + b"\0", dtype=np.int8)
    return arrays


def make(program, folder, source="en", target="de", D=32, F=64, layers=2, end_bias=4.0, seed=1,
         unk_bias=0.0, vocabulary="bytes.model"):
    """Makes a bundle in `folder`. A low end_bias makes outputs that run to their length limit; a high unk_bias (with a
    vocabulary that has <unk>: joint.model) makes outputs with unknown characters."""
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    spm = folder + ".spm"
    shutil.copyfile(os.path.join(DATA, vocabulary), spm)
    npz = folder + ".npz"
    np.savez(npz, **marian_arrays(vocabulary_size(spm), D, F, layers, end_bias, seed, unk_bias))
    subprocess.run([program, "convert", "marian", "--model", npz, "--vocab", spm, "--source-lang", source,
                    "--target-lang", target, "--name", os.path.basename(folder), "--out", folder], check=True,
                   stdout=subprocess.DEVNULL)
    os.remove(npz)
    os.remove(spm)
    if unk_bias:
        allow_unknown(program, folder)
    return folder


def edit(program, folder, change, *options):
    """Changes a bundle's manifest, which it returns, and seals the bundle again."""
    path = os.path.join(folder, "manifest.json")
    with open(path, encoding="utf-8") as f:
        manifest = json.load(f)
    change(manifest)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(manifest, f)
    subprocess.run([program, "seal", folder, *options], check=True, stdout=subprocess.DEVNULL)
    return manifest


def allow_unknown(program, folder):
    """Allows <unk> in answers, which Marian never gives and converted models therefore exclude."""
    edit(program, folder, lambda manifest: manifest["decoding"].pop("never"))


@contextlib.contextmanager
def loading(bundle, folder):
    """Copies a bundle. A server goes on loading the copy until the context is left: its manifest is a pipe that nobody writes to."""
    shutil.copytree(bundle, folder)
    manifest, real = os.path.join(folder, "manifest.json"), folder + ".json"
    os.rename(manifest, real)
    os.mkfifo(manifest)
    try:
        yield folder
    finally:
        pipe = os.open(manifest, os.O_RDWR)  # the server's end opens now
        with open(real, "rb") as f:
            os.write(pipe, f.read())
        os.replace(real, manifest)
        os.close(pipe)
