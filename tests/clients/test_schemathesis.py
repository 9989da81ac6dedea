"""openapi.yaml holds: a short run of schemathesis, the same each time (test_long_schemathesis.py is the whole one)."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "schemathesis"))

from run import run  # noqa: E402


def test_answers_are_as_described(tmp_path):
    run(str(tmp_path), 10)
