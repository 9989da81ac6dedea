"""Training's arithmetic in float64: label-smoothed loss, gradients of every parameter, and Adam as in the paper.

Loss: q = (1-eps)*onehot + eps/V over all V, mean over target pieces with </s>; no dropout.
Adam: beta 0.9/0.98, epsilon 1e-9, bias-corrected; lr = scale * D^-0.5 * min(step^-0.5, step * warmup^-1.5).
"""
import numpy as np

from tape import Var, backward
from transformer import Transformer, log_softmax


def batch_loss(config, params, batch, smoothing):
    """batch: [(source ids, target ids)] without </s>. Returns (smoothed loss, unsmoothed NLL), means per piece."""
    model = Transformer(config, params)
    loss, nll, pieces = 0.0, 0.0, 0
    for source, target in batch:
        memory, _ = model.encode(source)
        logits, _, _ = model.decode(memory, target)
        logp = log_softmax(logits)
        ids = np.array(list(target) + [config.eos])
        hit = logp[np.arange(len(ids)), ids].sum()
        loss = loss - (1 - smoothing) * hit - (smoothing / config.target_vocab) * logp.sum()
        nll = nll - hit
        pieces += len(ids)
    return loss * (1.0 / pieces), nll * (1.0 / pieces)


def gradients(config, params, batch, smoothing):
    """(loss, nll, {name: gradient})."""
    watched = {name: Var(value) for name, value in params.items()}
    loss, nll = batch_loss(config, watched, batch, smoothing)
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


def train(config, params, batches, smoothing, warmup):
    """One Adam step per batch. Returns (final parameters, [(lr, loss, nll) of each step, before it])."""
    params = {name: value.astype(np.float64) for name, value in params.items()}
    adam = Adam(params)
    log = []
    for step, batch in enumerate(batches, 1):
        loss, nll, grads = gradients(config, params, batch, smoothing)
        lr = learning_rate(config, step, warmup)
        log.append((lr, loss, nll))
        params = adam.step(params, grads, lr)
    return params, log
