"""Marian's SSRU student in numpy, in float, to measure the maxima behind Bergamot's static activation scales."""
import math
import numpy as np

f32 = np.float32


class Student:
    def __init__(self, P, heads, alphas=None):
        """P: arrays by Marian's names; alphas: {matrix: a} ("none" or the table's name for the output) or None for float"""
        self.P, self.H, self.a = P, heads, alphas
        self.src = "Wemb" if "Wemb" in P else "encoder_Wemb"
        self.tgt = "Wemb" if "Wemb" in P else "decoder_Wemb"
        self.D = P[self.tgt].shape[1]
        self.enc = sum("encoder_l%d_self_Wq" % i in P for i in range(1, 99))
        self.dec = sum("decoder_l%d_rnn_W" % i in P for i in range(1, 99))

    def lin(self, x, w, b=None, table=False):
        W = self.P[w].T if table else self.P[w]
        if self.a is None:
            y = x @ W
        else:
            a = f32(self.a.get(w, self.a.get("none"))) if table else f32(self.a[w])
            q = f32(127) / np.abs(W).max()
            y = (np.clip(np.rint(x * a), -127, 127) @ np.clip(np.rint(W * q), -127, 127)).astype(f32) * (1 / (a * q))
        return y + self.P[b] if b else y

    def norm(self, x, p):
        m = x.mean(-1, keepdims=True)
        v = ((x - m) ** 2).mean(-1, keepdims=True)
        return (x - m) / np.sqrt(v + 1e-6) * self.P[p + "_ln_scale"] + self.P[p + "_ln_bias"]

    def position(self, p):
        n = self.D // 2
        v = p * np.exp(-np.arange(n) * math.log(10000) / (n - 1))
        return np.concatenate([np.sin(v), np.cos(v)]).astype(f32)

    def embed(self, table, i):
        e = self.P[table]
        if self.a is None:
            return e[i] * f32(math.sqrt(self.D))
        q = f32(127) / np.abs(e).max()
        return np.clip(np.rint(e[i] * q), -127, 127) * (1 / q) * f32(math.sqrt(self.D))

    def attention(self, x, kv, p):
        Q = self.lin(x, p + "_Wq", p + "_bq")
        K, V = (self.lin(kv, p + "_W" + c, p + "_b" + c) for c in "kv")
        d, out, first = self.D // self.H, np.zeros_like(Q), None
        for h in range(self.H):
            s = slice(h * d, (h + 1) * d)
            z = Q[:, s] @ K[:, s].T / math.sqrt(d)
            w = np.exp(z - z.max(-1, keepdims=True))
            w /= w.sum(-1, keepdims=True)
            first = w if h == 0 else first
            out[:, s] = w @ V[:, s]
        return self.lin(out, p + "_Wo", p + "_bo"), first

    def ffn(self, x, p):
        h = np.maximum(self.lin(x, p + "_W1", p + "_b1"), 0)
        return self.norm(self.lin(h, p + "_W2", p + "_b2") + x, p + "_ffn")

    def encode(self, ids):
        x = np.stack([self.embed(self.src, i) + self.position(p) for p, i in enumerate(ids)]).astype(f32)
        for l in range(1, self.enc + 1):
            p = "encoder_l%d_self" % l
            x = self.norm(self.attention(x, x, p)[0] + x, p + "_Wo")
            x = self.ffn(x, "encoder_l%d_ffn" % l)
        return x

    def greedy(self, ids, limit, allowed=None, eos=0, unk=1):
        """ids must end with </s>. Returns the pieces, their summed log-probability, and the attention of head 0 of the last layer."""
        memory, c = self.encode(ids), [np.zeros((1, self.D), f32) for _ in range(self.dec)]
        out, total, rows, before = [], 0.0, [], None
        for t in range(limit):
            x = (np.zeros(self.D, f32) if before is None else self.embed(self.tgt, before)) + self.position(t)
            x = x[None].astype(f32)
            for l in range(1, self.dec + 1):
                p = "decoder_l%d_rnn" % l
                f = 1 / (1 + np.exp(-self.lin(x, p + "_Wf", p + "_bf")))
                c[l - 1] = f * c[l - 1] + (1 - f) * self.lin(x, p + "_W")
                x = self.norm(np.maximum(c[l - 1], 0) + x, p + "_ffn")
                p = "decoder_l%d_context" % l
                y, w = self.attention(x, memory, p)
                x = self.ffn(self.norm(y + x, p + "_Wo"), "decoder_l%d_ffn" % l)
            rows.append(w[0])
            z = self.lin(x, self.tgt, "decoder_ff_logit_out_b", table=True)[0]
            if allowed is not None:
                keep = np.full_like(z, -np.inf)
                keep[allowed] = z[allowed]
                z = keep
            choice = z.copy()
            choice[unk] = -np.inf
            before = int(choice.argmax())
            total += z[before] - z.max() - math.log(np.exp(z - z.max()).sum())
            out.append(before)
            if before == eos:
                break
        return out, total, rows


def measure(P, heads, sentences, limit=64):
    """Static activation scales, computed as Bergamot's own scripts do: {matrix: 127 / (mean + 1.1 stddev of max|x|)}"""
    seen = {}

    class Watch(Student):
        def lin(self, x, w, b=None, table=False):
            seen.setdefault("none" if table else w, []).append(float(np.abs(x).max()))
            return Student.lin(self, x, w, b, table)

    m = Watch(P, heads)
    for ids in sentences:
        m.greedy(ids, limit)
    a = {k: f32(127 / (np.mean(v) + 1.1 * np.std(v))) for k, v in seen.items()}
    a[m.tgt] = a["none"]
    return a
