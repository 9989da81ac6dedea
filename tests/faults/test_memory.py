"""Every place that asks for memory at the start of a server does not get it, once each: nothing ends by a signal, what is
refused is refused in words, and no memory is lost.

FAULTS_STEPS: how many places of a start are tried (24); `make faults` tries all of them."""
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "api")]

from conftest import SERVER, models, sanitized  # noqa: E402,F401  (models: a fixture)
from faults import Faults, each_place  # noqa: E402

STEPS = int(os.environ.get("FAULTS_STEPS", "24"))  # 0: all
pytestmark = pytest.mark.skipif(sanitized(), reason="a sanitizer has an allocator of its own")


@pytest.fixture
def control(tmp_path):
    c = Faults(tmp_path / "control")
    yield c
    c.close()


def test_start(models, control):  # noqa: F811
    faults, ways = each_place(control, [SERVER, "--models", models, "--check-config"], STEPS)
    print(dict(ways))
    assert ways["places"] > 300 and ways["refused"] > 3
    assert not faults, "%d of %s:\n%s" % (len(faults), dict(ways), "\n".join(faults[:5]))
