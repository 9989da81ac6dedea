#!/usr/bin/env python3
"""PyTorch's half of the training comparison: the same Transformer on the batches that `dragoman-train batches` prints.
One JSON line every --log updates with the keys of log.jsonl. Padding is PyTorch's business: real tokens are counted.

  torch_train.py --batches FILE --vocab 6000 --threads 2 --updates 150                             # speed
  torch_train.py --batches FILE --vocab 6000 --shuffle 1200 --run DIR --updates 3650               # the curve

With --shuffle it makes its own batches of at most that many padded tokens out of all sentences in FILE, anew in each
epoch. With --run it keeps its state in DIR (every --save updates, and at SIGTERM or SIGINT) and goes on
from there, bit for bit; DIR/log.jsonl holds all lines so far.
"""
import argparse
import json
import os
import random
import signal
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


def own_batches(pairs, most, rng):
    """The batches of one epoch: pairs of similar length together, the batches in random order."""
    batches, batch, longest = [], [], 0
    for pair in sorted(pairs, key=lambda x: (len(x[1]), len(x[0]) + rng.random())):
        longer = max(longest, len(pair[0]), len(pair[1]))
        if batch and longer * (len(batch) + 1) > most:
            batches.append(batch)
            batch, longer = [], max(map(len, pair))
        batch.append(pair)
        longest = longer
    batches.append(batch)
    rng.shuffle(batches)
    return [{"source": [x[0] for x in b], "target": [x[1] for x in b]} for b in batches]


def batches_after(a, done):
    """The batches from update `done` + 1 on."""
    with open(a.batches, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    if not a.shuffle:
        yield from lines[done:]
        return
    pairs = [pair for line in lines for pair in zip(line["source"], line["target"])]
    rng = random.Random(a.seed)
    while True:
        epoch = own_batches(pairs, a.shuffle, rng)
        yield from epoch[done:]
        done = max(0, done - len(epoch))


class Log:
    """Sums since the last log line. Tokens, losses and seconds of an unfinished line survive an interruption."""

    def __init__(self):
        self.lines = []
        self.clear()

    def clear(self):
        self.sums = {"loss": 0.0, "source_tokens": 0, "target_tokens": 0, "seconds": 0.0, "cpu_seconds": 0.0}
        self.resume()

    def resume(self):
        self.wall, self.cpu = time.time(), time.process_time()

    def tick(self):
        self.sums["seconds"] += time.time() - self.wall
        self.sums["cpu_seconds"] += time.process_time() - self.cpu
        self.resume()

    def line(self, step):
        self.tick()
        line = {"kind": "train", "update": step, **self.sums, "loss": self.sums["loss"] / self.sums["target_tokens"]}
        self.lines.append(line)
        print(json.dumps(line), flush=True)
        self.clear()


def replace(path, write):
    write(path + ".tmp")
    os.replace(path + ".tmp", path)


def save(a, step, net, optimizer, log):
    def lines(path):
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(x) + "\n" for x in log.lines)
    log.tick()
    state = {"settings": settings(a), "step": step, "net": net.state_dict(), "optimizer": optimizer.state_dict(),
             "random": torch.get_rng_state(), "lines": log.lines, "sums": log.sums}
    replace(os.path.join(a.run, "state.pt"), lambda path: torch.save(state, path))
    replace(os.path.join(a.run, "log.jsonl"), lines)
    log.resume()


def load(a, net, optimizer, log):
    """Load a saved run. Returns the update that it has reached, 0 if there is none."""
    path = os.path.join(a.run, "state.pt") if a.run else ""
    if not os.path.exists(path):
        return 0
    state = torch.load(path, weights_only=True)
    if state["settings"] != settings(a):
        raise SystemExit(f"{path} was made with {state['settings']}, not {settings(a)}")
    net.load_state_dict(state["net"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    log.lines, log.sums = state["lines"], state["sums"]
    log.resume()
    return state["step"]


def settings(a):
    """Settings that must not change when a run goes on."""
    names = ("seed", "bf16", "vocab", "shuffle", "log", "d_model", "d_ff", "layers", "heads", "dropout", "warmup", "scale")
    return {x: getattr(a, x) for x in names}


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--batches", required=True)
    p.add_argument("--vocab", type=int, required=True)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--updates", type=int, default=150)
    p.add_argument("--log", type=int, default=50)
    p.add_argument("--bf16", action="store_true", help="autocast: products in bf16, parameters in fp32")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--shuffle", type=int, default=0, help="padded tokens a batch; 0: the batches as they are")
    p.add_argument("--run", help="folder of a run that can go on")
    p.add_argument("--save", type=int, default=100)
    p.add_argument("--d-model", type=int, default=256)
    p.add_argument("--d-ff", type=int, default=1024)
    p.add_argument("--layers", type=int, default=3)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--dropout", type=float, default=0.1)
    p.add_argument("--warmup", type=int, default=1000)
    p.add_argument("--scale", type=float, default=0.6)
    return p.parse_args()


def update(a, step, batch, net, optimizer):
    """Do one update. Returns its summed loss and its numbers of source and target tokens."""
    for group in optimizer.param_groups:
        group["lr"] = a.scale * a.d_model ** -0.5 * min(step ** -0.5, step * a.warmup ** -1.5)
    source, source_mask = padded(batch["source"])
    target, target_mask = padded(batch["target"])
    n = int(target_mask.sum())
    with torch.autocast("cpu", torch.bfloat16, enabled=a.bf16):
        logits = net(source, source_mask, target, target_mask)
        loss = F.cross_entropy(logits, target[target_mask], label_smoothing=0.1, reduction="sum")
    optimizer.zero_grad()
    (loss / n).backward()
    optimizer.step()
    return {"loss": loss.item(), "source_tokens": int(source_mask.sum()), "target_tokens": n}


def main():
    a = options()
    torch.set_num_threads(a.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(a.seed)
    net, log = Transformer(a), Log()
    optimizer = torch.optim.Adam(net.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9, fused=True)
    if a.run:
        os.makedirs(a.run, exist_ok=True)
    step, stop = load(a, net, optimizer, log), []
    for number in (signal.SIGTERM, signal.SIGINT) if a.run else ():
        signal.signal(number, lambda *_: stop.append(True))
    batches = batches_after(a, step)
    log.resume()
    while step < a.updates and not stop:
        batch = next(batches, None)
        if batch is None:
            break
        step += 1
        for key, value in update(a, step, batch, net, optimizer).items():
            log.sums[key] += value
        if step % a.log == 0 or a.run and step == a.updates:
            log.line(step)
        if a.run and step % a.save == 0:
            save(a, step, net, optimizer, log)
    if a.run:
        save(a, step, net, optimizer, log)


main()
