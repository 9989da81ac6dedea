"""Training's arithmetic in float64: label-smoothed loss, gradients of every parameter, and Adam as in the paper.

Loss: q = (1-eps)*onehot + eps/V over all V, mean over target pieces with </s>; no dropout.
Guided alignment (Garg et al. 2019), if there is a guide: weight times the sum, over target pieces with links, of -mean
over the links of log(p + 1e-9), p the cross-attention's mean over the guided heads; divided by all target pieces.
Adam: beta 0.9/0.98, epsilon 1e-9, bias-corrected; lr = scale * D^-0.5 * min(step^-0.5, step * warmup^-1.5).
"""
import numpy as np

from tape import Var, backward
from transformer import Transformer, log_softmax


def guided_loss(guide, cross, links):
    """guide: {"layer", "head", "heads", "weight"}, counted from 0; cross: weights[H,T,S] of each layer."""
    weights = cross[guide["layer"]][guide["head"]:guide["head"] + guide["heads"]]
    mean = weights.sum(axis=0) / guide["heads"]
    loss = 0.0
    for t in sorted({t for t, _ in links}):
        keys = [s for q, s in links if q == t]
        for s in keys:
            loss = loss - np.log(mean[t, s] + 1e-9) / len(keys)
    return loss


def batch_loss(config, params, batch, smoothing, guide=None):
    """batch: [(source ids, target ids)] without </s>; with a guide, each also has [(target index, source index)]. Returns
    (smoothed loss with the guide's, unsmoothed NLL), both means per piece."""
    model = Transformer(config, params)
    loss, nll, pieces = 0.0, 0.0, 0
    for source, target, *links in batch:
        memory, _ = model.encode(source)
        logits, _, cross = model.decode(memory, target)
        if guide:
            loss = loss + guide["weight"] * guided_loss(guide, cross, links[0])
        logp = log_softmax(logits)
        ids = np.array(list(target) + [config.eos])
        hit = logp[np.arange(len(ids)), ids].sum()
        loss = loss - (1 - smoothing) * hit - (smoothing / config.target_vocab) * logp.sum()
        nll = nll - hit
        pieces += len(ids)
    return loss * (1.0 / pieces), nll * (1.0 / pieces)


def gradients(config, params, batch, smoothing, guide=None):
    """(loss, nll, {name: gradient})."""
    watched = {name: Var(value) for name, value in params.items()}
    loss, nll = batch_loss(config, watched, batch, smoothing, guide)
    backward(loss)
    grads = {n: np.zeros(v.shape) if v.grad is None else v.grad for n, v in watched.items()}
    return float(loss.value), float(nll.value), grads


def learning_rate(config, step, warmup, scale=1.0):
    return scale * config.D ** -0.5 * min(step ** -0.5, step * warmup ** -1.5)


class Adam:
    def __init__(self, params, beta1=0.9, beta2=0.98, epsilon=1e-9):
        self.beta1, self.beta2, self.epsilon, self.steps = beta1, beta2, epsilon, 0
        self.m = {name: np.zeros(value.shape) for name, value in params.items()}
        self.v = {name: np.zeros(value.shape) for name, value in params.items()}

    def step(self, params, grads, lr):
        """The parameters after one step; bias-corrected as in Kingma and Ba's algorithm 1."""
        self.steps += 1
        out = {}
        for name, g in grads.items():
            self.m[name] = self.beta1 * self.m[name] + (1 - self.beta1) * g
            self.v[name] = self.beta2 * self.v[name] + (1 - self.beta2) * g * g
            m_hat = self.m[name] / (1 - self.beta1 ** self.steps)
            v_hat = self.v[name] / (1 - self.beta2 ** self.steps)
            out[name] = params[name] - lr * m_hat / (np.sqrt(v_hat) + self.epsilon)
        return out


def train(config, params, batches, smoothing, warmup, guide=None):
    """One Adam step per batch. Returns (final parameters, [(lr, loss, nll) of each step, computed before it])."""
    params = {name: value.astype(np.float64) for name, value in params.items()}
    adam = Adam(params)
    log = []
    for step, batch in enumerate(batches, 1):
        loss, nll, grads = gradients(config, params, batch, smoothing, guide)
        lr = learning_rate(config, step, warmup)
        log.append((lr, loss, nll))
        params = adam.step(params, grads, lr)
    return params, log
