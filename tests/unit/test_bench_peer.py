"""The comparison with CTranslate2: the limits in its table, the settings of the short form, and the peer's best number of threads."""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "bench/peer")]

import compare  # noqa: E402
import regressions  # noqa: E402
import tables  # noqa: E402


def test_both_limits_of_reading_are_in_the_table():
    """A step is compared with reading memory once, and with reading the same weights repeatedly: each has its own figures."""
    with open(os.path.join(ROOT, "bench/results/cpu-amd-epyc-2-cores.json"), encoding="utf-8") as f:
        result = json.load(f)
    lines = tables.document(result).splitlines()
    for name, key in (("of reading memory", "percent_of_reading_memory"),
                      ("of reading the same weights again and again", "percent_of_reading_weights")):
        line = next(x for x in lines if f"| {name} |" in x)
        assert re.findall(r"([\d.]+) %", line) == [str(s[key]) for s in result["steps"]]


def test_the_short_form_is_a_part():
    every = {regressions.name(s): s["pairs"] for s in compare.list_settings()}
    brief = {regressions.name(s): s["pairs"] for s in compare.list_settings(brief=True)}
    assert set(brief) < set(every) and all(brief[name] < every[name] for name in brief)
    assert {s["mode"] for s in compare.list_settings(brief=True)} == {"latency", "throughput"}


def test_the_peer_gets_the_threads_that_are_fastest_for_it(monkeypatch):
    monkeypatch.setattr(compare, "measure", lambda command: ({"p50_ms": command[0], "tokens_per_s": command[0]}, 0))
    assert compare.fastest("p50_ms", {1: [243], 2: [546]}) == (1, [243])
    assert compare.fastest("p50_ms", {1: [566], 2: [339]}) == (2, [339])
    assert compare.fastest("tokens_per_s", {1: [524], 2: [300]}) == (1, [524])
    monkeypatch.setattr(compare, "measure", None)
    assert compare.fastest("p50_ms", {1: [243]}) == (1, [243])  # no choice, so nothing is run
