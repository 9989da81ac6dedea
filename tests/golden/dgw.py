"""Reads and writes bundles as weights/FORMAT.md describes them, independently of the C code: weights file,
vocabularies, manifest with its version. XXH3-64 comes from libxxhash, which the product needs anyway."""
import ctypes
import hashlib
import json
import math
import os
import re
import struct
from dataclasses import fields

import numpy as np

from transformer import Config, parameter_shapes

MAGIC = b"DGWT\r\n\x1a\n"
TYPES = {"f32": 0, "f16": 1, "bf16": 2}

# {key in the manifest's "model" or "decoding": field of Config}
MODEL_KEYS = dict(source_vocab="source_vocab", target_vocab="target_vocab", d_model="D", d_ff="F", heads="H",
                  d_k="Dk", d_v="Dv", encoder_layers="enc_layers", decoder_layers="dec_layers", norm_eps="norm_eps",
                  embed_scale="embed_scale", positions="positions", first_position="first_position",
                  max_positions="max_positions", activation="act", decoder="decoder",
                  pre_norm="pre_norm", attention_bias="attention_bias",
                  output_bias="output_bias", tied_embeddings="tied_embeddings", tied_output="tied_output",
                  eos="eos", unk="unk", start="start", source_eos="source_eos")
DECODING_KEYS = dict(beam="beam", alpha="alpha", extra_length="extra_length")
assert set(MODEL_KEYS.values()) | set(DECODING_KEYS.values()) == {f.name for f in fields(Config)}


def xxh3(data):
    lib = ctypes.CDLL("libxxhash.so.0")
    lib.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    lib.XXH3_64bits.restype = ctypes.c_uint64
    return lib.XXH3_64bits(data, len(data))


# Element types -----------------------------------------------------------------------------------------------

def to_bf16(x):
    """Bits of the nearest bfloat16, ties to even; finite numbers only."""
    bits = np.ascontiguousarray(x, dtype="<f4").view("<u4").astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)).astype("<u2")


def encode(x, kind):
    if kind == "f32":
        return np.ascontiguousarray(x, dtype="<f4").tobytes()
    return (np.asarray(x).astype("<f2") if kind == "f16" else to_bf16(x)).tobytes()


def decode(data, kind):
    if kind == TYPES["f32"]:
        return np.frombuffer(data, "<f4").copy()
    if kind == TYPES["f16"]:
        return np.frombuffer(data, "<f2").astype(np.float32)
    return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4").copy()



# The weights file --------------------------------------------------------------------------------------------

def padded(data):
    return data + b"\0" * (-len(data) % 64)


def write_weights(path, tensors, kind="f32"):
    """tensors: {name: array [N,K]}; each is stored once, row-major."""
    names = b"".join(n.encode() + b"\0" for n in tensors)
    header_bytes = len(padded(b"\0" * (64 + 96 * len(tensors)) + names))
    entries, forms, blocks = b"", b"", b""
    name_offset = 0
    for i, (name, x) in enumerate(tensors.items()):
        data = encode(x, kind)
        entries += struct.pack("<IIQQII", name_offset, len(name), *x.shape, i, 1)
        forms += struct.pack("<IIQQQQQQQ", TYPES[kind], 0, header_bytes + len(blocks), len(data), xxh3(data), 0, 0, 0, 0)
        blocks += padded(data)
        name_offset += len(name) + 1
    rest = struct.pack("<IIQQIIIIQ", 0x01020304, 1, header_bytes, header_bytes + len(blocks), len(tensors),
                       len(tensors), len(names), 0, 0)
    rest = padded(b"\0" * 16 + rest + entries + forms + names)[16:]
    with open(path, "wb") as f:
        f.write(MAGIC + struct.pack("<Q", xxh3(rest)) + rest + blocks)


def read_weights(path):
    """{name: float32 array} of a file in which the first form of each tensor is row-major."""
    with open(path, "rb") as f:
        file = f.read()
    assert file[:8] == MAGIC and struct.unpack_from("<II", file, 16) == (0x01020304, 1), path
    tensors, form_count = struct.unpack_from("<II", file, 40)
    names = 64 + 32 * tensors + 64 * form_count
    out = {}
    for i in range(tensors):
        offset, length, rows, cols, first, _ = struct.unpack_from("<IIQQII", file, 64 + 32 * i)
        kind, _, data, size = struct.unpack_from("<IIQQ", file, 64 + 32 * tensors + 64 * first)
        name = file[names + offset:names + offset + length].decode()
        out[name] = decode(file[data:data + size], kind).reshape(rows, cols)
    return out


# The bundle --------------------------------------------------------------------------------------------------

def canonical(value):
    """JSON without blanks, with sorted keys, and reals with nine digits as the C code writes them."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(k)}:{canonical(value[k])}" for k in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        text = "%.9g" % value
        if not re.search(r"[.e]", text):
            text += ".0"
        return re.sub(r"e([+-])0*", lambda m: "e" + m.group(1).replace("+", ""), text)
    return json.dumps(value)


def version(directory, manifest):
    """SHA-256 over (name, NUL, length in 8 bytes, bytes) of the manifest without its version, then of each file."""
    digest = hashlib.sha256()

    def part(name, data):
        digest.update(name.encode() + b"\0" + struct.pack("<Q", len(data)) + data)

    part("manifest", canonical({k: v for k, v in manifest.items() if k != "version"}).encode())
    for key in ("weights", "source_spm", "target_spm", "source_vocab", "target_vocab"):
        if key in manifest["files"]:
            with open(os.path.join(directory, manifest["files"][key]), "rb") as f:
                part(key, f.read())
    return digest.hexdigest()


def pieces(c, n):
    """Names of a vocabulary's n pieces."""
    special = {c.eos: "</s>", c.unk: "<unk>", c.start: "<start>"} if c.start != c.eos else {c.eos: "</s>", c.unk: "<unk>"}
    return [special.get(i, f"w{i}") for i in range(n)]


def config_values(c, keys):
    """{key: value} for the manifest. Reals have the nine digits that a float needs, so that both sides read the same value."""
    out = {}
    for key, field in keys.items():
        value = getattr(c, field)
        out[key] = float("%.9g" % value) if isinstance(value, float) else value
    return out


def write_bundle(directory, name, c, params, kind="f32"):
    assert {n: x.shape for n, x in params.items()} == parameter_shapes(c)
    os.makedirs(directory, exist_ok=True)
    write_weights(os.path.join(directory, "weights.dgw"), params, kind)
    files = {"weights": "weights.dgw", "source_vocab": "source.vocab", "target_vocab": "target.vocab"}
    if c.tied_embeddings:
        files["source_vocab"] = files["target_vocab"] = "joint.vocab"
    for side, n in (("source", c.source_vocab), ("target", c.target_vocab)):
        with open(os.path.join(directory, files[f"{side}_vocab"]), "w", encoding="utf-8") as f:
            f.write("".join(p + "\n" for p in pieces(c, n)))
    model = config_values(c, MODEL_KEYS)
    if c.start < 0:
        model["start"] = "zero"
    for key in ("max_positions", "decoder", "pre_norm"):
        if getattr(c, key) == getattr(Config, key):
            del model[key]
    manifest = {"format": 1, "name": name, "description": "Golden test model of an invented language",
                "pairs": [["en", "de"]], "files": files, "model": model,
                "decoding": config_values(c, DECODING_KEYS)}
    manifest["version"] = version(directory, manifest)
    with open(os.path.join(directory, "manifest.json"), "w", encoding="utf-8") as f:
        json.dump(manifest, f, indent=1)
        f.write("\n")


def read_bundle(directory):
    """(Config, {name: float32 array}) of a bundle that write_bundle made."""
    with open(os.path.join(directory, "manifest.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    values = {field: manifest["model"].get(key, getattr(Config, field, None)) for key, field in MODEL_KEYS.items()}
    values.update({field: manifest["decoding"][key] for key, field in DECODING_KEYS.items()})
    values["start"] = -1 if values["start"] == "zero" else values["start"]
    # The C code stores these two as floats.
    values["norm_eps"] = float(np.float32(values["norm_eps"]))
    values["embed_scale"] = float(np.float32(values["embed_scale"]))
    assert math.isfinite(values["embed_scale"])
    return Config(**values), read_weights(os.path.join(directory, manifest["files"]["weights"]))
