#!/usr/bin/env python3
"""The same work in PyTorch, as well as it can be written: the base model, random weights, encoder once, cached decoder, beam
search by reordering the cache; eager, and torch.compile with a static cache (CUDA graphs). One JSON object a line:
variant, precision, beam, sentences, total_ms, step_ms. Times are the best of five runs after two for warming up."""
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


def search(model, step, source, beam, state):
    B = source.shape[0]
    cross_k, cross_v = model.encode(source)
    cross_k, cross_v = torch.stack(cross_k), torch.stack(cross_v)
    cache_k, cache_v = state
    ids = torch.ones(B * beam, dtype=torch.long, device=source.device)
    scores = torch.zeros(B, beam, device=source.device)
    base = torch.arange(B, device=source.device)[:, None] * beam
    torch.cuda.synchronize()
    begun = time.perf_counter()
    for t in range(LENGTH):
        at = torch.tensor([t], device=source.device)
        mask = (torch.arange(LENGTH, device=source.device) <= t)[None, None, None]
        best, pieces = step(ids, at, mask, cache_k, cache_v, cross_k, cross_v, beam)
        if beam > 1:
            total = (scores[:, :, None] + best.view(B, beam, -1)).view(B, -1)
            scores, place = total.topk(beam, -1)
            parent = (base + place // (2 * beam)).view(-1)
            ids = pieces.view(B, -1).gather(1, place).view(-1)
            cache_k.copy_(cache_k.index_select(1, parent))
            cache_v.copy_(cache_v.index_select(1, parent))
        else:
            ids = pieces[:, 0]
        ids.cpu()  # a search looks at what came out
    torch.cuda.synchronize()
    return time.perf_counter() - begun


def measure(model, step, dtype, beam, sentences):
    source = torch.randint(2, V, (sentences, SOURCE), device="cuda")
    shape = (LAYERS, sentences * beam, H, LENGTH, DK)
    state = torch.zeros(shape, device="cuda", dtype=dtype), torch.zeros(shape, device="cuda", dtype=dtype)
    times = []
    for _ in range(7):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        decode = search(model, step, source, beam, state)
        times.append((time.perf_counter() - begun, decode))
    total, decode = min(times[2:])
    return total * 1e3, decode / LENGTH * 1e3


@torch.inference_mode()
def main():
    if not torch.cuda.is_available():
        sys.exit("torch sees no CUDA device")
    for precision, dtype in (("fp32", torch.float32), ("fp16", torch.float16), ("bf16", torch.bfloat16)):
        model = Model().to("cuda", dtype).eval()
        compiled = torch.compile(model.step, mode="reduce-overhead")
        for variant, step in (("eager", model.step), ("compiled", compiled)):
            for beam in (1, 4):
                for sentences in (1, 8, 64, 256):
                    row = dict(variant=variant, precision=precision, beam=beam, sentences=sentences)
                    try:
                        row["total_ms"], row["step_ms"] = measure(model, step, dtype, beam, sentences)
                    except Exception as e:  # one variant that fails is a result, too
                        row["error"] = str(e)[:200]
                    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
