#!/usr/bin/env python3
"""The update of train-bench (bench/step/train.c) in PyTorch: the same sizes, sentences of one length so that nothing is padding,
dropout, label smoothing, fused Adam; eager and compiled. bf16 in two ways, because either may be the faster: "autocast", which
leaves sums of residuals, LayerNorm and embeddings in fp32, and "bf16", where the model is in bf16 and Adam has its parameters in
fp32 (ours is like that, but for fp32 gradients). One JSON object a line, with train-bench's keys; operations are those that
train-bench counts.

  torch_train.py [--model base big] [--precision bf16 fp32] [--compiled bf16] [--pairs 296 --source 27 --length 27 --updates 10]
"""
import argparse
import contextlib
import itertools
import json
import math
import sys
import time

import torch
import torch.nn.functional as F

SIZES = {"base": (512, 2048, 8, 6), "big": (1024, 4096, 16, 6), "small": (64, 128, 4, 2)}  # D, F, H, layers
DROPOUT, WARM_UP = 0.1, 3


class Attention(torch.nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, torch.nn.Linear(d, 3 * d, bias=False), torch.nn.Linear(d, d, bias=False)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, memory=None, causal=False):
        d = x.shape[-1]
        if memory is None:
            q, k, v = self.qkv(x).chunk(3, -1)
        else:
            q, (k, v) = F.linear(x, self.qkv.weight[:d]), F.linear(memory, self.qkv.weight[d:]).chunk(2, -1)
        y = F.scaled_dot_product_attention(self.split(q), self.split(k), self.split(v), is_causal=causal)
        return self.out(y.transpose(1, 2).reshape(x.shape))


class Layer(torch.nn.Module):
    def __init__(self, d, ff, heads, cross):
        super().__init__()
        self.own, self.cross = Attention(d, heads), Attention(d, heads) if cross else None
        self.up, self.down = torch.nn.Linear(d, ff), torch.nn.Linear(ff, d)
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(d) for _ in range(3 if cross else 2))

    def forward(self, x, memory=None):
        def drop(y):
            return F.dropout(y, DROPOUT)
        x = self.norms[0](x + drop(self.own(x, causal=self.cross is not None)))
        if self.cross is not None:
            x = self.norms[1](x + drop(self.cross(x, memory)))
        return self.norms[-1](x + drop(self.down(F.relu(self.up(x)))))


class Model(torch.nn.Module):
    def __init__(self, size, vocab, longest):
        super().__init__()
        d, ff, heads, layers = SIZES[size]
        self.d, self.embed = d, torch.nn.Embedding(vocab, d)
        self.encoder = torch.nn.ModuleList(Layer(d, ff, heads, False) for _ in range(layers))
        self.decoder = torch.nn.ModuleList(Layer(d, ff, heads, True) for _ in range(layers))
        angle = torch.arange(longest)[:, None] * torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        self.register_buffer("positions", torch.stack((angle.sin(), angle.cos()), -1).view(-1, d))
        for w in self.parameters():
            if w.dim() > 1:
                torch.nn.init.xavier_uniform_(w)
        torch.nn.init.normal_(self.embed.weight, std=d ** -0.5)

    def rows(self, ids):
        return F.dropout(self.embed(ids) * math.sqrt(self.d) + self.positions[: ids.shape[1]], DROPOUT)

    def forward(self, source, target):
        x = self.rows(source)
        for layer in self.encoder:
            x = layer(x)
        y = self.rows(F.pad(target[:, :-1], (1, 0)))
        for layer in self.decoder:
            y = layer(y, x)
        logits = F.linear(y, self.embed.weight)
        return F.cross_entropy(logits.float().flatten(0, 1), target.flatten(), label_smoothing=0.1)


def operations(a, size):
    """Six times forward_macs of bench/step/train.c."""
    d, ff, _, layers = SIZES[size]
    S, T = a.source, a.length
    encoder = S * (4 * d * d + 2 * d * ff) + S * S * 2 * d
    decoder = T * (4 * d * d + 2 * d * ff) + T * (T + 1) / 2 * 2 * d + T * 2 * d * d + S * 2 * d * d + T * S * 2 * d
    return 6 * a.pairs * (layers * (encoder + decoder) + T * d * a.vocab)


class Adam:
    """Fused Adam; if the model is in bf16, it updates an fp32 copy of the parameters."""

    def __init__(self, model):
        self.model = list(model.parameters())
        self.own = [p.detach().float().requires_grad_() for p in self.model] if self.model[0].dtype != torch.float32 else self.model
        self.adam = torch.optim.Adam(self.own, lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
        if self.own is not self.model:
            for p in self.own:
                p.grad = torch.empty_like(p)

    @torch.no_grad()
    def step(self):
        if self.own is not self.model:
            torch._foreach_copy_([p.grad for p in self.own], [p.grad for p in self.model])
        self.adam.step()
        if self.own is not self.model:
            torch._foreach_copy_(self.model, self.own)
        for p in self.model:
            p.grad = None


def measure(a, size, way, variant):
    torch._dynamo.reset()
    torch.manual_seed(1)
    model = Model(size, a.vocab, max(a.source, a.length)).to(a.device).train()
    if way == "bf16":
        model.to(torch.bfloat16)
    adam = Adam(model)
    run = torch.compile(model, dynamic=False) if variant == "compiled" else model
    source = torch.randint(3, a.vocab, (a.pairs, a.source), device=a.device)
    target = torch.randint(3, a.vocab, (a.pairs, a.length), device=a.device)
    wait = torch.cuda.synchronize if a.device == "cuda" else (lambda: None)
    for i in range(WARM_UP + a.updates):
        if i == WARM_UP:
            wait()
            begun = time.perf_counter()
        with torch.autocast(a.device, torch.bfloat16) if way == "autocast" else contextlib.nullcontext():
            loss = run(source, target)
        loss.backward()
        adam.step()
    wait()
    seconds = (time.perf_counter() - begun) / a.updates
    tflop = operations(a, size) * 1e-12
    return {"update_ms": 1e3 * seconds, "tokens_per_s": a.pairs * (a.source + a.length) / seconds,
            "target_tokens_per_s": a.pairs * a.length / seconds, "tflop_per_update": tflop, "tflop_per_s": tflop / seconds,
            "loss": float(loss.detach())}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", nargs="+", default=["base", "big"], choices=SIZES)
    p.add_argument("--precision", nargs="+", default=["bf16", "fp32"], choices=["fp32", "bf16"])
    p.add_argument("--compiled", nargs="*", default=["bf16"], help="precisions that are compiled, too (a minute each)")
    p.add_argument("--device", default="cuda")
    for name, value in (("vocab", 32000), ("pairs", 296), ("source", 27), ("length", 27), ("updates", 10)):
        p.add_argument("--" + name, type=int, default=value)
    a = p.parse_args()
    if a.device == "cuda" and not torch.cuda.is_available():
        sys.exit("torch sees no CUDA device")
    for size, precision in itertools.product(a.model, a.precision):
        ways = ("bf16", "autocast") if precision == "bf16" else ("fp32",)
        for variant, way in itertools.product(("compiled", "eager") if precision in a.compiled else ("eager",), ways):
            row = dict(variant=variant, way=way, precision=precision, model=size, pairs=a.pairs)
            try:
                row.update(measure(a, size, way, variant))
            except Exception as e:  # a variant that fails is a result, too
                row["error"] = " ".join(str(e).split())[:200]
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
