#!/usr/bin/env python3
"""Makes CTranslate2 directories of random weights, as in Argos packages (pre-norm, a last norm per stack, position tables in the file,
one vocabulary that has the pieces of ../pymarian/attention.spm in another order, a decoder that starts from <s>, a source without
</s>), in each type of weights, and answers.json: the results of score_batch and translate_batch with the f32 one, and of score_batch
with the others. older.json: the same of the f32 one as versions 4 and 5 with other settings. `pip install ctranslate2 numpy sentencepiece` (made with 4.8.1 or later), then `python make.py` in this folder."""
import json
import os
import shutil
import tempfile

import ctranslate2
import numpy as np
import sentencepiece
from ctranslate2.specs import common_spec, transformer_spec
from older import CASES, older

spm = sentencepiece.SentencePieceProcessor(model_file="../pymarian/attention.spm")
PIECES = ["<unk>", "<s>", "</s>"] + sorted(spm.id_to_piece(i) for i in range(2, spm.get_piece_size()))
V, D, F, H, LAYERS, POSITIONS = len(PIECES), 64, 96, 4, (2, 2), 150
rng = np.random.default_rng(7)


def sinusoids():
    """OpenNMT-py's table: sine and cosine interleaved, 10000^(2i/D)."""
    angle = np.arange(POSITIONS)[:, None] * np.exp(np.arange(0, D, 2) * -(np.log(10000.0) / D))
    table = np.zeros((POSITIONS, D))
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return table.astype(np.float32)


def matrix(n, k, size=1.0):
    return (rng.uniform(-1, 1, (n, k)) * size * np.sqrt(6 / (n + k))).astype(np.float32)


def vector(n, centre=0.0):
    return (centre + 0.1 * rng.uniform(-1, 1, n)).astype(np.float32)


def fill_linear(spec, n, k):
    spec.weight, spec.bias = matrix(n, k, 2.5), vector(n)


def fill_norm(spec):
    spec.gamma, spec.beta = vector(D, 1.0), vector(D)


def fill_attention(spec, sizes):
    fill_norm(spec.layer_norm)
    for linear, n in zip(spec.linear, sizes):
        fill_linear(linear, n, D)


def fill_ffn(spec):
    fill_norm(spec.layer_norm)
    fill_linear(spec.linear_0, F, D)
    fill_linear(spec.linear_1, D, F)


def build():
    spec = transformer_spec.TransformerSpec.from_config(
        LAYERS, H, pre_norm=True, activation=common_spec.Activation.RELU)
    table, positions = matrix(V, D, 0.6), sinusoids()
    for side in (spec.encoder, spec.decoder):
        embeddings = side.embeddings[0] if isinstance(side.embeddings, list) else side.embeddings
        embeddings.weight = table
        side.scale_embeddings = True
        side.position_encodings.encodings = positions
        fill_norm(side.layer_norm)
        for layer in side.layer:
            fill_attention(layer.self_attention, [3 * D, D])
            if side is spec.decoder:
                fill_attention(layer.attention, [D, 2 * D, D])
            fill_ffn(layer.ffn)
    spec.decoder.start_from_zero_embedding = False
    spec.decoder.projection.weight, spec.decoder.projection.bias = table, vector(V)
    spec.register_source_vocabulary(PIECES)
    spec.register_target_vocabulary(PIECES)
    spec.config.add_source_bos = spec.config.add_source_eos = False
    spec.config.decoder_start_token = "<s>"
    return spec


def save(name, quantization):
    global rng
    rng = np.random.default_rng(7)  # the same weights for each type
    spec = build()
    spec.validate()
    spec.optimize(quantization=quantization)
    shutil.rmtree(name, ignore_errors=True)
    os.makedirs(name)
    spec.save(name)


answers = {}
for name, quantization in (("f32", None), ("int8", "int8"), ("int16", "int16"), ("f16", "float16")):
    save(name, quantization)
rng = np.random.default_rng(1)
sources = [[PIECES[i] for i in rng.integers(3, V, n)] for n in (1, 2, 3, 5, 8, 13, 21, 40, 110)]
targets = [[PIECES[i] for i in rng.integers(3, V, n)] for n in (2, 1, 4, 6, 7, 11, 18, 120, 105)]
answers["source"], answers["target"] = [" ".join(s) for s in sources], [" ".join(t) for t in targets]
for name in ("f32", "int8", "int16", "f16"):
    translator = ctranslate2.Translator(name, device="cpu", compute_type="int8" if name == "int8" else "float32")
    scores = [translator.score_batch([s], [t])[0] for s, t in zip(sources, targets)]
    answers[name] = [[round(float(x), 6) for x in s.log_probs] for s in scores]
    if name == "f32":
        found = [translator.translate_batch([s], beam_size=1, max_decoding_length=40)[0].hypotheses[0] for s in sources]
        answers["greedy"] = [" ".join(h) for h in found]
        answers["texts"] = []
        # A package with a target_prefix: translate_batch puts it at the start of each answer; only what follows is compared.
        prefix = PIECES[40]
        found = [translator.translate_batch([s], beam_size=1, max_decoding_length=40, target_prefix=[[prefix]])[0].hypotheses[0]
                 for s in sources]
        assert all(h[0] == prefix for h in found)
        answers["prefix"], answers["prefixed"] = prefix, [" ".join(h[1:]) for h in found]
        for text in ("The dog sees a red bird.", "A child buys Kenu.", "The old woman likes the garden in 2017."):
            hypothesis = translator.translate_batch([spm.encode(text, out_type=str)], beam_size=1, max_decoding_length=40)
            pieces = hypothesis[0].hypotheses[0]
            answers["texts"].append([text, spm.decode(pieces).replace("▁", " ").strip()])
with open("answers.json", "w", encoding="utf-8") as f:
    json.dump(answers, f, ensure_ascii=False, indent=0)
    f.write("\n")

of_older = {}
for name, (version, settings, has_config) in CASES.items():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree("f32", folder, dirs_exist_ok=True)
        with open("f32/model.bin", "rb") as f, open(os.path.join(folder, "model.bin"), "wb") as to:
            to.write(older(f.read(), version, settings))
        if not has_config:
            os.remove(os.path.join(folder, "config.json"))
        translator = ctranslate2.Translator(folder, device="cpu", compute_type="float32")
        scores = [translator.score_batch([s], [t])[0] for s, t in zip(sources, targets)]
        # An answer may be empty; translate_batch's default is one piece at least.
        found = [translator.translate_batch([s], beam_size=1, max_decoding_length=40, min_decoding_length=0)[0].hypotheses[0]
                 for s in sources]
        of_older[name] = {"scores": [[round(float(x), 6) for x in s.log_probs] for s in scores], "greedy": [" ".join(h) for h in found]}
with open("older.json", "w", encoding="utf-8") as f:
    json.dump(of_older, f, ensure_ascii=False, indent=0)
    f.write("\n")
