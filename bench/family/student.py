"""A student model as Firefox and Bergamot use it: random weights in Marian's binary format (int8, one scale per matrix), a
SentencePiece vocabulary, a lexical shortlist, the engine's configuration, and texts in words of that vocabulary.

Like real shortlists, these follow Zipf's law: frequent target pieces are in many lists. </s> is never likely, so every answer
runs to its length limit."""
import os
import struct

import random_marian
import numpy as np
from sentencepiece import sentencepiece_model_pb2 as spm

MAGIC, MASK = 0xF11A48D5013417F5, (1 << 64) - 1
FIRST, BEST = 50, 50  # shortlist parameters of the published models
ALPHA = 127 / 6  # scale of all activations

OPTIONS = {
    **random_marian.OPTIONS, "transformer-decoder-autoreg": "rnn", "dec-cell": "ssru", "version": "v1.12.14 random", "enc-cell": "gru",
    "enc-cell-depth": 1, "enc-type": "bidirectional", "dec-cell-base-depth": 2, "dec-cell-high-depth": 1, "dim-rnn": 1024,
    "right-left": "false", "factors-combine": "sum"}

CONFIG = """models:
  - model.bin
vocabs:
  - vocab.spm
  - vocab.spm
shortlist:
  - lex.bin
  - false
beam-size: 1
normalize: 1.0
word-penalty: 0
max-length-break: 128
mini-batch-words: 1024
workspace: 128
max-length-factor: 1.0
skip-cost: true
cpu-threads: 0
quiet: true
quiet-translation: true
gemm-precision: int8shiftAlphaAll
"""


def words(n):
    """n different words in lower case."""
    consonants, vowels = "bdfghklmnprstvwz", "aeiou"
    syllables = [c + v for c in consonants for v in vowels]
    return [syllables[i // 6400 % 80] + syllables[i // 80 % 80] + syllables[i % 80] for i in range(n)]


def write_vocabulary(path, vocab):
    """Write a unigram model with the students' ids: </s> 0, <unk> 1, then letters and words."""
    model = spm.ModelProto()
    letters = ["▁"] + [chr(c) for c in range(ord("a"), ord("z") + 1)]
    known = words(vocab - 2 - len(letters))
    kinds = spm.ModelProto.SentencePiece
    for piece, kind, score in ([("</s>", kinds.CONTROL, 0.0), ("<unk>", kinds.UNKNOWN, 0.0)]
                               + [(x, kinds.NORMAL, -20.0) for x in letters]
                               + [("▁" + w, kinds.NORMAL, -float(np.log(i + 8))) for i, w in enumerate(known)]):
        model.pieces.add(piece=piece, type=kind, score=score)
    t = model.trainer_spec
    t.model_type, t.vocab_size = spm.TrainerSpec.UNIGRAM, vocab
    t.unk_id, t.bos_id, t.eos_id, t.pad_id = 1, -1, 0, -1
    model.normalizer_spec.name = "identity"
    with open(path, "wb") as f:
        f.write(model.SerializeToString())
    return known


def weights(rng, a):
    """{Marian's name: fp32 array}"""
    w, d, f = random_marian.Writer(rng), a.d_model, a.d_ff
    w.normal("Wemb", (a.vocab, d), d ** -0.5)
    for i in range(1, a.encoder_layers + 1):
        w.attention(f"encoder_l{i}_self", d)
        w.ffn(f"encoder_l{i}_ffn", d, f)
    for i in range(1, a.decoder_layers + 1):
        w.linear(f"decoder_l{i}_rnn_W", None, d, d)
        w.linear(f"decoder_l{i}_rnn_Wf", f"decoder_l{i}_rnn_bf", d, d)
        w.norm(f"decoder_l{i}_rnn_ffn", d)
        w.attention(f"decoder_l{i}_context", d)
        w.ffn(f"decoder_l{i}_ffn", d, f, 3.0 if i == a.decoder_layers else 1.0)
    w.normal("decoder_ff_logit_out_b", (1, a.vocab), 0.1)
    w.arrays["decoder_ff_logit_out_b"][0, 0] = -1000.0
    return w.arrays


def items(arrays, options):
    """(name, type, shape, bytes) of each item of the file. Matrices are transposed, embedding tables are not."""
    text = random_marian.yaml(options)
    every = dict(arrays)
    for name in arrays:
        if name.find("_W") in (len(name) - 3, len(name) - 2):
            every[name + "_QuantMultA"] = np.array([ALPHA], np.float32)
    every["Wemb_QuantMultA"] = every["none_QuantMultA"] = np.array([ALPHA], np.float32)
    for name in sorted(every):
        w = every[name]
        if not name.endswith("_QuantMultA") and (name.find("_W") in (len(name) - 3, len(name) - 2) or "Wemb" in name):
            q = np.float32(127) / np.abs(w).max()
            e = np.clip(np.rint(w * q), -127, 127).astype(np.int8)
            data, kind = np.ascontiguousarray(e if "Wemb" in name else e.T).tobytes() + struct.pack("<f", q), 0x4101
        else:
            data, kind = w.astype("<f4").tobytes(), 0x404
        yield name, kind, w.shape, data + b"\0" * (-len(data) % 256)
    yield "special:model.yml", 0x101, (len(text),), text


def write_binary(path, every):
    head = struct.pack("<QQ", 1, len(every))
    for name, kind, shape, data in every:
        head += struct.pack("<QQQQ", len(name) + 1, kind, len(shape), len(data))
    for name, *_ in every:
        head += name.encode() + b"\0"
    for _, _, shape, _ in every:
        head += struct.pack(f"<{len(shape)}i", *shape)
    pad = ((len(head) + 8) // 256 + 1) * 256 - len(head) - 8
    with open(path, "wb") as f:
        f.write(head + struct.pack("<Q", pad) + b"\0" * pad)
        f.writelines(x[3] for x in every)


def write_lexicon(path, lists):
    offsets = np.concatenate([[0], np.cumsum([len(x) for x in lists])]).astype("<u8")
    ids = np.concatenate(lists).astype("<u4")
    body = struct.pack("<4Q", FIRST, BEST, len(offsets), len(ids)) + offsets.tobytes() + ids.tobytes()
    h = 0
    for v, in struct.iter_unpack("<Q", body[:len(body) // 8 * 8]):
        h ^= (v + 0x9e3779b9 + (h << 6) + (h >> 2)) & MASK
    with open(path, "wb") as f:
        f.write(struct.pack("<QQ", MAGIC, h) + body)


def zipf(n):
    frequency = 1.0 / (np.arange(n) + 8.0)
    return np.cumsum(frequency / frequency.sum())


def draw(rng, cumulated, n):
    return np.minimum(np.searchsorted(cumulated, rng.random(n)), len(cumulated) - 1)


def make(a, folder):
    """Write all files of the model into folder; texts.txt has one text of a.length words a line."""
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(a.seed)
    known = write_vocabulary(os.path.join(folder, "vocab.spm"), a.vocab)
    first = a.vocab - len(known)
    options = {**OPTIONS, "dim-emb": a.d_model, "dim-vocabs": f"[{a.vocab}, {a.vocab}]", "enc-depth": a.encoder_layers,
               "dec-depth": a.decoder_layers, "transformer-heads": a.heads, "transformer-dim-ffn": a.d_ff,
               "transformer-dim-aan": a.d_ff}
    write_binary(os.path.join(folder, "model.bin"), list(items(weights(rng, a), options)))
    law = zipf(len(known))
    lists = [np.unique(first + draw(rng, law, BEST)) for _ in range(a.vocab)]
    write_lexicon(os.path.join(folder, "lex.bin"), lists)
    with open(os.path.join(folder, "config.yml"), "w", encoding="utf-8") as f:
        f.write(CONFIG)
    with open(os.path.join(folder, "texts.txt"), "w", encoding="utf-8") as f:
        for _ in range(a.sentences):
            f.write(" ".join(known[i] for i in draw(rng, law, a.length)) + "\n")
