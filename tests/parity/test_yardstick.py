"""Checks of the yardstick in tests/golden: its gradients against central differences, its search against brute force, its
cacheless decoder against itself, and the committed values against those that the generator makes today."""
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
sys.path.insert(0, GOLDEN)

import search  # noqa: E402
from gradients import batch_loss, gradients  # noqa: E402
from models import Stream, double, initial_parameters  # noqa: E402
from transformer import Config, Transformer, parameter_shapes  # noqa: E402

VARIANTS = {
    "paper": dict(Dk=4, Dv=4),
    "marian": dict(Dk=3, Dv=5, positions="marian", act="swish", first_position=1, start=3, attention_bias=True),
    "learned": dict(Dk=4, Dv=4, positions="learned", max_positions=20, act="gelu", attention_bias=True,
                    output_bias=True, tied_embeddings=False, tied_output=False),
    "pre-norm": dict(Dk=4, Dv=4, pre_norm=True),
    "ssru": dict(Dk=4, Dv=4, decoder="ssru"),
    "pre-norm-ssru": dict(Dk=4, Dv=4, decoder="ssru", pre_norm=True, attention_bias=True),
}


def small(name):
    c = Config(12, 12, 8, 12, 2, enc_layers=1, dec_layers=2, **VARIANTS[name])
    return c, double(initial_parameters(c, Stream(7)))


GUIDE = {"layer": 1, "head": 0, "heads": 2, "weight": 0.7}


@pytest.mark.parametrize("guide", [None, GUIDE])
@pytest.mark.parametrize("name", VARIANTS)
def test_gradients_are_central_differences(name, guide):
    c, params = small(name)
    batch = [([3, 4, 5], [6, 7, 6, 8], [(0, 1), (2, 0), (2, 3), (4, 3)]), ([3, 9], [4], [])]
    _, _, grads = gradients(c, params, batch, 0.1, guide)
    stream = Stream(8)
    for parameter, shape in parameter_shapes(c).items():
        for _ in range(4):
            at = tuple(stream.integers(0, n, 1)[0] for n in shape)
            there, step = params[parameter][at], 1e-5
            params[parameter][at] = there + step
            above = batch_loss(c, params, batch, 0.1, guide)[0]
            params[parameter][at] = there - step
            below = batch_loss(c, params, batch, 0.1, guide)[0]
            params[parameter][at] = there
            assert grads[parameter][at] == pytest.approx((above - below) / (2 * step), abs=1e-8, rel=1e-6), parameter


def test_gradients_of_the_loss_fall_where_nothing_is_used():
    c, params = small("learned")
    _, _, grads = gradients(c, params, [([3, 4], [5])], 0.1)
    assert not np.any(grads["src.embed"][6]) and np.any(grads["src.embed"][3])
    assert not np.any(grads["src.pos"][3:]) and np.any(grads["src.pos"][:3], axis=1).all()


@pytest.mark.parametrize("name", VARIANTS)
def test_a_prefix_does_not_see_what_follows(name):
    c, params = small(name)
    model = Transformer(c, params)
    whole = model.forced([3, 4, 5], [6, 7, 8])
    step = model.next_log_probs([3, 4, 5])
    for i, piece in enumerate([6, 7, 8, c.eos]):
        assert step((6, 7, 8)[:i])[piece] == pytest.approx(whole[i], abs=1e-12)
    assert np.exp(step((6,))).sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("penalty,alpha", [("gnmt", 0.6), ("gnmt", 2.0), ("power", 1.0), ("none", 0.0)])
def test_a_wide_beam_finds_the_best_of_all(penalty, alpha):
    """With every prefix in the beam the search is exhaustive: compare with all outputs of up to 4 pieces."""
    rng = Stream(9)
    table = {}

    def step(prefix):
        if prefix not in table:
            logits = rng.uniform((5,), 1.5).astype(np.float64)
            table[prefix] = logits - np.log(np.exp(logits).sum())
        return table[prefix]

    def total(ids):
        return sum(step(ids[:i])[piece] for i, piece in enumerate(ids))

    everything = []
    for n in range(5):
        for ids in itertools.product(range(1, 5), repeat=n):
            if n < 4:  # ends in </s>
                everything.append((total(ids + (0,)) / search.length_penalty(penalty, alpha, n + 1), ids))
            else:  # met the limit
                everything.append((total(ids) / search.length_penalty(penalty, alpha, 4), ids))
    best = sorted(everything, reverse=True)[:6]
    found = search.search(step, 0, 256, 6, 4, alpha, penalty)
    assert [h.ids for h in found] == [ids for _, ids in best]
    assert [h.score for h in found] == pytest.approx([score for score, _ in best])
    assert all(h.length_limited == (len(h.ids) == 4) for h in found)


def test_generator_still_gives_what_is_committed():
    done = subprocess.run([sys.executable, os.path.join(GOLDEN, "make.py"), "--check", "one-head", "train-learned"],
                          text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
