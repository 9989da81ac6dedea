"""The `dragoman` program against the independent implementation in tests/golden: forced log-probabilities, greedy
and n-best lists of every small model, positions beyond 100 included. All searches must be identical."""
import json
import os
import subprocess

import pytest

import widened

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "data")
DRAGOMAN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin", "dragoman")
MODELS = sorted(n[:-5] for n in os.listdir(GOLDEN) if n.endswith(".json") and not n.startswith("train-"))

# float32 sums against float64: errors seen are below 2e-5 a piece on these models.
PIECE_TOLERANCE = 1e-4
SCORE_TOLERANCE = 1e-3


def bundle(name):
    return os.path.join(GOLDEN, name)


def expected(name):
    with open(bundle(name) + ".json", encoding="utf-8") as f:
        return json.load(f)


def vocabulary(name, side):
    with open(os.path.join(bundle(name), "manifest.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    with open(os.path.join(bundle(name), manifest["files"][side + "_vocab"]), encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def line(vocab, ids):
    return " ".join(vocab[i] for i in ids) + "\n"


def run(args, text="", isa=None):
    """The program's output as parsed lines of JSON; isa "" lets the machine choose."""
    env = {**widened.environment(), **({} if isa is None else {"DRAGOMAN_ISA": isa})}
    done = subprocess.run([DRAGOMAN] + args, input=text, text=True, encoding="utf-8", capture_output=True, env=env,
                          timeout=600)
    assert done.returncode == 0, f"{' '.join(args)}: {done.stderr}"
    return [json.loads(x) for x in done.stdout.splitlines()]


def pieces_of(hypothesis):
    pieces = hypothesis["tokens" if "tokens" in hypothesis else "pieces"]  # the program's key, or the reference's
    return pieces.split() if isinstance(pieces, str) else pieces


def settings():
    for name in MODELS:
        for i, setting in enumerate(expected(name)["search"]):
            label = "-".join(str(setting[k]) for k in ("beam", "n_best", "penalty", "alpha", "max_len"))
            yield pytest.param(name, i, id=f"{name}-{label}")


def test_there_is_something_to_compare():
    """Expected values leave out decisions that are too close: check that enough remain."""
    assert len(MODELS) == 11
    for name in MODELS:
        value = expected(name)
        counts = [len(s["results"]) for s in value["search"]]
        assert min(counts) >= 9 and sum(counts) >= 110, (name, counts)
        assert max(len(f["source"]) for f in value["forced"]) > 100


def check_forced(name, isa, tmp_path, piece_tolerance, score_tolerance):
    cases = expected(name)["forced"]
    source, target = tmp_path / "source", tmp_path / "target"
    source_vocab, target_vocab = vocabulary(name, "source"), vocabulary(name, "target")
    source.write_text("".join(line(source_vocab, c["source"]) for c in cases), encoding="utf-8")
    target.write_text("".join(line(target_vocab, c["target"]) for c in cases), encoding="utf-8")
    answers = run(["score", "--model", bundle(name), "--source", str(source), "--target", str(target), "--pieces",
                   "--json"], isa=isa)
    assert len(answers) == len(cases)
    for case, answer in zip(cases, answers):
        pieces = [t["token"] for t in answer["tokens"]]
        assert pieces == [target_vocab[i] for i in case["target"]] + ["</s>"]
        for i, (token, logprob) in enumerate(zip(answer["tokens"], case["logprobs"])):
            assert token["logprob"] == pytest.approx(logprob, abs=piece_tolerance), (case["source"], i)
        assert answer["score"] == pytest.approx(sum(case["logprobs"]), abs=score_tolerance)


@pytest.mark.parametrize("isa", [None, "generic"], ids=["best", "generic"])
@pytest.mark.parametrize("name", MODELS)
def test_forced(name, isa, tmp_path):
    check_forced(name, isa, tmp_path, PIECE_TOLERANCE, SCORE_TOLERANCE)


def test_bf16_as_the_machine_chooses(tmp_path):
    """If the processor multiplies bf16, activations have 8 bits, and errors are as large as on the emulated GPU."""
    check_forced("two-vocabularies", "", tmp_path, 0.2, 5.0)


@pytest.mark.parametrize("name,index", settings())
def test_search(name, index):
    value = expected(name)
    setting = value["search"][index]
    source_vocab, target_vocab = vocabulary(name, "source"), vocabulary(name, "target")
    args = ["translate", "--model", bundle(name), "--pieces", "--json", "--beam", str(setting["beam"]), "--n-best",
            str(setting["n_best"]), "--penalty", setting["penalty"], "--alpha", str(setting["alpha"])]
    if setting["max_len"]:
        args += ["--max-length", str(setting["max_len"])]
    cases = setting["results"]
    text = "".join(line(source_vocab, value["forced"][c["source"]]["source"]) for c in cases)
    answers = run(args, text)
    assert len(answers) == len(cases)
    for case, answer in zip(cases, answers):
        got = answer.get("n_best") or [answer]
        assert [pieces_of(h) for h in got] == [[target_vocab[i] for i in h["ids"]] for h in case["hyps"]]
        assert pieces_of(answer) == pieces_of(got[0])
        for mine, theirs in zip(got, case["hyps"]):
            assert mine["score"] == pytest.approx(theirs["score"], abs=SCORE_TOLERANCE)
        limited = bool(case["hyps"][0].get("length_limited"))
        assert ("length_limited" in answer["flags"]) == limited


@pytest.mark.parametrize("name", MODELS)
def test_defaults_come_from_the_bundle(name):
    """Without flags the manifest's beam, alpha and limit apply: those of setting 2."""
    value = expected(name)
    cases = value["search"][2]["results"]
    source_vocab, target_vocab = vocabulary(name, "source"), vocabulary(name, "target")
    text = "".join(line(source_vocab, value["forced"][c["source"]]["source"]) for c in cases)
    answers = run(["translate", "--model", bundle(name), "--pieces", "--json"], text)
    assert [pieces_of(a) for a in answers] == [[target_vocab[i] for i in c["hyps"][0]["ids"]] for c in cases]


@pytest.mark.parametrize("name", MODELS)
def test_bundles_are_whole(name):
    """The bundles were written without the C code, which must compute the same checksums and version."""
    done = subprocess.run([DRAGOMAN, "inspect", bundle(name), "--verify"], text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
