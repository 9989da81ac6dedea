"""The command line refuses options that would have no effect, and says which."""
import json
import os
import re
import subprocess

import pytest

DRAGOMAN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin", "dragoman")
TRAIN = DRAGOMAN + "-train"
BUNDLE = "tests/data/en-de"
NEEDED = {"translate": [], "score": ["--source", "x", "--target", "x"], "bench": ["--sentences", "x"],
          "attention": ["--source", "x", "--json"]}


def run(verb, *options, stdin=""):
    return subprocess.run([DRAGOMAN, verb, "--model", BUNDLE, *NEEDED[verb], *options], input=stdin, capture_output=True,
                          text=True, timeout=60)


@pytest.mark.parametrize("verb,options,told", [
    ("translate", ["--pieces", "--format", "markdown"], "--format"),
    ("translate", ["--pieces", "--format", "wrapped"], "--format"),
    ("translate", ["--format", "srt", "--n-best", "2"], "--n-best"),
    ("translate", ["--alignments"], "--alignments"), ("translate", ["--steps"], "--steps"),
    ("translate", ["--sampling", "seed=1", "--beam", "4"], "--beam"),
    ("translate", ["--sampling", "seed=1", "--n-best", "2"], "--n-best"),
    ("bench", ["--sampling", "seed=1", "--beam", "4"], "--beam"),
    ("bench", ["--mode", "throughput", "--src-len", "9"], "--src-len"), ("bench", ["--mode", "throughput", "--count", "9"], "--count"),
    ("bench", ["--workers", "2"], "--workers"), ("bench", ["--max-length", "9"], "--max-length"),
    ("bench", ["--mode", "throughput", "--length", "5", "--max-length", "9"], "--max-length"),
    ("attention", ["--sampling", "seed=1", "--beam", "4"], "--beam"),
    ("attention", ["--workers", "2"], "--workers"), ("attention", ["--n-best", "2"], "--n-best"),
    ("attention", ["--target", "x", "--beam", "2"], "--beam"), ("attention", ["--target", "x", "--alpha", "0"], "--length-penalty"),
    ("attention", ["--target", "x", "--penalty", "none"], "--length-penalty-kind"),
    ("attention", ["--target", "x", "--max-length", "9"], "--max-length"),
    ("attention", ["--target", "x", "--sampling", "seed=1"], "--sampling"),
    ("attention", ["--word", "x"], "--word"), ("attention", ["--heatmap"], "--heatmap"),
    ("score", ["--beam", "4"], "--beam"), ("score", ["--alpha", "1"], "--alpha"), ("score", ["--n-best", "2"], "--n-best"),
    ("score", ["--sampling", "seed=1"], "--sampling"), ("score", ["--max-length", "9"], "--max-length"),
    ("score", ["--penalty", "none"], "--penalty"),
    ("score", ["more"], '"more"'), ("bench", ["more"], '"more"')])
def test_what_would_have_no_effect_is_refused(verb, options, told):
    done = run(verb, *options, stdin="1\n")
    assert done.returncode == 2 and done.stdout == ""
    assert told in done.stderr.splitlines()[0]


@pytest.mark.parametrize("verb", sorted(NEEDED))
@pytest.mark.parametrize("options,told", [
    (["--device", "gpu"], 'device "gpu": expected'), (["--device", "cuda:x"], 'device "cuda:x": expected'),
    (["--device", "cuda:0,cuda:1"], "2 devices are named"), (["--precision", "int4"], 'precision "int4": expected')])
def test_a_device_that_is_none_is_wrong_usage(verb, options, told):
    done = run(verb, *options, stdin="1\n")
    assert done.returncode == 2 and told in done.stderr.splitlines()[0] and done.stdout == ""


@pytest.mark.parametrize("verb,options", [
    ("bench", ["--mode", "latency", "--workers", "1", "--src-len", "2", "--count", "2", "--reps", "1", "--length", "3"]),
    ("bench", ["--mode", "throughput", "--workers", "2", "--reps", "1", "--length", "0", "--max-length", "5"]),
    ("attention", ["--json", "--beam", "2", "--alpha", "1", "--penalty", "power", "--max-length", "9", "--heads", "1"]),
    ("attention", ["--json", "--sampling", "seed=1"]), ("attention", ["--json", "--target", "Hunde.", "--threads", "1"]),
    ("attention", ["--json", "--out", "OUT", "--kind", "encoder", "--word", "dogs", "--heatmap"])])
def test_what_has_one_is_taken_by(verb, options, tmp_path):
    (tmp_path / "sentences").write_text("\u2581Two \u2581dogs\n\u2581Two\n")
    needed = {"bench": ["--sentences", str(tmp_path / "sentences")], "attention": ["--source", "Two dogs."]}[verb]
    options = [str(tmp_path / "a.svg") if o == "OUT" else o for o in options]
    done = subprocess.run([DRAGOMAN, verb, "--model", BUNDLE, *needed, *options], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout, done.stderr


@pytest.mark.parametrize("options", [
    ["--format", "text", "--pieces"], ["--format", "text", "--n-best", "2"], ["--format", "wrapped", "--n-best", "2", "--json"],
    ["--alignments", "--json"], ["--sampling", "seed=1", "--beam", "1", "--n-best", "1"]])
def test_what_has_one_is_taken(options):
    done = run("translate", *options, stdin="Two dogs.\n")
    assert done.returncode == 0 and done.stdout, done.stderr


VERBS = ["translate", "score", "convert", "attention", "inspect", "seal", "quantize", "doctor", "keys", "bench"]


@pytest.mark.parametrize("verb", VERBS)
def test_help_works_after_each_verb(verb):
    for flag in ("--help", "-h"):
        done = subprocess.run([DRAGOMAN, verb, flag], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stderr == ""
        assert done.stdout.startswith(f"usage: dragoman {verb} ") and "\n  --help " in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= 100


TRAIN_VERBS = ["run", "resume", "average", "evaluate", "calibrate", "prepare", "plan", "recipe", "plot", "bleu", "languages", "shortlist", "batches"]


@pytest.mark.parametrize("verb", TRAIN_VERBS)
def test_the_trainer_s_verbs_have_help_too(verb):
    done = subprocess.run([TRAIN, verb, "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith(f"usage: dragoman-train {verb} ") and "\n  --help " in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize("verb, own, others", [
    ("average", "output bundle", "PREFIX"), ("average", "average the best N", "shortlist"), ("treebank", "PREFIX.words", "plot"),
    ("shortlist", "translations per source token", "average"), ("backtranslate", "--out PREFIX", "DIR"), ("plot", "--out FILE", "PREFIX"),
    ("prepare", "directory of the prepared data", "PREFIX"), ("batches", "number of batches", "trees")])
def test_a_verb_s_help_tells_of_no_other_verb(verb, own, others):
    """All verbs shared one table: the help of `average` described shortlist's --best and plot's --out."""
    said = subprocess.run([TRAIN, verb, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    options = said[said.index("\n  --"):]
    assert own in options and others not in options


@pytest.mark.parametrize("words,told", [
    (["recipe"], "expected RECIPE"), (["run", "base"], "--out DIR is missing"), (["recipe", "base", "more"], 'unexpected "more"'),
    (["bleu", "a", "b", "--json"], "there is no option --json"), (["evaluate", "a", "b", "c", "--beam", "33"], "--beam-size is"),
    (["recipe", "base", "--dat", "x"], "there is no option --dat: options are written in full (--data)"),
    (["evaluate", "a", "b", "c", "--alpha", "11"], "--length-penalty is"), (["recipe", "base", "--init", "/no"], "--init /no: "),
    (["batches", "base", "--prepared", "x"], "--lines N is needed"), (["batches", "base", "--prepared", "x", "--lines", "0"], "--lines N is needed")])
def test_what_the_trainer_refuses(words, told):
    done = subprocess.run([TRAIN, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(f"dragoman-train {words[0]}: {told}")


@pytest.mark.parametrize("verb", VERBS)
def test_help_says_what_the_verb_does(verb):
    said = subprocess.run([DRAGOMAN, verb, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    usage, description, _ = said.split("\n\n", 2)
    assert usage.startswith("usage: ") and re.match(r"[A-Z][a-z]+s ", description)


@pytest.mark.parametrize("program", [DRAGOMAN, TRAIN])
def test_an_unknown_verb_is_refused(program):
    """dragoman printed its whole usage, dragoman-train one line of another form."""
    done = subprocess.run([program, "frobnicate"], capture_output=True, text=True, timeout=60)
    name = os.path.basename(program)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f'{name}: there is no verb "frobnicate"\ntry: {name} --help\n')


@pytest.mark.parametrize("verb,takes", [("translate", True), ("score", True), ("attention", True), ("parse", False), ("bench", False)])
def test_help_offers_tokens_where_they_are_taken(verb, takes):
    """parse listed --tokens and refused it; bench listed it and always took tokens."""
    said = subprocess.run([DRAGOMAN, verb, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    assert ("\n  --tokens " in said) == takes


@pytest.mark.parametrize("verb", VERBS)
def test_an_abbreviation_is_refused(verb):
    done = subprocess.run([DRAGOMAN, verb, "--hel"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.splitlines()[0] == f"dragoman {verb}: there is no option --hel: options are written in full (--help)"


@pytest.mark.parametrize("old,new", [
    (["--beam", "1"], ["--beam-size", "1"]), (["--alpha", "1.5", "--beam", "4"], ["--length-penalty", "1.5", "--beam-size", "4"]),
    (["--penalty", "power"], ["--length-penalty-kind", "power"]), (["--prefix", "Zwei Katzen"], ["--target-prefix", "Zwei Katzen"])])
def test_former_names_are_still_read(old, new):
    text = "Two dogs play in the snow.\nA man in a red shirt is riding a bicycle down the street.\nCourt blocks ruling on NYPD policy\n"
    default, before, now = (run("translate", "--json", *options, stdin=text).stdout for options in ([], old, new))
    assert before == now != default


def test_pieces_are_now_tokens():
    before, now = (run("translate", option, stdin="\u2581Two \u2581dogs\n").stdout for option in ("--pieces", "--tokens"))
    assert before == now and now.startswith("\u2581")


@pytest.mark.parametrize("options,told", [
    (["--beam-size", "33"], '--beam-size is "33", must be a whole number from 1 to 32'),
    (["--beam", "x"], '--beam-size is "x", must be a whole number from 1 to 32'),
    (["--length-penalty", "-1"], '--length-penalty is "-1", must be a number from 0 to 10'),
    (["--length-penalty-kind", "soft"], '--length-penalty-kind is "soft", must be one of gnmt, power, none'),
    (["--sampling", "top-k=65"], '--sampling top-k is "65", must be a whole number from 0 to 64'),
    (["--sampling", "heat=1"], "--sampling takes temperature=X, top-k=N and seed=N"),
    (["--format", "word"], '--format is "word", must be one of text, wrapped, srt, markdown'),
    (["--threads"], "--threads needs a value"), (["--json=1"], "--json takes no value")])
def test_what_is_wrong_is_said(options, told):
    done = run("translate", *options)
    assert done.returncode == 2 and told in done.stderr.splitlines()[0]


def test_steps_of_a_search():
    """[steps taken, limit]: a greedy search takes a step for each token and one for </s>; the limit is source tokens + 50."""
    line = "A man is riding a bicycle.\n"
    said = json.loads(run("translate", "--json", "--steps", "--beam-size", "1", stdin=line).stdout)
    answer = run("translate", "--tokens", "--beam-size", "1", stdin="▁A ▁man ▁is ▁riding ▁a ▁bicycle .\n").stdout.split()
    assert said["steps"] == [len(answer) + 1, 7 + 50]
    assert "steps" not in json.loads(run("translate", "--json", stdin=line).stdout)
