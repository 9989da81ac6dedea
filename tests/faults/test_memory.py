"""Each allocation of a server's start fails once. The server does not crash, its message names memory, and no memory leaks.

FAULTS_STEPS: how many places of a start are tried (24); `make faults` tries all of them."""
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "api")]

from conftest import SERVER, models, sanitized  # noqa: E402,F401  (models: a fixture)
from faults import control, each_place  # noqa: E402,F401  (control: a fixture)

STEPS = int(os.environ.get("FAULTS_STEPS", "24"))  # 0: all
pytestmark = pytest.mark.skipif(sanitized(), reason="a sanitizer has an allocator of its own")


def test_start(models, control):  # noqa: F811
    faults, ways = each_place(control, [SERVER, "--models", models, "--check-config"], STEPS)
    print(dict(ways))
    assert ways["places"] > 300 and ways["refused"] > 3
    assert not faults, "%d of %s:\n%s" % (len(faults), dict(ways), "\n".join(faults[:5]))
