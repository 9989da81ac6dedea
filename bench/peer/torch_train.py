#!/usr/bin/env python3
"""PyTorch's half of the training comparison: the same Transformer on the batches that `dragoman-train batches` prints.
One JSON line every --log updates with the keys of log.jsonl. Padding is PyTorch's business: real tokens are counted.

  torch_train.py --batches FILE --vocab 6000 --threads 2 --updates 150
"""
import argparse
import json
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def split(self, x):
        b, t, d = x.shape
        return x.view(b, t, self.heads, d // self.heads).transpose(1, 2)

    def forward(self, x, memory, mask):
        q, k, v = self.split(self.q(x)), self.split(self.k(memory)), self.split(self.v(memory))
        weights = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + mask, -1)
        return self.o((weights @ v).transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    def __init__(self, a, cross):
        super().__init__()
        self.p = a.dropout
        self.own, self.own_norm = Attention(a.d_model, a.heads), nn.LayerNorm(a.d_model)
        self.cross = Attention(a.d_model, a.heads) if cross else None
        self.cross_norm = nn.LayerNorm(a.d_model) if cross else None
        self.w1, self.w2 = nn.Linear(a.d_model, a.d_ff), nn.Linear(a.d_ff, a.d_model)
        self.ffn_norm = nn.LayerNorm(a.d_model)

    def forward(self, x, mask, memory=None, memory_mask=None):
        def drop(y):
            return F.dropout(y, self.p, self.training)
        x = self.own_norm(x + drop(self.own(x, x, mask)))
        if self.cross is not None:
            x = self.cross_norm(x + drop(self.cross(x, memory, memory_mask)))
        return self.ffn_norm(x + drop(self.w2(F.relu(self.w1(x)))))


class Transformer(nn.Module):
    """Post-LN, one matrix for both embeddings and the softmax, output bias, sinusoids in halves, zero start vector."""

    def __init__(self, a):
        super().__init__()
        self.d, self.p = a.d_model, a.dropout
        self.embed, self.bias = nn.Embedding(a.vocab, a.d_model), nn.Parameter(torch.zeros(a.vocab))
        self.encoder = nn.ModuleList(Layer(a, False) for _ in range(a.layers))
        self.decoder = nn.ModuleList(Layer(a, True) for _ in range(a.layers))
        angle = np.arange(512)[:, None] / np.power(10000.0, 2 * np.arange(self.d // 2) / self.d)[None]
        table = np.concatenate([np.sin(angle), np.cos(angle)], 1)
        self.register_buffer("positions", torch.tensor(table, dtype=torch.float32))
        for w in self.parameters():
            if w.dim() > 1:
                nn.init.xavier_uniform_(w)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.zeros_(m.bias)
        nn.init.normal_(self.embed.weight, std=self.d ** -0.5)

    def forward(self, source, source_mask, target, target_mask):
        def drop(y):
            return F.dropout(y, self.p, self.training)
        mask = torch.zeros(source_mask.shape).masked_fill(~source_mask, -1e9)[:, None, None]
        x = drop(self.embed(source) * self.d ** 0.5 + self.positions[:source.shape[1]])
        for layer in self.encoder:
            x = layer(x, mask)
        before = self.embed(target[:, :-1]) * self.d ** 0.5
        y = torch.cat([torch.zeros(len(target), 1, self.d), before], 1) + self.positions[:target.shape[1]]
        y = drop(y)
        causal = torch.full((target.shape[1],) * 2, -1e9).triu(1)
        for layer in self.decoder:
            y = layer(y, causal, x, mask)
        return F.linear(y[target_mask], self.embed.weight, self.bias)


def padded(rows):
    ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    mask = torch.zeros(ids.shape, dtype=torch.bool)
    for i, row in enumerate(rows):
        ids[i, :len(row)] = torch.tensor(row)
        mask[i, :len(row)] = True
    return ids, mask


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--batches", required=True)
    p.add_argument("--vocab", type=int, required=True)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--updates", type=int, default=150)
    p.add_argument("--log", type=int, default=50)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--d-model", type=int, default=256)
    p.add_argument("--d-ff", type=int, default=1024)
    p.add_argument("--layers", type=int, default=3)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--dropout", type=float, default=0.1)
    p.add_argument("--warmup", type=int, default=1000)
    p.add_argument("--scale", type=float, default=0.6)
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(a.seed)
    with open(a.batches, encoding="utf-8") as f:
        batches = [json.loads(line) for line in f][:a.updates]
    net = Transformer(a)
    optimizer = torch.optim.Adam(net.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9, fused=True)
    total = source_tokens = target_tokens = 0
    wall, cpu = time.time(), time.process_time()
    for step, batch in enumerate(batches, 1):
        for group in optimizer.param_groups:
            group["lr"] = a.scale * a.d_model ** -0.5 * min(step ** -0.5, step * a.warmup ** -1.5)
        source, source_mask = padded(batch["source"])
        target, target_mask = padded(batch["target"])
        n = int(target_mask.sum())
        logits = net(source, source_mask, target, target_mask)
        loss = F.cross_entropy(logits, target[target_mask], label_smoothing=0.1, reduction="sum")
        optimizer.zero_grad()
        (loss / n).backward()
        optimizer.step()
        total += loss.item()
        source_tokens += int(source_mask.sum())
        target_tokens += n
        if step % a.log == 0:
            seconds, cpu_seconds = time.time() - wall, time.process_time() - cpu
            print(json.dumps({"kind": "train", "update": step, "loss": total / target_tokens,
                              "source_tokens": source_tokens, "target_tokens": target_tokens, "seconds": seconds,
                              "cpu_seconds": cpu_seconds}), flush=True)
            total = source_tokens = target_tokens = 0
            wall, cpu = time.time(), time.process_time()


main()
