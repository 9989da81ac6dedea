#!/usr/bin/env python3
"""Makes the archives in this folder (fixed seed, the same bytes each time): npz/ for the archive reader, marian/ for the
converter. A Marian model comes with NAME.expected.npz: our tensors under our names, put together here with NumPy alone.
Run in this folder; needs numpy."""
import io
import os
import struct
import zipfile

import numpy as np


# Archives, entry by entry ------------------------------------------------------------------------------------

def dictionary(descr="'<f4'", order="False", shape="(2, 3)"):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)


def npy(header=None, data=np.arange(6, dtype="<f4").tobytes(), version=(1, 0), magic=b"\x93NUMPY", pad=True):
    text = (header or dictionary()).encode("latin-1")
    width = 2 if version[0] == 1 else 4
    if pad:
        text += b" " * (-(len(magic) + 2 + width + len(text) + 1) % 64) + b"\n"
    return magic + bytes(version) + struct.pack("<H" if width == 2 else "<I", len(text)) + text + data


def write_zip(path, entries, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as z:
        for name, data in entries:
            z.writestr(zipfile.ZipInfo(name), data, compress_type=method)


def bad(name, *args, **kwargs):
    write_zip("npz/%s.npz" % name, [("x.npy", npy(*args, **kwargs))])


def make_npz():
    os.makedirs("npz", exist_ok=True)
    good = [("x.npy", npy()), ("v2.npy", npy(version=(2, 0))), ("v3.npy", npy(version=(3, 0))),
            ("scalar.npy", npy(dictionary(shape="()"), b"\0\0\x80\x3f")),
            ("vector.npy", npy(dictionary(shape="(3,)"), b"\0" * 12)),
            ("four.npy", npy(dictionary(shape="(1, 1, 3, 2)"))),
            ("special:bytes.npy", npy(dictionary("'|i1'", shape="(5,)"), b"hello")),
            ("u1.npy", npy('{"shape":(5,),"descr":"|u1","fortran_order":False}', b"world", pad=False)),
            ("marian's.npy", npy(dictionary("'<i1'", shape="(5,)"), b"bytes")),
            ("half.npy", npy(dictionary("'<f2'", shape="(2,)"), struct.pack("<2e", 1, -0.5)))]
    write_zip("npz/good.npz", good)
    write_zip("npz/good_deflated.npz", good, zipfile.ZIP_DEFLATED)
    bad("fortran", dictionary(order="True"))
    bad("not_boolean", dictionary(order="0"))
    bad("big_endian", dictionary("'>f4'"))
    bad("doubles", dictionary("'<f8'"), b"\0" * 48)
    bad("structured", dictionary("[('a', '<f4')]"))
    bad("zero", dictionary(shape="(0, 3)"), b"")
    bad("number", dictionary(shape="(6)"))
    bad("negative", dictionary(shape="(-2, -3)"))
    bad("five", dictionary(shape="(1, 1, 1, 2, 3)"))
    bad("huge", dictionary(shape="(4294967296, 4294967296)"))
    bad("wraps", dictionary(shape="(99999999999999999999999,)"))
    bad("claims_more", dictionary(shape="(2, 4)"))
    bad("claims_less", dictionary(shape="(2, 2)"))
    bad("no_shape", "{'descr': '<f4', 'fortran_order': False, }")
    bad("twice", "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }")
    bad("unknown_key", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 1, }")
    bad("trailing", dictionary() + " #")
    bad("no_dictionary", "(2, 3)")
    bad("open_end", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)")
    bad("magic", magic=b"\x93NUMPI")
    bad("version", version=(4, 0))
    bad("long_header", dictionary() + " " * 5000)
    bad("no_data", data=b"")
    write_zip("npz/cut_header.npz", [("x.npy", npy()[:20])])
    write_zip("npz/empty_entry.npz", [("x.npy", b"")])
    write_zip("npz/not_npy.npz", [("x.txt", npy())])
    write_zip("npz/no_entries.npz", [])
    write_zip("npz/same_name.npz", [("x.npy", npy())])
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as z:
        z.writestr(zipfile.ZipInfo("x.npy"), npy())
        z.writestr(zipfile.ZipInfo("y.npy"), npy())
    data = raw.getvalue()
    open("npz/same_name.npz", "wb").write(data.replace(b"y.npy", b"x.npy"))
    one = open("npz/claims_more.npz", "rb").read()
    open("npz/cut_archive.npz", "wb").write(one[:-30])
    write_zip("npz/crc.npz", [("x.npy", npy())])
    data = bytearray(open("npz/crc.npz", "rb").read())
    data[data.index(npy()) + len(npy()) - 1] ^= 1  # the last byte of the stored data
    open("npz/crc.npz", "wb").write(data)
    open("npz/no_zip.npz", "wb").write(b"this is no archive\n" * 4)


# Marian models -----------------------------------------------------------------------------------------------

BASE = {
    "type": "transformer", "dim-emb": 4, "dim-vocabs": "[5, 5]", "enc-depth": 1, "dec-depth": 1,
    "transformer-heads": 2, "transformer-dim-ffn": 6, "transformer-ffn-depth": 2,
    "transformer-decoder-dim-ffn": 0, "transformer-decoder-ffn-depth": 0, "transformer-ffn-activation": "relu",
    "transformer-decoder-autoreg": "self-attention", "transformer-preprocess": '""',
    "transformer-postprocess": "dan", "transformer-postprocess-emb": "d", "transformer-postprocess-top": '""',
    "transformer-no-projection": "false", "transformer-train-position-embeddings": "false",
    "transformer-guided-alignment-layer": "last", "transformer-tied-layers": "[]",
    "tied-embeddings": "false", "tied-embeddings-src": "false", "tied-embeddings-all": "true",
    "right-left": "false", "input-types": "[]", "version": "v1.12.0 test",
}


class Model:
    """Marian's arrays in Marian's orientation, and the tensors that the converter should make of them."""

    def __init__(self, seed, options):
        self.rng = np.random.default_rng(seed)
        self.options = dict(BASE, **options)
        self.arrays, self.ours = {}, {}
        o = self.options
        self.D, self.F = o["dim-emb"], o["transformer-dim-ffn"]
        self.Vs, self.Vt = (int(v) for v in o["dim-vocabs"].strip("[]").split(","))
        self.bias = o.get("transformer-no-bias", "false") == "false"

    def draw(self, name, *shape):
        self.arrays[name] = self.rng.standard_normal(shape, dtype=np.float32)
        return self.arrays[name]

    def matrices(self, ours, names, inputs, outputs):
        self.ours[ours] = np.concatenate([self.draw(n, inputs, outputs).T for n in names])

    def vectors(self, ours, names, n):
        self.ours[ours] = np.concatenate([self.draw(name, 1, n) for name in names], axis=1)

    def norm(self, ours, name):
        self.vectors(ours + ".gain", [name + "_ln_scale"], self.D)
        self.vectors(ours + ".bias", [name + "_ln_bias"], self.D)

    def projection(self, ours, scope, letters):
        self.matrices(ours + ".w", [scope + "_W" + c for c in letters], self.D, self.D)
        if self.bias:
            self.vectors(ours + ".b", [scope + "_b" + c for c in letters], self.D)

    def attention(self, ours, scope, split):
        for name, letters in split:
            self.projection(ours + name, scope, letters)
        self.norm(ours + ".norm", scope + "_Wo")

    def ffn(self, ours, scope):
        for i, (inputs, outputs) in enumerate([(self.D, self.F), (self.F, self.D)], 1):
            self.matrices("%s.w%d" % (ours, i), ["%s_W%d" % (scope, i)], inputs, outputs)
            if self.bias:
                self.vectors("%s.b%d" % (ours, i), ["%s_b%d" % (scope, i)], outputs)
            else:
                self.ours["%s.b%d" % (ours, i)] = np.zeros((1, outputs), np.float32)
        self.norm(ours + ".norm", scope + "_ffn")

    def layers(self):
        self_split = [(".qkv", "qkv"), (".out", "o")]
        for i in range(self.options["enc-depth"]):
            self.attention("enc.%d.self" % i, "encoder_l%d_self" % (i + 1), self_split)
            self.ffn("enc.%d.ffn" % i, "encoder_l%d_ffn" % (i + 1))
        for i in range(self.options["dec-depth"]):
            self.attention("dec.%d.self" % i, "decoder_l%d_self" % (i + 1), self_split)
            self.attention("dec.%d.cross" % i, "decoder_l%d_context" % (i + 1),
                           [(".q", "q"), (".kv", "kv"), (".out", "o")])
            self.ffn("dec.%d.ffn" % i, "decoder_l%d_ffn" % (i + 1))

    def write(self, name, expected=True):
        text = "".join("%s: %s\n" % kv for kv in self.options.items())
        special = np.frombuffer(text.encode() + b"\0", dtype=np.int8)
        arrays = dict(self.arrays, **{"special:model.yml": special})
        np.savez_compressed("marian/%s.npz" % name, **arrays)
        if expected:
            rows = {k: np.ascontiguousarray(v) for k, v in self.ours.items()}
            np.savez_compressed("marian/%s.expected.npz" % name, **rows)


def shared():
    m = Model(1, {"enc-depth": 2})
    m.ours["src.embed"] = m.draw("Wemb", m.Vs, m.D)
    m.vectors("out.b", ["decoder_ff_logit_out_b"], m.Vt)
    m.layers()
    return m


def apart():
    """No shared matrices, no biases, trained positions, an output matrix in the old orientation."""
    m = Model(2, {"dec-depth": 2, "dim-vocabs": "[4, 5]", "tied-embeddings-all": "false",
                  "transformer-no-bias": "true", "transformer-ffn-activation": "swish",
                  "transformer-train-position-embeddings": "true", "output-omit-bias": "true",
                  "transformer-guided-alignment-layer": "1", "transformer-heads": 1})
    m.ours["src.embed"] = m.draw("encoder_Wemb", m.Vs, m.D)
    m.ours["tgt.embed"] = m.draw("decoder_Wemb", m.Vt, m.D)
    m.ours["out.w"] = m.draw("decoder_ff_logit_out_W", m.D, m.Vt).T
    m.ours["src.pos"] = m.ours["tgt.pos"] = m.draw("Wpos", 7, m.D)
    m.layers()
    return m


def target_tied():
    m = Model(3, {"dim-vocabs": "[4, 5]", "tied-embeddings-all": "false", "tied-embeddings": "true"})
    m.ours["src.embed"] = m.draw("encoder_Wemb", m.Vs, m.D)
    m.ours["tgt.embed"] = m.draw("decoder_Wemb", m.Vt, m.D)
    m.vectors("out.b", ["decoder_ff_logit_out_b"], m.Vt)
    m.layers()
    return m


def source_tied():
    m = Model(4, {"tied-embeddings-all": "false", "tied-embeddings-src": "true"})
    m.ours["src.embed"] = m.draw("Wemb", m.Vs, m.D)
    m.ours["out.w"] = m.draw("decoder_ff_logit_out_Wt", m.Vt, m.D)
    m.vectors("out.b", ["decoder_ff_logit_out_b"], m.Vt)
    m.layers()
    return m


def make_marian():
    os.makedirs("marian", exist_ok=True)
    for make in (shared, apart, target_tied, source_tied):
        make().write(make.__name__)
    m = shared()
    del m.arrays["encoder_l2_ffn_W2"]
    m.write("missing", expected=False)
    m = shared()
    m.draw("encoder_l1_self_Wi", 4, 4)
    m.write("unknown", expected=False)
    m = shared()
    m.draw("decoder_l1_context_Wk", 4, 3)
    m.write("misshapen", expected=False)
    with open("marian/five.yml", "w", encoding="utf-8") as f:
        f.write('</s>: 0\n<unk>: 1\n"\\u2581a\\"": 2\n\'it\'\'s\': 3\n? "a key that is written the long way"\n: 4\n')
    with open("marian/four.yml", "w", encoding="utf-8") as f:
        f.write('"b": 3\n"</s>": 0\n"yes": 2\n"<unk>": 1\n"beyond": 4\n')


os.chdir(os.path.dirname(os.path.abspath(__file__)))
make_npz()
make_marian()
