"""bench/serve: a wrong, lost or refused answer of any run of `saturated`, `engine` and `simulator` is a claim that does not hold."""
import contextlib
import json
import os
import sys
import types

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "bench", "serve")]

import main  # noqa: E402
import saturated  # noqa: E402
import scenarios  # noqa: E402

TOOK = {"p50": 5.0, "p99": 9.0, "max": 9.0, "mean": 5.0}
KINDS = ("line", "short", "long")
LATENCIES = {k: {"latency_ms": TOOK, "encode_ms": TOOK, "decode_ms": TOOK, "overhead_ms": TOOK} for k in KINDS}


def report(**bad):
    return {"requests": 100, "ok": 100, **dict.fromkeys(("wrong", "lost", "unanswered", "refused"), 0), **bad,
            "phases": [{"classes": LATENCIES}], "throughput": {"answers_per_s": 50.0, "source_tokens_per_s": 500.0}, "cpus": {}}


class Runs:
    """Stands for a Load; run number `faulty` has something bad in its report."""

    def __init__(self, faulty=None, **bad):
        self.faulty, self.bad, self.n = faulty, bad, 0

    def __call__(self, *_):
        self.n += 1
        return report(**self.bad) if self.n - 1 == self.faulty else report()


COST = {"items": [{"class": "short", "sentences": [[1, 1, 1, 1, 1, 1]]}],
        "engine": {"workers_requests_per_s": 50.0, "simulated_seconds": 1.0, "seconds": 1.0}}


@pytest.fixture
def bench(tmp_path, monkeypatch):
    lines = tmp_path / "lines.txt"
    lines.write_text("Hello.\n\nTwo dogs.\n", encoding="utf-8")
    b = main.Bench(types.SimpleNamespace(work=str(tmp_path), quick=True, seconds=0, short=0, programs="", lines=str(lines), models="",
                                         repetitions=2))
    b.results["model"] = {"source": "en", "target": "de"}
    server = types.SimpleNamespace(counter=lambda name: 0)
    b.server = lambda *_: contextlib.nullcontext(server)
    b.capacity, b.step_rows = 50.0, 16
    b.learned = []
    b.measure_cost = lambda repeats: json.loads(json.dumps(COST))
    b.item_shares = tuple
    b.simulated = lambda *_: {"classes": {k: {"latency_ms": TOOK, "real_latency_ms": TOOK} for k in KINDS}}
    monkeypatch.setattr(scenarios, "simulated", lambda *_: [{"batching": x, "capacity_per_s": 1.0} for x in ("continuous", "static-drop")])
    monkeypatch.setattr(saturated, "learn", lambda programs, server, source, target: b.learned.append(target), raising=False)
    return b


def missed(bench, monkeypatch, name, runs):
    """The claims about answers that do not hold."""
    monkeypatch.setattr(saturated, "Load", lambda programs, items: runs)
    bench.load, bench.claims = runs, []
    getattr(bench, name)()
    return [c["claim"] for c in bench.claims if c["holds"] is False and c["claim"].endswith(("lost answers", "refused requests"))]


@pytest.mark.parametrize("name", ["saturated", "engine", "simulator"])
def test_each_run_is_looked_at(bench, monkeypatch, name):
    runs = Runs()
    assert missed(bench, monkeypatch, name, runs) == []
    assert runs.n > 0
    for faulty in range(runs.n):
        for bad in ("wrong", "lost", "unanswered"):
            assert len(missed(bench, monkeypatch, name, Runs(faulty, **{bad: 1}))) == 1, (faulty, bad)


@pytest.mark.parametrize("name", ["saturated", "engine", "simulator"])
def test_a_closed_loop_is_refused_nothing(bench, monkeypatch, name):
    assert missed(bench, monkeypatch, name, Runs(0, refused=1)) != []


def test_lines_are_learned_once(bench, monkeypatch):
    missed(bench, monkeypatch, "saturated", Runs())
    assert bench.learned == [os.path.join(bench.a.work, "lines.jsonl")]
