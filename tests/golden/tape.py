"""Reverse-mode differentiation of plain numpy code: an array that records how it was computed.

`Var` intercepts the few numpy functions that transformer.py uses; `backward(loss)` walks the tape from last to
first. Each rule is checked against central differences (tests/parity/test_yardstick.py).
"""
import math

import numpy as np


def unbroadcast(g, shape):
    """Sum g over the axes along which an operand of `shape` was repeated."""
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis, n in enumerate(shape):
        if n == 1 and g.shape[axis] != 1:
            g = g.sum(axis=axis, keepdims=True)
    return g


def value_of(x):
    return x.value if isinstance(x, Var) else x


class Var:
    """A value, its gradient, and for each operand the rule that propagates the gradient to it."""

    def __init__(self, value, parents=()):
        self.value = np.asarray(value, dtype=np.float64)
        self.parents = parents  # ((Var, gradient of self -> gradient of that Var), ...)
        self.grad = None

    shape = property(lambda self: self.value.shape)
    T = property(lambda self: self.transpose(1, 0))

    # numpy's functions, called with a Var among the operands

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        rule = RULES.get(ufunc)
        if rule is None or method != "__call__" or kwargs:
            return NotImplemented
        values = [value_of(x) for x in args]
        y = ufunc(*values)
        gradients = rule(y, *values)
        return Var(y, tuple((x, lift(d, x.shape)) for x, d in zip(args, gradients) if isinstance(x, Var)))

    def __add__(self, o): return np.add(self, o)
    def __radd__(self, o): return np.add(o, self)
    def __sub__(self, o): return np.subtract(self, o)
    def __rsub__(self, o): return np.subtract(o, self)
    def __mul__(self, o): return np.multiply(self, o)
    def __rmul__(self, o): return np.multiply(o, self)
    def __truediv__(self, o): return np.true_divide(self, o)
    def __rtruediv__(self, o): return np.true_divide(o, self)
    def __matmul__(self, o): return np.matmul(self, o)
    def __rmatmul__(self, o): return np.matmul(o, self)
    def __neg__(self): return np.negative(self)

    # methods of arrays

    def reshape(self, *shape):
        return Var(self.value.reshape(*shape), ((self, lambda g: g.reshape(self.shape)),))

    def transpose(self, *axes):
        back = np.argsort(axes)
        return Var(self.value.transpose(*axes), ((self, lambda g: g.transpose(*back)),))

    def sum(self, axis=None, keepdims=False):
        def back(g):
            if axis is not None and not keepdims:
                g = np.expand_dims(g, axis)
            return np.broadcast_to(g, self.shape)
        return Var(self.value.sum(axis=axis, keepdims=keepdims), ((self, back),))

    def max(self, axis=None, keepdims=False):
        """A constant: transformer.py only uses it as a shift that cancels out."""
        return self.value.max(axis=axis, keepdims=keepdims)

    def __getitem__(self, key):
        def back(g):
            d = np.zeros(self.shape)
            np.add.at(d, key, g)  # rows gathered twice count twice
            return d
        return Var(self.value[key], ((self, back),))

    def erf(self):
        y = np.vectorize(math.erf, otypes=[np.float64])(self.value)
        return Var(y, ((self, lambda g: g * (2 / math.sqrt(math.pi)) * np.exp(-self.value ** 2)),))


def lift(rule, shape):
    return lambda g: unbroadcast(rule(g), shape)


# How the gradient g of y = f(a, b) propagates to each operand.
RULES = {
    np.add: lambda y, a, b: (lambda g: g, lambda g: g),
    np.subtract: lambda y, a, b: (lambda g: g, lambda g: -g),
    np.multiply: lambda y, a, b: (lambda g: g * b, lambda g: g * a),
    np.true_divide: lambda y, a, b: (lambda g: g / b, lambda g: -g * y / b),
    np.matmul: lambda y, a, b: (lambda g: g @ np.swapaxes(b, -1, -2), lambda g: np.swapaxes(a, -1, -2) @ g),
    np.negative: lambda y, a: (lambda g: -g,),
    np.exp: lambda y, a: (lambda g: g * y,),
    np.log: lambda y, a: (lambda g: g / a,),
    np.sqrt: lambda y, a: (lambda g: g / (2 * y),),
    np.maximum: lambda y, a, b: (lambda g: g * (np.asarray(a) > b), lambda g: g * (np.asarray(a) <= b)),
}


def backward(loss):
    """Fill .grad of everything that the scalar `loss` was computed from."""
    order, seen = [], set()
    stack = [(loss, False)]
    while stack:  # depth first, parents before children, without recursion
        node, done = stack.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((parent, False) for parent, _ in node.parents)
    loss.grad = np.ones(loss.shape)
    for node in reversed(order):
        for parent, rule in node.parents:
            g = rule(node.grad)
            parent.grad = g.copy() if parent.grad is None else parent.grad + g
