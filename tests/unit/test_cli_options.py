"""The command line refuses options that would have no effect, and says which."""
import os
import subprocess

import pytest

DRAGOMAN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin", "dragoman")
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
    ("translate", ["--alignments"], "--alignments"),
    ("translate", ["--sampling", "seed=1", "--beam", "4"], "--beam"),
    ("translate", ["--sampling", "seed=1", "--n-best", "2"], "--n-best"),
    ("bench", ["--sampling", "seed=1", "--beam", "4"], "--beam"),
    ("attention", ["--sampling", "seed=1", "--beam", "4"], "--beam"),
    ("score", ["--beam", "4"], "--beam"), ("score", ["--alpha", "1"], "--alpha"), ("score", ["--n-best", "2"], "--n-best"),
    ("score", ["--sampling", "seed=1"], "--sampling"), ("score", ["--max-length", "9"], "--max-length"),
    ("score", ["--penalty", "none"], "--penalty"),
    ("score", ["more"], '"more"'), ("bench", ["more"], '"more"'), ("translate", ["more"], '"more"')])
def test_what_would_have_no_effect_is_refused(verb, options, told):
    done = run(verb, *options, stdin="1\n")
    assert done.returncode == 2 and done.stdout == ""
    assert told in done.stderr.splitlines()[0]


@pytest.mark.parametrize("options", [
    ["--format", "text", "--pieces"], ["--format", "text", "--n-best", "2"], ["--format", "wrapped", "--n-best", "2", "--json"],
    ["--alignments", "--json"], ["--sampling", "seed=1", "--beam", "1", "--n-best", "1"]])
def test_what_has_one_is_taken(options):
    done = run("translate", *options, stdin="Two dogs.\n")
    assert done.returncode == 0 and done.stdout, done.stderr
