"""The Transformer of "Attention Is All You Need" in plain float64 numpy: the reference for the C code.

Written from the paper, one sentence at a time, without padding, caches or tricks. It shares no code with the
product. `Config` has the fields of model/config.h; parameters are a dict of arrays under the names of the
weights file. The arithmetic uses nothing but numpy operators, so that tape.py can differentiate it.
"""
import math
from dataclasses import dataclass

import numpy as np


@dataclass
class Config:
    source_vocab: int
    target_vocab: int
    D: int
    F: int
    H: int
    Dk: int
    Dv: int
    enc_layers: int
    dec_layers: int
    norm_eps: float = 1e-6
    embed_scale: float = 0.0  # 0: sqrt(D)
    positions: str = "paper"  # paper, marian, halves, learned
    first_position: int = 0
    max_positions: int = 0  # learned positions only
    act: str = "relu"  # relu, swish, gelu
    decoder: str = "attention"  # or ssru (Kim et al., 2019) instead of masked self-attention
    pre_norm: bool = False  # x + f(LN(x)) and a last norm for each stack
    attention_bias: bool = False
    output_bias: bool = False
    tied_embeddings: bool = True
    tied_output: bool = True
    eos: int = 0
    unk: int = 1
    start: int = -1  # -1: the zero vector
    source_eos: bool = True
    beam: int = 4
    alpha: float = 0.6
    extra_length: int = 50

    def __post_init__(self):
        if self.embed_scale == 0.0:
            self.embed_scale = math.sqrt(self.D)


def parameter_shapes(c):
    """Name and shape of every parameter, in the order of the weights file."""
    shapes = {"src.embed": (c.source_vocab, c.D)}
    if not c.tied_embeddings:
        shapes["tgt.embed"] = (c.target_vocab, c.D)
    if not c.tied_output:
        shapes["out.w"] = (c.target_vocab, c.D)
    if c.output_bias:
        shapes["out.b"] = (1, c.target_vocab)
    if c.positions == "learned":
        shapes["src.pos"] = shapes["tgt.pos"] = (c.max_positions, c.D)

    if c.pre_norm:
        for side in ("src", "tgt"):
            shapes[f"{side}.norm.gain"] = shapes[f"{side}.norm.bias"] = (1, c.D)

    def linear(name, n, k, bias):
        head, tail = name.rsplit(".w", 1)
        shapes[name] = (n, k)
        if bias:
            shapes[f"{head}.b{tail}"] = (1, n)

    def norm(name):
        shapes[f"{name}.norm.gain"] = shapes[f"{name}.norm.bias"] = (1, c.D)

    qk, v = c.H * c.Dk, c.H * c.Dv
    for side, layers in (("enc", c.enc_layers), ("dec", c.dec_layers)):
        for i in range(layers):
            p = f"{side}.{i}"
            if side == "dec" and c.decoder == "ssru":
                linear(f"{p}.ssru.w", 2 * c.D, c.D, True)
                norm(f"{p}.ssru")
            else:
                linear(f"{p}.self.qkv.w", 2 * qk + v, c.D, c.attention_bias)
                linear(f"{p}.self.out.w", c.D, v, c.attention_bias)
                norm(f"{p}.self")
            if side == "dec":
                linear(f"{p}.cross.q.w", qk, c.D, c.attention_bias)
                linear(f"{p}.cross.kv.w", qk + v, c.D, c.attention_bias)
                linear(f"{p}.cross.out.w", c.D, v, c.attention_bias)
                norm(f"{p}.cross")
            linear(f"{p}.ffn.w1", c.F, c.D, True)
            linear(f"{p}.ffn.w2", c.D, c.F, True)
            norm(f"{p}.ffn")
    return shapes


# Elementary functions -------------------------------------------------------------------------------------------

def erf(x):
    """Exact error function; numpy has none."""
    return x.erf() if hasattr(x, "erf") else np.vectorize(math.erf, otypes=[np.float64])(x)


def activate(kind, x):
    if kind == "relu":
        return np.maximum(x, 0.0)
    if kind == "swish":
        return x / (1.0 + np.exp(-x))
    if kind == "gelu":
        return 0.5 * x * (1.0 + erf(x * math.sqrt(0.5)))
    raise ValueError(f"activation {kind}")


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def log_softmax(x):
    y = x - x.max(axis=-1, keepdims=True)
    return y - np.log(np.exp(y).sum(axis=-1, keepdims=True))


def layer_norm(x, gain, bias, eps):
    n = x.shape[-1]
    centred = x - x.sum(axis=-1, keepdims=True) / n
    variance = (centred * centred).sum(axis=-1, keepdims=True) / n
    return centred / np.sqrt(variance + eps) * gain + bias


def sinusoid(kind, positions, d):
    """Rows of the position table for absolute positions[n]; as in section 3.5 of the paper, or one of two variants."""
    i = np.arange(d // 2, dtype=np.float64)
    exponent = i / (d / 2 - 1) if kind == "marian" else 2 * i / d
    angle = np.asarray(positions, dtype=np.float64)[:, None] / np.power(10000.0, exponent)[None, :]
    if kind == "paper":
        out = np.empty((len(positions), d))
        out[:, 0::2], out[:, 1::2] = np.sin(angle), np.cos(angle)
        return out
    if kind in ("marian", "halves"):
        return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
    raise ValueError(f"positions {kind}")


# The model ------------------------------------------------------------------------------------------------------

class Transformer:
    def __init__(self, config, params):
        self.c = config
        self.p = params

    def linear(self, name, x):
        head, tail = name.rsplit(".w", 1)
        y = x @ self.p[name].T
        bias = self.p.get(f"{head}.b{tail}")
        return y if bias is None else y + bias

    def norm(self, name, x):
        return layer_norm(x, self.p[f"{name}.norm.gain"], self.p[f"{name}.norm.bias"], self.c.norm_eps)

    def target_table(self):
        return self.p["src.embed" if self.c.tied_embeddings else "tgt.embed"]

    def embed(self, table, side, ids):
        """ids[n] -> [n,D]; id -1 is the zero vector. Positions are added to zero vectors too."""
        c = self.c
        ids = np.asarray(ids, dtype=np.int64)
        places = c.first_position + np.arange(len(ids))
        if c.positions == "learned":
            where = self.p[f"{side}.pos"][places]
        else:
            where = sinusoid(c.positions, places, c.D)
        there = (ids >= 0).astype(np.float64)[:, None]
        return table[np.maximum(ids, 0)] * (c.embed_scale * there) + where

    def attend(self, q, k, v, causal):
        """q[T,H*Dk], k[S,H*Dk], v[S,H*Dv] -> ([T,H*Dv], weights[H,T,S])."""
        c = self.c
        t, s = q.shape[0], k.shape[0]
        q = q.reshape(t, c.H, c.Dk).transpose(1, 0, 2)
        k = k.reshape(s, c.H, c.Dk).transpose(1, 2, 0)
        v = v.reshape(s, c.H, c.Dv).transpose(1, 0, 2)
        scores = (q @ k) / math.sqrt(c.Dk)
        if causal:
            scores = scores + np.triu(np.full((t, s), -np.inf), 1 + s - t)
        weights = softmax(scores)
        return (weights @ v).transpose(1, 0, 2).reshape(t, c.H * c.Dv), weights

    # The sublayers, without residual and norm: each returns (f(x), attention weights or None).

    def self_attention(self, name, x, causal):
        qk = self.c.H * self.c.Dk
        y = self.linear(f"{name}.qkv.w", x)
        y, weights = self.attend(y[:, :qk], y[:, qk:2 * qk], y[:, 2 * qk:], causal)
        return self.linear(f"{name}.out.w", y), weights

    def cross_attention(self, name, x, memory):
        qk = self.c.H * self.c.Dk
        q = self.linear(f"{name}.q.w", x)
        kv = self.linear(f"{name}.kv.w", memory)
        y, weights = self.attend(q, kv[:, :qk], kv[:, qk:], False)
        return self.linear(f"{name}.out.w", y), weights

    def ssru(self, name, x):
        """c_t = g_t c_{t-1} + (1 - g_t) W x_t with g_t = sigmoid(V x_t + b); f(x)_t = relu(c_t)."""
        d = self.c.D
        both = self.linear(f"{name}.w", x)
        gates = 1.0 / (1.0 + np.exp(-both[:, d:]))
        new = (1.0 - gates) * both[:, :d]
        last = np.eye(x.shape[0])  # column t puts a state into row t of the states
        state, states = np.zeros((1, d)), 0.0
        for t in range(x.shape[0]):
            state = gates[t:t + 1] * state + new[t:t + 1]
            states = states + last[:, t:t + 1] * state
        return np.maximum(states, 0.0), None

    def feed_forward(self, name, x):
        return self.linear(f"{name}.w2", activate(self.c.act, self.linear(f"{name}.w1", x))), None

    def around(self, sublayer, name, x, *more):
        """A sublayer with its residual and norm. The paper puts the norm last, pre-norm puts it first."""
        if self.c.pre_norm:
            y, weights = sublayer(name, self.norm(name, x), *more)
            return x + y, weights
        y, weights = sublayer(name, x, *more)
        return self.norm(name, x + y), weights

    def encode(self, source):
        """Source ids[S] without </s> -> (memory[S',D], weights per layer [H,S',S'])."""
        ids = list(source) + ([self.c.eos] if self.c.source_eos else [])
        x = self.embed(self.p["src.embed"], "src", ids)
        maps = []
        for i in range(self.c.enc_layers):
            x, weights = self.around(self.self_attention, f"enc.{i}.self", x, False)
            x, _ = self.around(self.feed_forward, f"enc.{i}.ffn", x)
            maps.append(weights)
        return self.norm("src", x) if self.c.pre_norm else x, maps

    def decode(self, memory, prefix):
        """Target ids[t] so far -> (logits[t+1,V] of the next piece at each position, self weights, cross weights)."""
        x = self.embed(self.target_table(), "tgt", [self.c.start] + list(prefix))
        own, cross = [], []
        for i in range(self.c.dec_layers):
            if self.c.decoder == "ssru":
                x, weights = self.around(self.ssru, f"dec.{i}.ssru", x)
            else:
                x, weights = self.around(self.self_attention, f"dec.{i}.self", x, True)
            own.append(weights)
            x, weights = self.around(self.cross_attention, f"dec.{i}.cross", x, memory)
            cross.append(weights)
            x, _ = self.around(self.feed_forward, f"dec.{i}.ffn", x)
        x = self.norm("tgt", x) if self.c.pre_norm else x
        logits = x @ (self.target_table() if self.c.tied_output else self.p["out.w"]).T
        if self.c.output_bias:
            logits = logits + self.p["out.b"]
        return logits, own, cross

    def forced(self, source, target):
        """Log-probability of each piece of target + </s>: [len(target)+1]."""
        memory, _ = self.encode(source)
        logits, _, _ = self.decode(memory, target)
        ids = np.array(list(target) + [self.c.eos])
        return log_softmax(logits)[np.arange(len(ids)), ids]

    def trace(self, source, target):
        """All attention weights of a teacher-forced pass: lists over layers of [H,T,S]."""
        memory, encoder = self.encode(source)
        _, own, cross = self.decode(memory, target)
        return {"encoder": encoder, "decoder": own, "cross": cross}

    def next_log_probs(self, source):
        """A function for search.py: prefix ids[t] -> log-probabilities [V] of the next piece."""
        memory, _ = self.encode(source)

        def f(prefix):
            logits, _, _ = self.decode(memory, prefix)
            return log_softmax(logits[-1])
        return f
