"""Comparing with the same machine's committed results: slower settings are reported, faster and new ones are not."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench"))

import regressions  # noqa: E402


def result(latency, throughput, step, cpu="a"):
    common = {"type": "int8", "beam": 4, "threads": 1}
    return {"machine": {"cpu": cpu}, "date": "then",
            "settings": [{**common, "mode": "latency", "workers": 1, "ours": {"p50_ms": latency}},
                         {**common, "mode": "throughput", "workers": 2, "ours": {"tokens_per_s": throughput}}],
            "steps": [{"sentences": 1, "beam": 4, "threads": 1, "step_ms": step}]}


def test_names_what_is_slower():
    old = result(40, 1000, 2)
    assert regressions.slower(old, result(41, 960, 2.05)) == []
    assert regressions.slower(old, result(20, 2000, 1)) == []
    found = dict(regressions.slower(old, result(44, 800, 3)))
    assert [round(x, 2) for x in found.values()] == [1.1, 1.25, 1.5]
    assert "int8 latency, beam 4, 1 x 1 threads" in found


def test_compares_like_with_like(tmp_path, capsys):
    path = tmp_path / "cpu-x.json"
    regressions.say(str(path), result(1, 1, 1))
    assert "no table" in capsys.readouterr().out
    path.write_text(json.dumps(result(40, 1000, 2)))
    regressions.say(str(path), result(80, 1000, 2, cpu="b"))
    assert "another processor" in capsys.readouterr().out
    regressions.say(str(path), result(80, 1000, 2))
    out = capsys.readouterr().out
    assert "2.00 times" in out and "1 regressions" in out
    assert "others used" not in out
    busy = result(80, 1000, 2)
    busy["settings"][0]["ours"]["foreign_cpus"] = [0.01, 0.62]
    regressions.say(str(path), busy)
    assert "others used up to 0.6 cores" in capsys.readouterr().out


def test_a_weaker_machine_is_named(tmp_path, capsys):
    path = tmp_path / "cpu.json"
    path.write_text(json.dumps({**result(40, 1000, 2), "limits_of_one_core": {"memory_gb_s": {"1": 14, "2": 26}, "int8_gop_s": 740}}))
    regressions.say(str(path), {**result(80, 1000, 2), "limits_of_one_core": {"memory_gb_s": {"1": 13.9, "2": 15}, "int8_gop_s": 600, "new": 1}})
    out = capsys.readouterr().out
    assert "memory_gb_s of 2 core(s) 15 instead of 26" in out and "int8_gop_s of 1 core(s) 600 instead of 740" in out
    assert out.count("gave less") == 2
