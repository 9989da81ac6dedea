"""CTranslate2 directories with random int8 weights in the shapes of other programs' models, and sentences in their tokens.
</s> is never likely: speed is measured at forced lengths.

  argos   OpenNMT's Transformer of Argos packages: pre-norm, 6 + 6 layers, 512/2048, 8 heads, V 32,000
  opus    OPUS-MT: post-norm, swish, 6 + 6 layers, 512/2048, 8 heads, V 58,101
  nllb    NLLB-200 600M: pre-norm, 12 + 12 layers, 1024/4096, 16 heads, V 256,206"""
import os
import shutil

import numpy as np

import random_texts

SHAPES = {"argos": dict(pre_norm=True, layers=6, d=512, f=2048, heads=8, vocab=32000, activation="RELU"),
          "opus": dict(pre_norm=False, layers=6, d=512, f=2048, heads=8, vocab=58101, activation="SWISH"),
          "nllb": dict(pre_norm=True, layers=12, d=1024, f=4096, heads=16, vocab=256206, activation="RELU")}
POSITIONS = 260


class Filler:
    """Fills the parts of a model specification with random numbers of the scale of trained weights."""

    def __init__(self, shape, seed):
        self.rng, self.s = np.random.default_rng(seed), shape

    def matrix(self, n, k):
        x = self.rng.standard_normal((n, k), dtype=np.float32)
        return np.multiply(x, np.float32((2.0 / (n + k)) ** 0.5), out=x)

    def vector(self, n, std=0.02, mean=0.0):
        return (mean + std * self.rng.standard_normal(n)).astype(np.float32)

    def linear(self, spec, n, k):
        spec.weight, spec.bias = self.matrix(n, k), self.vector(n)

    def norm(self, spec, gain=1.0):
        spec.gamma, spec.beta = self.vector(self.s["d"], 0.1 * gain, gain), self.vector(self.s["d"], 0.05)

    def attention(self, spec, sizes):
        self.norm(spec.layer_norm)
        for linear, n in zip(spec.linear, sizes):
            self.linear(linear, n, self.s["d"])

    def ffn(self, spec, gain=1.0):
        self.norm(spec.layer_norm, gain)
        self.linear(spec.linear_0, self.s["f"], self.s["d"])
        self.linear(spec.linear_1, self.s["d"], self.s["f"])

    def stack(self, stack, decoder):
        d, last = self.s["d"], stack.layer[-1]
        for layer in stack.layer:
            self.attention(layer.self_attention, [3 * d, d])
            if decoder:
                self.attention(layer.attention, [d, 2 * d, d])
            # The gain of the last norm sets the standard deviation of the logits.
            self.ffn(layer.ffn, 3.0 if decoder and layer is last and not self.s["pre_norm"] else 1.0)
        if self.s["pre_norm"]:
            self.norm(stack.layer_norm, 3.0 if decoder else 1.0)


def positions(d):
    angle = np.arange(POSITIONS)[:, None] * np.exp(np.arange(d // 2) * -(np.log(10000.0) / (d // 2 - 1)))
    return np.concatenate([np.sin(angle), np.cos(angle)], 1).astype(np.float32)


def specification(shape, pieces, seed):
    from ctranslate2.specs import common_spec, transformer_spec
    spec = transformer_spec.TransformerSpec.from_config(
        shape["layers"], shape["heads"], pre_norm=shape["pre_norm"],
        activation=getattr(common_spec.Activation, shape["activation"]))
    fill, d = Filler(shape, seed), shape["d"]
    table = fill.rng.standard_normal((shape["vocab"], d), dtype=np.float32)
    table *= np.float32(d ** -0.5)
    for side in (spec.encoder, spec.decoder):
        embeddings = side.embeddings[0] if isinstance(side.embeddings, list) else side.embeddings
        embeddings.weight, side.scale_embeddings = table, True
        side.position_encodings.encodings = positions(d)
        fill.stack(side, side is spec.decoder)
    bias = fill.vector(shape["vocab"], 0.1)
    bias[2] = -1000.0
    spec.decoder.projection.weight, spec.decoder.projection.bias = table, bias
    spec.decoder.start_from_zero_embedding = not shape["pre_norm"]
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.add_source_bos, spec.config.add_source_eos = False, not shape["pre_norm"]
    spec.config.decoder_start_token = "<s>"
    return spec


def make(name, folder, sentences, length, seed):
    shape = SHAPES[name]
    pieces = ["<unk>", "<s>", "</s>"] + [f"p{i}" for i in range(3, shape["vocab"])]
    spec = specification(shape, pieces, seed)
    spec.validate()
    spec.optimize(quantization="int8")
    target = os.path.join(folder, "ct2")
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    spec.save(target)
    random_texts.write(os.path.join(folder, "sentences.txt"), pieces, 3, sentences, length, seed + 1)
