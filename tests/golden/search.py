"""Beam search as in the paper (section 6.1) and Wu et al. 2016. Slow and simple: this is the definition.

It recomputes every prefix from the start and sorts all K*V candidates. `next_log_probs(prefix)` returns the
log-probabilities [V] of the piece that follows `prefix` (a tuple of ids).

Each step takes the 2K best of the K*V candidates (ties: smaller beam index, then smaller id). Those that end in
</s> enter the finished set, which keeps the best n_best by logP/lp; the first K others live on. The search stops
when the finished set is full and the best live logP/lp(max_len) is not above its worst score. |Y| counts </s>.
At max_len a live hypothesis counts as finished (|Y| = max_len) and is flagged length_limited.
K = 1 is greedy search: the best candidate alone is taken, and </s> ends the search.
"""
from dataclasses import dataclass

import numpy as np


@dataclass
class Hypothesis:
    ids: tuple  # without </s>
    logprob: float
    score: float
    length_limited: bool


def length_penalty(kind, alpha, n):
    if kind == "gnmt":
        return ((5.0 + n) / 6.0) ** alpha
    if kind == "power":
        return float(n) ** alpha
    if kind == "none":
        return 1.0
    raise ValueError(f"penalty {kind}")


class Margin:
    """The smallest difference behind any decision: if it is below float32 noise, another engine may decide otherwise."""

    def __init__(self):
        self.least = np.inf

    def between(self, values):
        v = np.sort(np.asarray(values, dtype=np.float64))
        if len(v) > 1:
            self.least = min(self.least, float(np.min(np.diff(v))))


def candidates(next_log_probs, live, wanted, margin):
    """The best `wanted` of all continuations as (logP, beam index, id), best first."""
    table = np.stack([logp + next_log_probs(ids) for ids, logp in live])  # [K,V]
    flat = table.ravel()
    # A stable sort of the row-major table breaks ties by beam index, then id.
    order = np.argsort(-flat, kind="stable")
    margin.between(flat[order[:wanted + 1]])
    return [(float(flat[j]), int(j) // table.shape[1], int(j) % table.shape[1]) for j in order[:wanted]]


def search(next_log_probs, eos, beam, n_best, max_len, alpha=0.6, penalty="gnmt", margin=None):
    """Returns the n_best hypotheses, best first."""
    margin = margin or Margin()
    finished = []

    def finish(ids, logp, n, limited):
        finished.append(Hypothesis(ids, logp, logp / length_penalty(penalty, alpha, n), limited))
        margin.between([h.score for h in finished])
        finished.sort(key=lambda h: -h.score)  # stable: of equal scores the earlier one stays first
        del finished[n_best:]

    live = [((), 0.0)]
    for n in range(1, max_len + 1):
        lives_on = []
        for logp, row, piece in candidates(next_log_probs, live, 2 * beam if beam > 1 else 1, margin):
            if piece == eos:
                finish(live[row][0], logp, n, False)
            elif len(lives_on) < beam:
                lives_on.append((live[row][0] + (piece,), logp))
        live = lives_on
        if beam == 1 and finished:
            break
        if n == max_len:
            for ids, logp in live:
                finish(ids, logp, n, True)
        elif len(finished) == n_best:
            reachable = max(logp for _, logp in live) / length_penalty(penalty, alpha, max_len)
            margin.between([reachable, finished[-1].score])
            if reachable <= finished[-1].score:
                break
    return finished
