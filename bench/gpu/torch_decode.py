#!/usr/bin/env python3
"""The same work in PyTorch, as well as it can be written: the base model, random weights, encoder once, cached decoder, beam
search by reordering the cache; eager, and compiled for each size with a static cache, a whole step with its choices recorded as
one CUDA graph. One JSON object a line: variant, precision, beam, sentences, total_ms, step_ms. Times are the best of five runs
after two for warming up.

  torch_decode.py [--precision fp32 fp16 bf16] [--compiled bf16] [--beam 1 4] [--sentences 1 8 64 256] [--device cuda]
"""
import argparse
import itertools
import json
import math
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
    return x.view(x.shape[0], -1, H, DK).transpose(1, 2)


def merge(x):
    return x.transpose(1, 2).reshape(x.shape[0], -1, D)


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
        x = self.embed(ids) * math.sqrt(D) + self.positions[: ids.shape[1]]
        for layer in self.encoder:
            q, k, v = (split(t) for t in layer.self_.qkv(x).chunk(3, -1))
            x = layer.norms[0](x + layer.self_.out(merge(F.scaled_dot_product_attention(q, k, v))))
            x = layer.ffn(x)
        keys = [tuple(split(t) for t in F.linear(x, layer.cross.qkv.weight[D:]).chunk(2, -1)) for layer in self.decoder]
        return [k for k, _ in keys], [v for _, v in keys]

    def step(self, ids, at, mask, cache_k, cache_v, cross_k, cross_v, beam):
        """ids [B*beam]; cache [L,B*beam,H,LENGTH,DK], static; at: a tensor, so that one graph serves all positions."""
        x = (self.embed(ids) * math.sqrt(D) + self.positions.index_select(0, at))[:, None]
        for n, layer in enumerate(self.decoder):
            q, k, v = (split(t) for t in layer.self_.qkv(x).chunk(3, -1))
            cache_k[n].index_copy_(2, at, k)
            cache_v[n].index_copy_(2, at, v)
            y = F.scaled_dot_product_attention(q, cache_k[n], cache_v[n], attn_mask=mask)
            x = layer.norms[0](x + layer.self_.out(merge(y)))
            q = F.linear(x, layer.cross.qkv.weight[:D])
            q = q.view(-1, beam, H, DK).transpose(1, 2)  # the beams of a sentence share its keys
            y = F.scaled_dot_product_attention(q, cross_k[n], cross_v[n])
            y = y.transpose(1, 2).reshape(-1, 1, D)
            x = layer.norms[1](x + layer.cross.out(y))
            x = layer.ffn(x)
        logits = F.linear(x[:, 0], self.embed.weight).float()
        return torch.log_softmax(logits, -1).topk(2 * beam, -1)


class Search:
    """A beam search over static tensors, so that one graph of kernels serves every position of every search."""

    def __init__(self, model, beam, sentences, dtype, device):
        cache = (LAYERS, sentences * beam, H, LENGTH, DK)
        cross = (LAYERS, sentences, H, SOURCE, DK)
        self.model, self.beam, self.sentences = model, beam, sentences
        self.cache_k, self.cache_v = (torch.zeros(cache, device=device, dtype=dtype) for _ in range(2))
        self.cross_k, self.cross_v = (torch.zeros(cross, device=device, dtype=dtype) for _ in range(2))
        self.ids = torch.ones(sentences * beam, dtype=torch.long, device=device)
        self.scores = torch.zeros(sentences, beam, device=device)
        self.at = torch.zeros(1, dtype=torch.long, device=device)
        self.places = torch.arange(LENGTH, device=device)
        self.base = torch.arange(sentences, device=device)[:, None] * beam

    def begin(self, source):
        keys, values = self.model.encode(source)
        torch.stack(keys, out=self.cross_k)
        torch.stack(values, out=self.cross_v)
        self.ids.fill_(1)
        self.scores.zero_()
        self.at.zero_()

    def advance(self):
        """One position of all sentences: the step, the best candidates, the cache in the order of those who live on."""
        mask = (self.places <= self.at)[None, None, None]
        best, pieces = self.model.step(
            self.ids, self.at, mask, self.cache_k, self.cache_v, self.cross_k, self.cross_v, self.beam)
        if self.beam > 1:
            total = (self.scores[:, :, None] + best.view(self.sentences, self.beam, -1)).view(self.sentences, -1)
            scores, place = total.topk(self.beam, -1)
            parent = (self.base + place // (2 * self.beam)).view(-1)
            self.scores.copy_(scores)
            self.ids.copy_(pieces.view(self.sentences, -1).gather(1, place).view(-1))
            self.cache_k.copy_(self.cache_k.index_select(1, parent))
            self.cache_v.copy_(self.cache_v.index_select(1, parent))
        else:
            self.ids.copy_(pieces[:, 0])
        self.at.add_(1)


def recorded(search):
    """advance(), compiled for these sizes and recorded as one CUDA graph: a launch a step."""
    torch._dynamo.reset()
    compiled = torch.compile(search.advance, dynamic=False)
    if search.ids.device.type != "cuda":
        return compiled
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            search.at.zero_()
            compiled()
    torch.cuda.current_stream().wait_stream(side)
    search.at.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        compiled()
    return graph.replay


def measure(model, variant, dtype, beam, sentences, device):
    wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    search = Search(model, beam, sentences, dtype, device)
    source = torch.randint(2, V, (sentences, SOURCE), device=device)
    search.begin(source)
    advance = recorded(search) if variant == "compiled" else search.advance
    times, answers = [], []
    for _ in range(7):
        wait()
        begun = time.perf_counter()
        search.begin(source)
        wait()
        first = time.perf_counter()
        out = []
        for _ in range(LENGTH):
            advance()
            out.append(search.ids.cpu())  # a search looks at what came out
        wait()
        end = time.perf_counter()
        times.append((end - begun, end - first))
        answers.append(torch.stack(out))
    total, decode = min(times[2:])
    return total * 1e3, decode / LENGTH * 1e3, answers[-1]


@torch.inference_mode()
def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--device", default="cuda")
    p.add_argument("--precision", nargs="+", default=["fp32", "fp16", "bf16"], choices=["fp32", "fp16", "bf16"])
    p.add_argument("--compiled", nargs="*", default=["bf16"], help="precisions that are compiled, too (20 seconds a size)")
    p.add_argument("--beam", nargs="+", type=int, default=[1, 4])
    p.add_argument("--sentences", nargs="+", type=int, default=[1, 8, 64, 256])
    a = p.parse_args()
    if a.device == "cuda" and not torch.cuda.is_available():
        sys.exit("torch sees no CUDA device")
    types = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
    for precision in a.precision:
        model = Model().to(a.device, types[precision]).eval()
        for beam, sentences in itertools.product(a.beam, a.sentences):
            found = {}
            for variant in ("eager", "compiled") if precision in a.compiled else ("eager",):
                row = dict(variant=variant, precision=precision, beam=beam, sentences=sentences)
                try:
                    row["total_ms"], row["step_ms"], found[variant] = measure(
                        model, variant, types[precision], beam, sentences, a.device)
                except Exception as e:  # one variant that fails is a result, too
                    row["error"] = str(e)[:200]
                if len(found) == 2:  # rounding may part them somewhere; a variant that computes something else would show
                    row["same_pieces"] = float((found["eager"] == found["compiled"]).float().mean())
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
