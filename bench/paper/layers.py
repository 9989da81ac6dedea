"""The layers of the paper's Table 1 in numpy, float32, on one thread. They do all the multiplications that the table counts.
x is [n, d]; each layer returns [n, d]. Weights are drawn once for each (layer, d)."""
import numpy as np


def rows_softmax(x):
    x -= x.max(axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=-1, keepdims=True)
    return x


class SelfAttention:
    """softmax(x x^T / sqrt(d)) x: the n * n * d of the table. The four projections, n * d * d each, are not in the table's row."""

    def __init__(self, rng, d):
        self.scale = np.float32(d ** -0.5)

    def __call__(self, x):
        return rows_softmax(x @ x.T * self.scale) @ x


class RestrictedSelfAttention:
    """Each position attends to the r positions around it; positions beyond the ends are zeros."""

    def __init__(self, rng, d, r):
        self.scale, self.r = np.float32(d ** -0.5), r

    def __call__(self, x):
        half = self.r // 2
        around = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((half, half), (0, 0))), self.r, axis=0)  # [n, d, r]
        weights = rows_softmax(np.matmul(x[:, None, :], around) * self.scale)  # [n, 1, r]
        return np.matmul(around, weights.transpose(0, 2, 1))[:, :, 0]


class Lstm:
    """The input's share of the four gates for all positions at once, then one position after the other."""

    def __init__(self, rng, d):
        self.w = (rng.standard_normal((d, 4 * d)) * d ** -0.5).astype(np.float32)
        self.u = (rng.standard_normal((d, 4 * d)) * d ** -0.5).astype(np.float32)

    def __call__(self, x):
        n, d = x.shape
        inputs, out = x @ self.w, np.empty_like(x)
        h = c = np.zeros(d, np.float32)
        for t in range(n):
            gates = inputs[t] + h @ self.u
            sigmoid = 1 / (1 + np.exp(-gates[:3 * d]))
            c = sigmoid[d:2 * d] * c + sigmoid[:d] * np.tanh(gates[3 * d:])
            h = out[t] = sigmoid[2 * d:] * np.tanh(c)
        return out


def shifted(x, by):
    """x shifted `by` positions later, with zeros before it."""
    return x if by == 0 else np.concatenate([np.zeros((min(by, len(x)), x.shape[1]), x.dtype), x[:-by]])


class Convolution:
    """Causal convolution of width k, with positions `dilation` apart."""

    def __init__(self, rng, d, k, dilation=1):
        self.w, self.dilation = (rng.standard_normal((k, d, d)) * (k * d) ** -0.5).astype(np.float32), dilation

    def __call__(self, x):
        return sum(shifted(x, i * self.dilation) @ w for i, w in enumerate(self.w))


class SeparableConvolution:
    """A convolution of width k for each channel on its own, then a matrix over the channels."""

    def __init__(self, rng, d, k):
        self.depth = rng.standard_normal((k, d)).astype(np.float32)
        self.point = (rng.standard_normal((d, d)) * d ** -0.5).astype(np.float32)

    def __call__(self, x):
        return sum(shifted(x, i) * w for i, w in enumerate(self.depth)) @ self.point


K, R = 7, 33
LAYERS = {"self-attention": SelfAttention, "recurrent (LSTM)": Lstm,
          f"convolution, k = {K}": lambda rng, d: Convolution(rng, d, K),
          f"separable convolution, k = {K}": lambda rng, d: SeparableConvolution(rng, d, K),
          f"dilated convolution, k = {K}": lambda rng, d: Convolution(rng, d, K, K),
          f"restricted self-attention, r = {R}": lambda rng, d: RestrictedSelfAttention(rng, d, R)}
# The table's complexity as a number of multiplications, constants included.
MULTIPLICATIONS = {"self-attention": lambda n, d: 2 * n * n * d, "recurrent (LSTM)": lambda n, d: 8 * n * d * d,
                   f"convolution, k = {K}": lambda n, d: K * n * d * d,
                   f"separable convolution, k = {K}": lambda n, d: K * n * d + n * d * d,
                   f"dilated convolution, k = {K}": lambda n, d: K * n * d * d,
                   f"restricted self-attention, r = {R}": lambda n, d: 2 * R * n * d}
