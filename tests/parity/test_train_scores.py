"""Scores at the end of a run of `dragoman-train`: dev and test sets of any length, and a run that is stopped while scoring."""
import json
import re
import shutil
import subprocess
import time

from train_runs import RECIPE, TRAIN, UPDATES, WORDS, command, log, run, with_longer_dev, write_corpus
from train_runs import data, whole  # noqa: F401  fixtures


def test_stopped_while_scoring(data, tmp_path):
    """The bundle is written before its scores; a run stopped then can be resumed later to score it."""
    corpus, out = tmp_path / "corpus", tmp_path / "run"
    with_longer_dev(data, corpus, 1500)
    process = subprocess.Popen(command(corpus, out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    manifest = out / "bundle" / "manifest.json"
    end = time.time() + 300
    while process.poll() is None and time.time() < end and not manifest.exists():
        time.sleep(0.002)
    process.terminate()
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 0, said
    assert "stopped while translating" in said and f"bundle, without scores: {out}/bundle" in said
    assert f"continue with: dragoman-train resume {out}" in said
    assert "scores" not in json.loads(manifest.read_text())["training"]
    run(command(corpus, out, verb="resume"))
    assert json.loads(manifest.read_text())["training"]["scores"][0]["lines"] == 18000


def test_stopped_while_comparing_weights(data, tmp_path):
    """The bundle comes after the comparison: a run stopped then names none, or says that it is the one from before."""
    corpus, out = tmp_path / "corpus", tmp_path / "run"
    with_longer_dev(data, corpus, 3000)
    manifest = out / "bundle" / "manifest.json"

    def validations():
        path = out / "log.jsonl"
        return path.read_text().count('"kind":"valid"') if path.exists() else 0

    def stopped(args):
        before = validations()
        process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        end = time.time() + 300
        while process.poll() is None and time.time() < end and validations() == before:
            time.sleep(0.002)
        process.terminate()
        said = process.communicate(timeout=60)[1]
        assert process.returncode == 0 and "stopped while measuring the loss" in said, said
        assert f"continue with: dragoman-train resume {out}" in said
        return said
    settings = {"training.updates": 4, "training.checkpoint_updates": 2, "training.average_compare": "true", "validation.lines": 2}
    more = [x for key, value in settings.items() for x in ("--set", f"{key}={value}")] + ["--no-scores"]
    assert "; no bundle yet" in stopped(command(corpus, out, *more))
    assert not manifest.exists()
    run(command(corpus, out, "--no-scores", verb="resume"))
    before = manifest.read_text()
    said = stopped(command(corpus, out, "--no-scores", "--set", "training.updates=8", verb="resume"))
    assert f"; the bundle there is the one from before: {out}/bundle" in said
    assert manifest.read_text() == before and json.loads(before)["training"]["updates"] == 4
    run(command(corpus, out, "--no-scores", verb="resume"))
    assert json.loads(manifest.read_text())["training"]["updates"] == 8


def test_the_trainers_loss_is_the_servers(data, whole):
    """The same dev set through training's forward pass and through the engine's forced decoding."""
    valid = log(whole, "valid")[-1]
    out = run([TRAIN, "evaluate", str(whole / "bundle"), str(data / "dev.en"), str(data / "dev.xx"), "--json"])
    run([TRAIN, "average", str(whole), "--last", "1", "--no-scores", "--out", str(whole / "last"), "--quiet"])
    last = json.loads(run([TRAIN, "evaluate", str(whole / "last"), str(data / "dev.en"), str(data / "dev.xx"), "--json"]))
    assert abs(last["nll"] - valid["nll"]) < 1e-4
    assert abs(last["bleu"] - valid["bleu"]) < 1e-6
    with open(whole / "bundle" / "manifest.json", encoding="utf-8") as f:
        training = json.load(f)["training"]
    assert training["checkpoints"] == [UPDATES - 4, UPDATES]
    assert abs(training["scores"][0]["bleu"] - json.loads(out)["bleu"]) < 1e-6
    card = (whole / "bundle" / "MODEL_CARD.md").read_text()
    assert "perplexity" in card and '"batch_tokens": 300' in card


def test_long_dev_lines(data, tmp_path):
    """A line longer than any training pair, than a server's longest sentence and than the default positions is still scored.
    Learned positions cannot grow: that is an error before training."""
    corpus, out = tmp_path / "corpus", tmp_path / "run"
    shutil.copytree(data, corpus)
    for side, end in ("en", ""), ("xx", "o"):
        with open(corpus / f"dev.{side}", "a", encoding="utf-8") as f:
            f.write(" ".join(w + end for w in WORDS * 110) + "\n")
    args = command(corpus, out, "--set", "training.updates=4")
    text = run([a for a in args if a != "--quiet"])
    assert "1 more are over cleaning.max_tokens: translated, but not in the loss" in text
    scores = json.loads((out / "bundle" / "manifest.json").read_text())["training"]["scores"]
    assert scores[0]["lines"] == 13
    text = run(command(corpus, tmp_path / "learned", "--set", "model.positions=learned", "--set",
                       "model.max_positions=600"), expect=2)
    longest = int(re.search(r"model.max_positions is 600, but the set dev-0 has a line of (\d+) pieces", text)[1])
    assert longest > 1024 and not (tmp_path / "learned" / "log.jsonl").exists()


def test_widest_beam_of_a_long_line(whole, tmp_path):
    """One sentence just within a server's limit, with the widest beam allowed."""
    def evaluated(words, *more):
        text = tmp_path / "text"  # also its own reference
        text.write_text(" ".join(words) + "\n")
        return json.loads(run([TRAIN, "evaluate", str(whole / "bundle"), str(text), str(text), "--json", "--threads", "1", *more]))
    pieces = evaluated(WORDS * 10)["pieces"]
    long = (WORDS * 100)[:len(WORDS) * 10 * 460 // pieces]
    assert 400 < evaluated(long, "--beam", "32")["pieces"] <= 510


def test_lines_too_long_for_a_perplexity(whole, tmp_path):
    """They took minutes, or all memory, without a word: their references are left out and counted; they are translated in parts."""
    def evaluated(lines, *more):
        text = tmp_path / "text"  # also its own reference
        text.write_text("".join(" ".join(words) + "\n" for words in lines))
        return run([TRAIN, "evaluate", str(whole / "bundle"), str(text), str(text), "--beam-size", "1", "--threads", "1", *more])
    long = WORDS * 400
    short, both, alone = (json.loads(evaluated(lines, "--json")) for lines in ([WORDS], [WORDS, long], [long]))
    assert [x["unscored"] for x in (short, both, alone)] == [0, 1, 1]
    assert (both["lines"], both["pieces"]) == (2, short["pieces"]) and abs(both["nll"] - short["nll"]) < 1e-5
    assert (alone["pieces"], alone["perplexity"]) == (0, None)
    text = evaluated([WORDS, long])
    assert re.search(r"^2 lines, perplexity [\d.]+ per piece \([\d.]+ nats\), 1 without perplexity: longer than 4096 tokens", text), text
    assert evaluated([long]).startswith("1 lines, 1 without perplexity: longer")


def test_more_than_64_directions(tmp_path):
    """A recipe may have 255 directions: each is calibrated on its own dev set, and all are scored."""
    write_corpus(tmp_path)
    for side in ("en", "xx"):
        (tmp_path / f"one.{side}").write_text((tmp_path / f"dev.{side}").read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    pairs = [{"source_lang": "en", "target_lang": "x" + chr(ord("a") + i % 26) + "ab"[i // 26], "both_directions": True,
              "train": [{"source": "train.en", "target": "train.xx"}], "dev": [{"source": "one.en", "target": "one.xx"}]} for i in range(33)]
    recipe = {**RECIPE, "data": {"pairs": pairs}, "vocabulary": {**RECIPE["vocabulary"], "size": 140},
              "training": {**RECIPE["training"], "updates": 2}, "validation": {"shortlist": 0}}
    (tmp_path / "recipe.json").write_text(json.dumps(recipe), encoding="utf-8")
    run(command(tmp_path, tmp_path / "run"))
    training = json.loads((tmp_path / "run" / "bundle" / "manifest.json").read_text(encoding="utf-8"))["training"]
    assert training["calibrated"]["sentences"] == len(training["scores"]) == 66
