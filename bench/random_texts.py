"""Random sentences for random weights: lengths as in news, pieces by Zipf's law."""
import numpy as np


def lengths(rng, n, mean):
    """n log-normal lengths of 2 to 100 pieces with exactly this mean."""
    found = np.clip(np.rint(rng.lognormal(np.log(mean) - 0.15, 0.55, n)), 2, 100).astype(int)
    while found.sum() != mean * n:
        i = rng.integers(n)
        found[i] = np.clip(found[i] + np.sign(mean * n - found.sum()), 2, 100)
    return found


def write(path, pieces, first, n, mean, seed):
    """Write n sentences of pieces[first:], a line each. The same arguments give the same sentences."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / (np.arange(first, len(pieces)) + 8.0)  # Zipf's law
    with open(path, "w", encoding="utf-8") as f:
        for length in lengths(rng, n, mean):
            f.write(" ".join(pieces[first + i] for i in rng.choice(len(frequency), length, p=frequency / frequency.sum())) + "\n")
