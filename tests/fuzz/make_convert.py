#!/usr/bin/env python3
"""Makes corpus/convert: model folders of tests/data/convert, cut down to a few numbers (the first elements of each array),
as the one input that fuzz_convert.c takes apart. Run it in the repository's root."""
import io
import json
import os
import struct

DATA, OUT = "tests/data/convert/", "tests/fuzz/corpus/convert/"
# In the order of fuzz_convert.c.
MARIAN, BERGAMOT, CTRANSLATE2, ARGOS, HUGGINGFACE = range(5)
NAMES = ["config.json", "generation_config.json", "tokenizer_config.json", "vocab.json", "target_vocab.json",
         "model.safetensors", "pytorch_model.bin", "model.safetensors.index.json", "model-00001-of-00002.safetensors",
         "model-00002-of-00002.safetensors", "model.bin", "shared_vocabulary.json", "source_vocabulary.json",
         "target_vocabulary.json", "shared_vocabulary.txt", "model.npz", "source.yml", "target.yml", "model.ende.bin",
         "lex.bin", "config.yml", "metadata.json", "package.argosmodel", "sentencepiece.bpe.model"]


def spm():
    """A SentencePiece model of six pieces, as a handmade protobuf."""
    out = b""
    for piece, score, kind in [("</s>", 0, 3), ("<unk>", 0, 2), ("\u2581a", -1, 1), ("b", -2, 1), (".", -2, 1), ("\u2581", -3, 1)]:
        text = piece.encode()
        one = b"\x0a" + bytes([len(text)]) + text + b"\x15" + struct.pack("<f", score) + b"\x18" + bytes([kind])
        out += b"\x0a" + bytes([len(one)]) + one
    trainer = b"\x18\x01" + b"\x20\x06" + b"\xc0\x02\x01" + b"\xc8\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" + b"\xd0\x02\x00"
    return out + b"\x12" + bytes([len(trainer)]) + trainer + b"\x1a\x0a\x0a\x08identity"


def read(path):
    with open(DATA + path, "rb") as f:
        return f.read()


def write(name, family, files, options=0):
    out = bytes([family, options])
    for file, data in files.items():
        out += struct.pack("<BH", NAMES.index(file), len(data)) + data
    with open(OUT + name, "wb") as f:
        f.write(out)
    print(name, len(out))


def cut(shape, sizes):
    return [sizes.get(n, n) for n in shape]


def count(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def safetensors(path, sizes, extra=()):
    raw = read(path)
    n, = struct.unpack("<Q", raw[:8])
    header, data, new = json.loads(raw[8:8 + n]), b"", {}
    for name, t in header.items():
        if name == "__metadata__" or "layers.1" in name:
            continue
        begin = 8 + n + t["data_offsets"][0]
        width = {"F32": 4, "F16": 2, "BF16": 2}[t["dtype"]]
        shape = cut(t["shape"], sizes)
        new[name] = {"dtype": t["dtype"], "shape": shape, "data_offsets": [len(data), len(data) + width * count(shape)]}
        data += raw[begin:begin + width * count(shape)]
    text = json.dumps(new, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def huggingface(name, sizes, **change):
    config = json.loads(read(f"huggingface/{name}/config.json"))
    config.update(d_model=4, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
                  encoder_ffn_dim=6, decoder_ffn_dim=6, max_position_embeddings=8, **change)
    generation = {k: v for k, v in json.loads(read(f"huggingface/{name}/generation_config.json")).items()}
    for o in (config, generation):
        for key in ("decoder_start_token_id", "pad_token_id"):
            o[key] = config["vocab_size"] - 1
        o.pop("bad_words_ids", None)
    return {"config.json": json.dumps(config).encode(), "generation_config.json": json.dumps(generation).encode(),
            "tokenizer_config.json": read(f"huggingface/{name}/tokenizer_config.json"),
            "model.safetensors": safetensors(f"huggingface/{name}/model.safetensors", sizes)}


def pieces(n, *more):
    names = ["</s>", "<unk>", *more, "\u2581a", "b", ".", "\u2581"][:n - 1] + ["<pad>"]
    return json.dumps({p: i for i, p in enumerate(names)}).encode()


def ctranslate2(path, sizes):
    raw, at = read(path), 0

    def take(f):
        nonlocal at
        value, = struct.unpack_from("<" + f, raw, at)
        at += struct.calcsize("<" + f)
        return value

    def text():
        nonlocal at
        n = take("H")
        at += n
        return raw[at - n:at]

    def put(s):
        return struct.pack("<H", len(s)) + s

    out, variables = struct.pack("<I", take("I")) + put(text()) + struct.pack("<I", take("I")), []
    for _ in range(take("I")):
        name = text()
        shape = [take("I") for _ in range(take("B"))]
        kind, size = take("B"), take("I")
        data, new = raw[at:at + size], cut(shape, sizes)
        at += size
        if b"layer_1" in name:
            continue
        if name.endswith(b"num_heads\0"):
            data = struct.pack("<H", 2)
        n = count(new) * (size // count(shape))
        variables.append(put(name) + struct.pack("<B%dIBI" % len(new), len(new), *new, kind, n) + data[:n])
    out += struct.pack("<I", len(variables)) + b"".join(variables)
    return out + raw[at:]


def bergamot(path):
    raw, at = read(path), 16
    n = struct.unpack_from("<QQ", raw)[1]
    heads = [struct.unpack_from("<QQQQ", raw, at + 32 * i) for i in range(n)]
    at += 32 * n
    names, shapes, items = [], [], []
    for h in heads:
        names.append(raw[at:at + h[0]])
        at += h[0]
    for h in heads:
        shapes.append(struct.unpack_from("<%di" % h[2], raw, at))
        at += 4 * h[2]
    at += 8 + struct.unpack_from("<Q", raw, at)[0]
    for h, name, shape in zip(heads, names, shapes):
        data = raw[at:at + h[3]]
        at += h[3]
        if b"_l2_" in name:
            continue
        if name == b"special:model.yml\0":
            data = data.replace(b"dim-emb: 64", b"dim-emb: 8 ").replace(b"- 144", b"- 6  ")
            data = data.replace(b"dim-ffn: 64", b"dim-ffn: 8 ").replace(b"heads: 4", b"heads: 2")
            data = data.replace(b"enc-depth: 2", b"enc-depth: 1").replace(b"dec-depth: 2", b"dec-depth: 1")
            new = shape
        else:
            new = cut(shape, {64: 8, 144: 6})
            if h[1] == 0x4101:
                data = data[:count(new)] + data[count(shape):count(shape) + 4]
            else:
                data = data[:4 * count(new)]
            data += b"\0" * (-len(data) % 256)
        items.append((name, h[1], new, data))
    out = struct.pack("<QQ", 1, len(items))
    for name, kind, shape, data in items:
        out += struct.pack("<QQQQ", len(name), kind, len(shape), len(data))
    out += b"".join(i[0] for i in items) + b"".join(struct.pack("<%di" % len(i[2]), *i[2]) for i in items)
    pad = -(len(out) + 8) % 256
    return out + struct.pack("<Q", pad) + b"\0" * pad + b"".join(i[3] for i in items)


def lexicon(lists):
    offsets, ids = [0], []
    for each in lists:
        ids += each
        offsets.append(len(ids))
    body = struct.pack("<4Q", 2, max(map(len, lists)), len(offsets), len(ids))
    body += struct.pack("<%dQ" % len(offsets), *offsets) + struct.pack("<%dI" % len(ids), *ids)
    h, mask = 0, (1 << 64) - 1
    for i in range(len(body) // 8):
        v, = struct.unpack_from("<Q", body, 8 * i)
        h = (h ^ ((v + 0x9e3779b9 + ((h << 6) & mask) + (h >> 2)) & mask)) & mask
    return struct.pack("<QQ", 0xF11A48D5013417F5, h) + body


def main():
    os.makedirs(OUT, exist_ok=True)
    with open("tests/fuzz/six.spm", "wb") as f:
        f.write(spm())
    learned = {16: 4, 24: 6, 124: 6, 160: 8}
    files = huggingface("learned", learned, vocab_size=6, decoder_vocab_size=6)
    write("huggingface", HUGGINGFACE, {**files, "vocab.json": pieces(6)})
    multi = {**files, "vocab.json": pieces(6, ">>deu<<", ">>fra<<"), "tokenizer_config.json": b'{"source_lang":"eng"}'}
    write("huggingface_tags", HUGGINGFACE, multi, 1)
    half = safetensors("huggingface/learned/model.safetensors", learned)
    n, = struct.unpack("<Q", half[:8])
    tensors = [k for k in json.loads(half[8:8 + n])]
    index = json.dumps({"metadata": {}, "weight_map": {k: NAMES[8] for k in tensors}}).encode()
    shards = {k: v for k, v in files.items() if k != "model.safetensors"}
    write("huggingface_shards", HUGGINGFACE, {**shards, "vocab.json": pieces(6), NAMES[7]: index, NAMES[8]: half})

    m2m = json.loads(read("m2m100/m2m/config.json"))
    m2m.update(d_model=4, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
               encoder_ffn_dim=6, decoder_ffn_dim=6)
    write("m2m100", HUGGINGFACE, {
        "config.json": json.dumps(m2m).encode(), "generation_config.json": read("m2m100/m2m/generation_config.json"),
        "tokenizer_config.json": read("m2m100/m2m/tokenizer_config.json"), "vocab.json": read("m2m100/m2m/vocab.json"),
        "model.safetensors": safetensors("m2m100/m2m/model.safetensors", {48: 4, 64: 6, 56: 6}),
        "sentencepiece.bpe.model": b""})

    sizes = {64: 4, 128: 8, 192: 12, 96: 6, 145: 5, 150: 8}
    for kind in ("int8", "f16"):
        folder = {"config.json": read(f"ctranslate2_prenorm/{kind}/config.json"),
                  "model.bin": ctranslate2(f"ctranslate2_prenorm/{kind}/model.bin", sizes),
                  "shared_vocabulary.json": '["<unk>","<s>","</s>","\u2581a","."]'.encode()}
        write("ctranslate2_" + kind, CTRANSLATE2, folder, 2 if kind == "int8" else 1)
    folder["metadata.json"] = b'{"from_code":"en","to_code":"zt","target_prefix":"."}'
    write("argos", ARGOS, folder)
    package = io.BytesIO()
    import zipfile
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in folder.items():
            z.writestr(zipfile.ZipInfo("en_zt/" + ("" if name == "metadata.json" else "model/") + name), data)
        z.writestr(zipfile.ZipInfo("en_zt/sentencepiece.model"), spm())
    write("argos_package", ARGOS, {"package.argosmodel": package.getvalue()}, 4)

    write("marian_shared", MARIAN, {"model.npz": read("marian/shared.npz"), "source.yml": read("marian/five.yml")})
    write("marian_apart", MARIAN, {"model.npz": read("marian/apart.npz"), "source.yml": read("marian/four.yml"),
                                   "target.yml": read("marian/five.yml")}, 8 | 1)
    student = bergamot("bergamot/model.ende.intgemm.alphas.bin")
    write("bergamot", BERGAMOT, {"model.ende.bin": student, "lex.bin": lexicon([[2, 3], [4], [2, 5], [], [3], [2]])}, 2)
    config = b"models:\n  - model.ende.bin\nvocabs:\n  - vocab.ende.spm\n  - vocab.ende.spm\nshortlist:\n  - lex.bin\n  - false\n"
    write("bergamot_config", BERGAMOT, {"model.ende.bin": student, "config.yml": config,
                                        "lex.bin": lexicon([[2], [4], [2, 5], [3], [3], [2]])})


if __name__ == "__main__":
    main()
