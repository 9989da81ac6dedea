"""The vocabulary shortlist of a run's bundle: learned from the training text, measured on the dev set, used if quality does not suffer.
The runs start from a real model of 8,000 pieces and leave its weights unchanged."""
import json
import os
import shutil
import signal
import subprocess
import time

import pytest
import real_pairs
from test_calibrate import LINES as ALL
from train_runs import DRAGOMAN, TRAIN, run

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "en-de")
LINES = ALL[::5]
RECIPE = {
    "name": "listed",
    "data": {"pairs": [{"source_lang": "en", "target_lang": "de", "train": [{"source": "train.en", "target": "train.de"}],
                        "dev": [{"source": "dev.en", "target": "dev.de"}]}]},
    "cleaning": {"language_check": False, "check_relation": False, "deduplicate": False, "remove_overlap": False, "max_dropped": 1},
    "training": {"updates": 1, "batch_tokens": 300, "lr_scale": 0, "log_updates": 1, "threads": 2, "average_last": 1,
                 "average_compare": False, "precision": "fp32"},
    "validation": {"calibrate": 0, "lines": 2, "samples": 0},
}


def translate(bundle, lines, *more, lists="auto"):
    done = subprocess.run([DRAGOMAN, "translate", "--model", str(bundle), "--keep-loops", *more], input="".join(x + "\n" for x in lines),
                          capture_output=True, text=True, env={**os.environ, "DRAGOMAN_SHORTLIST": lists}, check=True)
    return done.stdout.splitlines()


def manifest(out):
    return json.loads((out / "bundle" / "manifest.json").read_text(encoding="utf-8"))


def write(folder, name, source, target):
    for side, lines in (("en", source), ("de", target)):
        (folder / f"{name}.{side}").write_text("".join(x + "\n" for x in lines), encoding="utf-8")


def command(corpus, out, *more):
    return [TRAIN, "run", str(corpus / "recipe.json"), "--data", str(corpus), "--out", str(out), "--init", MODEL, "--quiet", *more]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """The model's answers to LINES, greedy and with beam 4, with the weights as a run writes them."""
    corpus = tmp_path_factory.mktemp("answers")
    write(corpus, "train", real_pairs.lines("en"), real_pairs.lines("de"))
    write(corpus, "dev", real_pairs.lines("en")[:2], real_pairs.lines("de")[:2])
    (corpus / "recipe.json").write_text(json.dumps(RECIPE))
    run(command(corpus, corpus / "run", "--set", "validation.shortlist=0"))
    assert "shortlist" not in manifest(corpus / "run") and not (corpus / "run" / "bundle" / "shortlist.dgl").exists()
    return [translate(corpus / "run" / "bundle", LINES, "--beam-size", beam) for beam in ("1", "4")]


def corpus_of(folder, answers, source, target, times=1):
    write(folder, "train", source, target)
    write(folder, "dev", LINES * times, answers[1] * times)
    (folder / "recipe.json").write_text(json.dumps(RECIPE))
    return folder


@pytest.fixture(scope="module")
def listed(answers, tmp_path_factory):
    """A run whose training targets are the model's answers, and whose dev references are its answers with the list of that text."""
    corpus = corpus_of(tmp_path_factory.mktemp("listed"), answers, LINES + LINES, answers[0] + answers[1])
    run(command(corpus, corpus / "first"))
    write(corpus, "dev", LINES, translate(corpus / "first" / "bundle", LINES, "--beam-size", "4", lists="on"))
    said = run(command(corpus, corpus / "run"))
    return corpus, said


def inspected(bundle, **env):
    said = subprocess.run([DRAGOMAN, "inspect", str(bundle)], capture_output=True, text=True, check=True, env={**os.environ, **env}).stdout
    return said[said.index("shortlist  "):said.index("text  ")].splitlines()


def test_a_list_that_keeps_the_answers_is_used(listed, answers):
    corpus, said = listed
    m = manifest(corpus / "run")
    decision = m["shortlist"]
    assert m["files"]["shortlist"] == "shortlist.dgl" and decision["use"] is True
    assert decision["pairs"] == 2 * len(LINES) and 50 < decision["tokens"] < 2000 and decision["coverage"] == 1
    assert decision["seconds"] > 0 and decision["tolerance"] == pytest.approx(0.1)
    assert [(x["pair"], x["beam_size"], x["lines"]) for x in decision["measured"]] == [(["en", "de"], beam, len(LINES)) for beam in (1, 4)]
    for x in decision["measured"]:
        assert x["bleu"] >= x["bleu_full"] - 0.1 and x["chrf"] >= x["chrf_full"] - 0.1 and x["bleu_full"] > 50
    assert decision["measured"][1]["bleu"] > 99.9
    assert "shortlist: %.0f of 8000 tokens a sentence, used" % decision["tokens"] in said
    assert translate(corpus / "run" / "bundle", LINES, "--beam-size", "1") == answers[0]
    lines = inspected(corpus / "run" / "bundle")
    assert lines[0] == "shortlist   used: it keeps BLEU and chrF2" and len(lines) == 3
    greedy = decision["measured"][0]
    assert lines[1] == "            en-de, beam 1, %d lines: BLEU %.2f (%.2f without), chrF2 %.2f (%.2f)" % (
        len(LINES), greedy["bleu"], greedy["bleu_full"], greedy["chrf"], greedy["chrf_full"])
    assert inspected(corpus / "run" / "bundle", DRAGOMAN_SHORTLIST="off")[0] == \
        "shortlist   not used: DRAGOMAN_SHORTLIST says so; without it, it is used: it keeps BLEU and chrF2"


def test_the_list_is_the_same_once_more(listed, tmp_path):
    """The same text gives the same list with another number of threads and by `average`. If the step is turned off, the list is removed."""
    corpus, _ = listed
    shutil.copytree(corpus / "run", tmp_path / "run")
    want = manifest(tmp_path / "run")["shortlist"]
    bits = (tmp_path / "run" / "bundle" / "shortlist.dgl").read_bytes()
    run([TRAIN, "average", str(tmp_path / "run"), "--quiet", "--out", str(tmp_path / "mean")])
    run(command(corpus, tmp_path / "one", "--threads", "1"))
    for bundle in (tmp_path / "mean", tmp_path / "one" / "bundle"):
        assert (bundle / "shortlist.dgl").read_bytes() == bits
        got = json.loads((bundle / "manifest.json").read_text())["shortlist"]
        assert {**got, "seconds": 0} == {**want, "seconds": 0}
    run([TRAIN, "resume", str(tmp_path / "run"), "--quiet", "--set", "validation.shortlist=0"])
    assert "shortlist" not in manifest(tmp_path / "run") and "shortlist" not in manifest(tmp_path / "run")["files"]
    assert not (tmp_path / "run" / "bundle" / "shortlist.dgl").exists()
    assert inspected(tmp_path / "run" / "bundle") == ["shortlist   none"]


def test_a_list_that_hurts_is_not_used(answers, tmp_path):
    """The list was learned from sentences with other words."""
    corpus = corpus_of(tmp_path, answers, real_pairs.lines("en"), real_pairs.lines("de"))
    said = run(command(corpus, corpus / "run"))
    decision = manifest(corpus / "run")["shortlist"]
    assert decision["use"] is False and "not used: it costs more than 0.1 BLEU or chrF2" in said
    assert any(x["bleu"] < x["bleu_full"] - 5 for x in decision["measured"])
    bundle = corpus / "run" / "bundle"
    greedy = ("--beam-size", "1")
    assert translate(bundle, LINES, *greedy) == answers[0] == translate(bundle, LINES, *greedy, lists="off")
    assert translate(bundle, LINES, *greedy, lists="on") != answers[0]
    assert inspected(bundle)[0] == "shortlist   not used: it costs BLEU or chrF2"
    scores = manifest(corpus / "run")["training"]["scores"][0]  # scored without the list, as the bundle answers
    assert scores["bleu"] == pytest.approx(decision["measured"][1]["bleu_full"])


def test_a_list_is_not_used_before_it_is_measured(answers, tmp_path):
    corpus = corpus_of(tmp_path, answers, real_pairs.lines("en"), real_pairs.lines("de"), times=50)
    process = subprocess.Popen(command(corpus, corpus / "run", "--set", "validation.shortlist=9000"),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    path = corpus / "run" / "bundle" / "manifest.json"
    end = time.time() + 300
    while process.poll() is None and time.time() < end and not (path.exists() and "shortlist" in json.loads(path.read_text() or "{}")):
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 0 and "stopped while translating" in said, said
    assert manifest(corpus / "run")["shortlist"] == {"use": False}
    assert inspected(corpus / "run" / "bundle") == ["shortlist   not used: it was never measured"]


def test_small_vocabularies_have_no_list(answers, tmp_path):
    """A sentence's list would be more than half of the vocabulary."""
    corpus = corpus_of(tmp_path, answers, LINES, answers[0])
    recipe = {**RECIPE, "vocabulary": {"size": 200, "byte_fallback": False}, "model": {"d_model": 16, "d_ff": 32, "heads": 2, "encoder_layers": 1, "decoder_layers": 1}}
    (corpus / "recipe.json").write_text(json.dumps(recipe))
    arguments = command(corpus, corpus / "run")
    at = arguments.index("--init")
    run(arguments[:at] + arguments[at + 2:])
    assert "shortlist" not in manifest(corpus / "run")["files"] and not (corpus / "run" / "bundle" / "shortlist.dgl").exists()
