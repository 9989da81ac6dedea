"""openapi.yaml holds: 200 made-up requests for each operation, besides those that try each field's limits."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "schemathesis"))

from run import run  # noqa: E402


def test_answers_are_as_described(tmp_path):
    run(str(tmp_path), 200)
