"""The layers of the paper's Table 1 as dependency graphs. A node is (level, position), level 0 is the input; an edge leads from a node to
each node that reads it. Maximum path length and sequential operations are computed on the graph; the formulas beside them are
the paper's, constants included.

Convolutions read a window that ends at their own position, and the recurrent layer runs left to right: only pairs with the input
at or before the output count, because a layer in the other direction covers the rest. Restricted self-attention looks at r
positions centred on its own, as section 4 of the paper says, so r is odd."""
from collections import deque


class Layer:
    def __init__(self, reads, formula, causal, within=None):
        self.reads = reads  # (level, position, n) -> positions of the previous level
        self.formula = formula  # n -> maximum path length
        self.causal = causal  # only pairs with input <= output
        self.within = within or (lambda position, n: [])  # positions of the same level that must be computed first


def log_ceil(base, x):
    """The least e with base ** e >= x, in whole numbers."""
    e = 0
    while base ** e < x:
        e += 1
    return e


def self_attention():
    return Layer(lambda level, p, n: range(n), lambda n: 1, False)


def recurrent():
    return Layer(lambda level, p, n: [p], lambda n: n, True, lambda p, n: [p - 1] if p else [])


def convolution(k):
    return Layer(lambda level, p, n: range(max(0, p - k + 1), p + 1), lambda n: max(1, -(-(n - 1) // (k - 1))), True)


def dilated_convolution(k):
    """Level l reads k positions that are k ** (l - 1) apart."""
    return Layer(lambda level, p, n: [p - i * k ** (level - 1) for i in range(k) if p >= i * k ** (level - 1)],
                 lambda n: max(1, log_ceil(k, n)), True)


def restricted_self_attention(r):
    half = (r - 1) // 2
    return Layer(lambda level, p, n: range(max(0, p - half), min(n, p + half + 1)), lambda n: max(1, -(-(n - 1) // half)), False)


def readers(layer, node, n, levels):
    level, position = node
    if level < levels:
        for p in range(n):
            if position in layer.reads(level + 1, p, n):
                yield level + 1, p
    if level:
        for p in range(n):
            if position in layer.within(p, n):
                yield level, p


def maximum_path_length(layer, n):
    """The longest of the shortest paths over all pairs of an input and an output position, in the smallest stack that connects every
    pair. Breadth-first search from each input."""
    for levels in range(1, n + 1):
        after = {(level, p): list(readers(layer, (level, p), n, levels)) for level in range(levels + 1) for p in range(n)}
        longest = 0
        for start in range(n):
            distance, queue = {(0, start): 0}, deque([(0, start)])
            while queue:
                node = queue.popleft()
                for reader in after[node]:
                    if reader not in distance:
                        distance[reader] = distance[node] + 1
                        queue.append(reader)
            for end in range(start if layer.causal else 0, n):
                found = [distance[level, end] for level in range(1, levels + 1) if (level, end) in distance]
                longest = max(longest, min(found)) if found and longest is not None else None
            if longest is None:
                break
        if longest is not None:
            return longest
    raise ValueError("no stack of n layers connects all pairs")


def sequential_operations(layer, n):
    """The longest chain of positions in one layer of which each needs the previous one: 1 if all can be computed at once."""
    depth = [0] * n
    for p in range(n):
        depth[p] = 1 + max((depth[q] for q in layer.within(p, n)), default=0)
    return max(depth)
