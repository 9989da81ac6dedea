#!/usr/bin/env python3
"""The same work in PyTorch, as well as it can be written: the base model, random weights, encoder once, cached decoder, beam
search. What came out of a step is looked at while the device works on the next. Two variants:

  eager      the cache is reordered after each step: from one copy to the other, as far as it is filled, in one launch;
  compiled   for each size: encoder and step, with its choices, each compiled and recorded as a CUDA graph. The cache stays where
             it was written: a table says where each hypothesis' positions are, and attention reads them through it, without a
             copy. (To reorder a static cache moves more bytes than all else in a step of 256 sentences.)

One JSON object a line: variant, cache, precision, beam, sentences, total_ms, step_ms: medians of --reps runs after two for
warming up. A step is what each takes after the first.

  torch_decode.py [--precision bf16 fp16 fp32] [--compiled bf16] [--beam 4 1] [--sentences 1 8 64 256] [--reps 20] [--device cuda]
"""
import argparse
import itertools
import json
import math
import statistics
import sys
import time

import torch
import torch.nn.functional as F

V, D, H, FF, LAYERS, SOURCE, LENGTH = 32000, 512, 8, 2048, 6, 27, 27
DK = D // H


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(D, 3 * D, bias=False)
        self.out = torch.nn.Linear(D, D, bias=False)


def split(x):
    return x.unflatten(-1, (H, DK)).transpose(1, 2)


def merge(x):
    return x.transpose(1, 2).flatten(2)


class Layer(torch.nn.Module):
    def __init__(self, cross):
        super().__init__()
        self.self_ = Attention()
        self.cross = Attention() if cross else None
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(D) for _ in range(3 if cross else 2))
        self.up, self.down = torch.nn.Linear(D, FF), torch.nn.Linear(FF, D)

    def ffn(self, x):
        return self.norms[-1](x + self.down(F.relu(self.up(x))))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(V, D)
        self.encoder = torch.nn.ModuleList(Layer(False) for _ in range(LAYERS))
        self.decoder = torch.nn.ModuleList(Layer(True) for _ in range(LAYERS))
        angle = torch.arange(LENGTH + 1)[:, None] * torch.exp(torch.arange(0, D, 2) * (-math.log(10000.0) / D))
        self.register_buffer("positions", torch.stack((angle.sin(), angle.cos()), -1).view(-1, D))

    def encode(self, ids):
        """Keys and values of cross-attention for each layer, [B,S,2D]."""
        x = self.embed(ids) * math.sqrt(D) + self.positions[: ids.shape[1]]
        for layer in self.encoder:
            q, k, v = (split(t) for t in layer.self_.qkv(x).chunk(3, -1))
            x = layer.norms[0](x + layer.self_.out(merge(F.scaled_dot_product_attention(q, k, v))))
            x = layer.ffn(x)
        return [F.linear(x, layer.cross.qkv.weight[D:]) for layer in self.decoder]

    def step(self, ids, position, attend, cross, beam):
        """Logits [B*beam,V] of the next position. attend(n, qkv[B*beam,3D]) is layer n's self-attention over the decoded positions."""
        x = self.embed(ids) * math.sqrt(D) + position
        for n, layer in enumerate(self.decoder):
            x = layer.norms[0](x + layer.self_.out(attend(n, layer.self_.qkv(x))))
            q = split(F.linear(x, layer.cross.qkv.weight[:D]).view(-1, beam, D))  # a sentence's hypotheses share its keys
            k, v = (split(t) for t in cross[n].chunk(2, -1))
            x = layer.norms[1](x + layer.cross.out(merge(F.scaled_dot_product_attention(q, k, v)).view(-1, D)))
            x = layer.ffn(x)
        return F.linear(x, self.embed.weight)


class Search:
    """The part of the search that both variants share; each has its own cache of decoded keys and values."""

    def __init__(self, model, beam, sentences, device):
        self.model, self.beam, self.sentences, self.rows = model, beam, sentences, sentences * beam
        self.source = torch.zeros(sentences, SOURCE, dtype=torch.long, device=device)
        self.ids = torch.ones(self.rows, dtype=torch.long, device=device)
        self.scores = torch.zeros(sentences, beam, device=device)
        self.start = torch.full((beam,), -math.inf, device=device)  # only the first hypothesis counts at the start: all are equal
        self.start[0] = 0
        self.base = torch.arange(sentences, device=device)[:, None] * beam

    def restart(self):
        self.ids.fill_(1)
        self.scores.copy_(self.start.expand_as(self.scores))

    def choose(self, best, pieces):
        """Choose each sentence's best continuations from the best pieces [B*beam,n] of its hypotheses and their log-probabilities
        `best`. Returns the parent row of each."""
        total = (self.scores[:, :, None] + best.view(self.sentences, self.beam, -1)).flatten(1)
        scores, place = total.topk(self.beam, -1) if self.beam > 1 else (total, self.base * 0)
        self.scores.copy_(scores)
        self.ids.copy_(pieces.view(self.sentences, -1).gather(1, place).view(-1))
        return (self.base + place // best.shape[1]).view(-1)


class PingPong(Search):
    """Eager: shapes may grow with the position, and every kernel launch saved is time saved."""
    cache = "reordered, filled part"

    def __init__(self, model, beam, sentences, dtype, device):
        super().__init__(model, beam, sentences, device)
        self.mine, self.other = (torch.zeros(LENGTH, LAYERS, 2, self.rows, D, device=device, dtype=dtype) for _ in range(2))

    def begin(self):
        self.cross = self.model.encode(self.source)
        self.restart()
        self.at = 0

    def attend(self, n, qkv):
        self.mine[self.at, n].copy_(qkv[:, D:].unflatten(1, (2, D)).transpose(0, 1))
        k, v = self.mine[: self.at + 1, n].unflatten(-1, (H, DK)).permute(1, 2, 3, 0, 4)  # each [B*beam,H,T,DK]
        return F.scaled_dot_product_attention(qkv[:, :D].view(-1, H, 1, DK), k, v).view(-1, D)

    def advance(self):
        logits = self.model.step(self.ids, self.model.positions[self.at], self.attend, self.cross, self.beam)
        best = torch.log_softmax(logits, -1, dtype=torch.float32)
        best = best.topk(2 * self.beam, -1, sorted=False) if self.beam > 1 else best.max(-1, keepdim=True)
        parent = self.choose(*best)
        self.at += 1
        if self.beam > 1 and self.at < LENGTH:
            torch.index_select(self.mine[: self.at], 3, parent, out=self.other[: self.at])
            self.mine, self.other = self.other, self.mine


class Table(Search):
    """Compiled: shapes never change, and a gather is free where the compiler fuses it into the sum that follows."""
    cache = "read through a table"

    def __init__(self, model, beam, sentences, dtype, device):
        super().__init__(model, beam, sentences, device)
        self.keys, self.values = ([torch.zeros(LENGTH, self.rows, H, DK, device=device, dtype=dtype) for _ in range(LAYERS)]
                                  for _ in range(2))
        self.cross = [torch.zeros(sentences, SOURCE, 2 * D, device=device, dtype=dtype) for _ in range(LAYERS)]
        self.at = torch.zeros(1, dtype=torch.long, device=device)
        self.places = torch.arange(LENGTH, device=device)
        self.row = torch.arange(self.rows, device=device)[:, None]
        # Index into [LENGTH*rows] of each position of a hypothesis. Future positions have index 0, which is in some cache already.
        self.table = torch.zeros(self.rows, LENGTH, dtype=torch.long, device=device)

    def begin(self):
        for mine, new in zip(self.cross, self.model.encode(self.source)):
            mine.copy_(new)
        self.restart()
        self.at.zero_()
        self.table.copy_(torch.where(self.places == 0, self.row, 0))

    def attend(self, n, qkv):
        q, k, v = qkv.view(-1, 3, H, DK).unbind(1)
        self.keys[n].index_copy_(0, self.at, k[None])
        self.values[n].index_copy_(0, self.at, v[None])
        k, v = (cache[n].view(-1, H, DK)[self.table].float() for cache in (self.keys, self.values))  # [B*beam,LENGTH,H,DK]
        scores = (q.float()[:, None] * k).sum(-1) * DK ** -0.5
        weights = scores.masked_fill((self.places > self.at)[:, None], -math.inf).softmax(1)
        return (weights[..., None] * v).sum(1).to(qkv.dtype).view(-1, D)

    def advance(self):
        position = self.model.positions.index_select(0, self.at)
        logits = self.model.step(self.ids, position, self.attend, self.cross, self.beam)
        best, pieces = logits.topk(2 * self.beam, -1, sorted=False) if self.beam > 1 else logits.max(-1, keepdim=True)
        parent = self.choose(best.float() - logits.float().logsumexp(-1, keepdim=True), pieces)
        table = self.table[parent] if self.beam > 1 else self.table
        self.at.add_(1)
        self.table.copy_(torch.where(self.places == self.at, self.at * self.rows + self.row, table))


def recorded(search):
    """begin() and advance(), compiled for these sizes and each recorded as one CUDA graph, so that a step is one launch."""
    torch._dynamo.reset()
    parts = [torch.compile(f, dynamic=False) for f in (search.begin, search.advance)]
    if search.ids.device.type != "cuda":
        return parts
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            for part in parts:
                part()
    torch.cuda.current_stream().wait_stream(side)
    graphs = [torch.cuda.CUDAGraph() for _ in parts]
    for graph, part in zip(graphs, parts):
        with torch.cuda.graph(graph):
            part()
    return [graph.replay for graph in graphs]


class Seen:
    """Copies each step's pieces to the host while the device works on the next step."""

    def __init__(self, search):
        self.on_device = search.ids.device.type == "cuda"
        self.pieces = torch.zeros(LENGTH, search.rows, dtype=torch.long, pin_memory=self.on_device)
        self.events = [torch.cuda.Event() for _ in range(LENGTH)] if self.on_device else []

    def send(self, t, ids):
        self.pieces[t].copy_(ids, non_blocking=True)
        if self.on_device:
            self.events[t].record()

    def wait(self, t):
        if self.on_device:
            self.events[t].synchronize()
        return time.perf_counter()


def measure(model, variant, dtype, beam, sentences, device, reps):
    search = (Table if variant == "compiled" else PingPong)(model, beam, sentences, dtype, device)
    source = torch.randint(2, V, (sentences, SOURCE), generator=torch.Generator().manual_seed(1))
    begin, advance = recorded(search) if variant == "compiled" else (search.begin, search.advance)
    seen = Seen(search)
    totals, steps = [], []
    for _ in range(2 + reps):
        begun = first = time.perf_counter()
        search.source.copy_(source)
        begin()
        for t in range(LENGTH):
            advance()
            seen.send(t, search.ids)
            if t == 1:
                first = seen.wait(0)
            elif t:
                seen.wait(t - 1)
        end = seen.wait(LENGTH - 1)
        totals.append(1e3 * (end - begun))
        steps.append(1e3 * (end - first) / (LENGTH - 1))
    return dict(total_ms=statistics.median(totals[2:]), step_ms=statistics.median(steps[2:])), seen.pieces


@torch.inference_mode()
def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--device", default="cuda")
    p.add_argument("--precision", nargs="+", default=["bf16", "fp16", "fp32"], choices=["fp32", "fp16", "bf16"])
    p.add_argument("--compiled", nargs="*", default=["bf16"], help="precisions that are compiled, too (30 seconds a size)")
    p.add_argument("--beam", nargs="+", type=int, default=[4, 1])
    p.add_argument("--sentences", nargs="+", type=int, default=[1, 8, 64, 256])
    p.add_argument("--reps", type=int, default=20)
    a = p.parse_args()
    if a.device == "cuda" and not torch.cuda.is_available():
        sys.exit("torch sees no CUDA device")
    types = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
    for precision in a.precision:
        model = Model().to(a.device, types[precision]).eval()
        for beam, sentences in itertools.product(a.beam, a.sentences):
            found = {}
            for variant in ("eager", "compiled") if precision in a.compiled else ("eager",):
                row = dict(variant=variant, cache=(Table if variant == "compiled" else PingPong).cache, precision=precision,
                           beam=beam, sentences=sentences)
                try:
                    times, found[variant] = measure(model, variant, types[precision], beam, sentences, a.device, a.reps)
                    row.update(times)
                except Exception as e:  # a variant that fails is a result, too
                    row["error"] = " ".join(str(e).split())[:200]
                if len(found) == 2:  # rounding may make them differ in places; a variant that computes something else would differ widely
                    row["same_pieces"] = float((found["eager"] == found["compiled"]).float().mean())
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
