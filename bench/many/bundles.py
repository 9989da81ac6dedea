"""Bundles of the size of Firefox's tiny models: 6 encoder layers, 2 SSRU decoder layers, 256 wide, 32,000 pieces, int8, with a
shortlist. The weights are random: the benchmark measures opening and closing, and checks that answers repeat exactly."""
import json
import os
import shutil
import subprocess

import numpy as np
import random_marian

D, F, HEADS, ENCODER, DECODER, V = 256, 1536, 8, 6, 2, 32000
# Forty-five languages besides English; which ones does not matter.
LANGUAGES = ("af ar az be bg bn bs ca cs cy da de el es et eu fa fi fr ga gl gu he hi hr hu id is it ja ka kn ko lt lv mk ml mr ms nl no pl pt ro ru").split()


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def fields(data):
    """(number, payload) of each field of a protobuf message whose fields are all length-delimited."""
    at = 0

    def read():
        nonlocal at
        value = shift = 0
        while True:
            byte, at = data[at], at + 1
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    while at < len(data):
        key, n = read(), read()
        yield key >> 3, data[at:at + n]
        at += n


def vocabulary(model, path):
    """Write the SentencePiece model at `model`, filled up to 32,000 pieces with random words: real text is split as before."""
    with open(model, "rb") as f:
        parts = list(fields(f.read()))
    rng, seen, added = np.random.default_rng(1), set(), []
    while len(added) < V - sum(n == 1 for n, _ in parts):
        word = "▁" + "".join(chr(97 + c) for c in rng.integers(0, 26, 9))
        if word not in seen:
            seen.add(word)
            added.append(field(1, b"\x0a" + varint(len(word.encode())) + word.encode() + b"\x15" + np.float32(-20).tobytes()))
    with open(path, "wb") as f:
        f.write(b"".join(field(n, p) for n, p in parts if n == 1) + b"".join(added) +
                b"".join(field(n, p) for n, p in parts if n != 1))


def arrays(seed):
    rng, a = np.random.default_rng(seed), {}

    def matrix(name, rows, columns):
        a[name] = (rng.standard_normal((rows, columns)) / np.sqrt(rows)).astype(np.float32)

    def vector(name, n, value=0.0):
        a[name] = np.full((1, n), value, np.float32)

    def norm(name):
        vector(name + "_ln_scale", D, 1.0)
        vector(name + "_ln_bias", D)

    def attention(name):
        for letter in "qkvo":
            matrix(name + "_W" + letter, D, D)
            vector(name + "_b" + letter, D)
        norm(name + "_Wo")

    a["Wemb"] = rng.standard_normal((V, D)).astype(np.float32) * 0.06
    vector("decoder_ff_logit_out_b", V)
    a["decoder_ff_logit_out_b"][0, 0] = 4.0  # </s>: gives answers of ordinary length
    for side, layers in (("encoder", ENCODER), ("decoder", DECODER)):
        for i in range(1, layers + 1):
            at = f"{side}_l{i}_"
            if side == "encoder":
                attention(at + "self")
            else:
                matrix(at + "rnn_W", D, D)
                matrix(at + "rnn_Wf", D, D)
                vector(at + "rnn_bf", D)
                norm(at + "rnn_ffn")
                attention(at + "context")
            matrix(at + "ffn_W1", D, F)
            matrix(at + "ffn_W2", F, D)
            vector(at + "ffn_b1", F)
            vector(at + "ffn_b2", D)
            norm(at + "ffn_ffn")
    a["special:model.yml"] = np.frombuffer(random_marian.yaml({
        **random_marian.OPTIONS, "dim-emb": D, "dim-vocabs": f"[{V}, {V}]", "enc-depth": ENCODER, "dec-depth": DECODER,
        "transformer-heads": HEADS, "transformer-dim-ffn": F, "transformer-decoder-autoreg": "rnn", "dec-cell": "ssru",
        "right-left": "false", "version": "v1.12.0 random"}), dtype=np.int8)
    return a


def make_model(programs, spm, folder, seed):
    """Make a complete bundle in `folder`."""
    dragoman, full = os.path.join(programs, "dragoman"), folder + ".full"
    np.savez(folder + ".npz", **arrays(seed))
    quiet = dict(check=True, stdout=subprocess.DEVNULL)
    subprocess.run([dragoman, "convert", "marian", "--model", folder + ".npz", "--vocab", spm, "--source-lang", "en",
                    "--target-lang", "de", "--out", full], **quiet)
    subprocess.run([dragoman, "quantize", full, "--out", folder], **quiet)
    subprocess.run([os.path.join(programs, "random-shortlist"), folder, "100", "100"], **quiet)
    os.remove(folder + ".npz")
    shutil.rmtree(full)


def pairs():
    return [("en", x) for x in LANGUAGES] + [(x, "en") for x in LANGUAGES]


def make(programs, source_spm, work, models=6):
    """Make ninety bundles under work/bundles, each a copy of one of a few models. Returns {pair: number of its model}."""
    folder = os.path.join(work, "bundles")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(folder)
    spm = os.path.join(work, "v32000.spm")
    vocabulary(source_spm, spm)
    for i in range(models):
        make_model(programs, spm, os.path.join(work, f"model{i}"), i)
    made = {}
    for k, pair in enumerate(pairs()):
        name, model = "-".join(pair), k % models
        path = shutil.copytree(os.path.join(work, f"model{model}"), os.path.join(folder, name))
        with open(os.path.join(path, "manifest.json"), encoding="utf-8") as f:
            manifest = json.load(f)
        manifest["pairs"] = [pair]
        manifest["check"]["pair"] = pair
        with open(os.path.join(path, "manifest.json"), "w", encoding="utf-8") as f:
            json.dump(manifest, f)
        subprocess.run([os.path.join(programs, "dragoman"), "seal", path, "--set", "name=" + name], check=True,
                       stdout=subprocess.DEVNULL)
        made[pair] = model
    return made
