"""Table 1's maximum path lengths and sequential operations, computed on the layers' graphs, match its formulas."""
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "paper"))

import paths  # noqa: E402

LAYERS = {"self-attention": (paths.self_attention(), lambda n: 1),
          "recurrent": (paths.recurrent(), lambda n: n),
          "convolution, k = 3": (paths.convolution(3), lambda n: 1),
          "convolution, k = 5": (paths.convolution(5), lambda n: 1),
          "dilated convolution, k = 2": (paths.dilated_convolution(2), lambda n: 1),
          "dilated convolution, k = 3": (paths.dilated_convolution(3), lambda n: 1),
          "restricted self-attention, r = 5": (paths.restricted_self_attention(5), lambda n: 1),
          "restricted self-attention, r = 9": (paths.restricted_self_attention(9), lambda n: 1)}


@pytest.mark.parametrize("name", LAYERS)
def test_the_longest_path_is_the_formulas(name):
    layer, sequential = LAYERS[name]
    for n in (8, 13, 16, 27, 32, 64):
        assert paths.maximum_path_length(layer, n) == layer.formula(n), n
        assert paths.sequential_operations(layer, n) == sequential(n), n


def test_worked_by_hand():
    # A layer of width 4 reaches three positions to the left: position 9 sees position 0 after three layers.
    assert paths.maximum_path_length(paths.convolution(4), 10) == 3
    # Reaches of 1, 2 and 4 connect eight positions after three layers; a ninth needs a fourth layer.
    assert paths.maximum_path_length(paths.dilated_convolution(2), 8) == 3
    assert paths.maximum_path_length(paths.dilated_convolution(2), 9) == 4
    # One step from the last position, then one from each to the next.
    assert paths.maximum_path_length(paths.recurrent(), 8) == 8
    # A layer reaches four positions to either side.
    assert paths.maximum_path_length(paths.restricted_self_attention(9), 17) == 4
