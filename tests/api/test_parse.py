"""From a treebank to trees: files made of it, a tiny model trained on them (seconds), sentences parsed by the command line and by a
server, scored. The language is a toy: its trees are certain, so nearly all of them must be right."""
import json
import os
import random
import shutil
import subprocess

import pytest
import requests

from conftest import CLI, Server

TRAIN = CLI + "-train"
RECIPE = "trainer/recipes/paper/parsing-small.json"


def noun_phrase(draw, depth):
    """Draws a noun phrase; a prepositional phrase belongs to the nearest noun phrase before it."""
    adjective = f" (JJ {draw.choice(['old', 'red'])})" if draw.random() < .3 else ""
    base = f"(NP (DT {draw.choice(['the', 'a'])}){adjective} (NN {draw.choice(['dog', 'cat', 'man', 'park', 'girl', 'hat'])}))"
    if depth == 2 or draw.random() > .3:
        return base
    return f"(NP {base} (PP (IN {draw.choice(['in', 'near'])}) {noun_phrase(draw, depth + 1)}))"


def trees(n):
    draw, found = random.Random(1), {}
    while len(found) < n:
        found[f"(ROOT (S {noun_phrase(draw, 0)} (VP (VBZ {draw.choice(['sees', 'likes'])}) {noun_phrase(draw, 0)}) (. .)))"] = True
    return list(found)


def call(*command, stdin=None):
    done = subprocess.run(command, input=stdin, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """Makes test.trees, test.words, and a bundle trained on other trees."""
    work, all_trees = tmp_path_factory.mktemp("parse"), trees(3100)
    for name, part in (("train", all_trees[:3000]), ("test", all_trees[3000:])):
        (work / f"{name}.trees").write_text("".join(t + "\n" for t in part))
        call(TRAIN, "treebank", str(work / f"{name}.trees"), "--out", str(work / name))
    pair = {"source_lang": "en", "target_lang": "parse", "train": [{"source": "train.words", "target": "train.parse"}],
            "dev": [{"source": "test.words", "target": "test.parse"}]}
    recipe = {"extends": os.path.abspath(RECIPE), "name": "toy", "data": {"pairs": [pair]}, "cleaning": {"max_tokens": 256},
              "vocabulary": {"size": 40, "byte_fallback": False, "character_coverage": 1},
              "model": {"encoder_layers": 2, "decoder_layers": 2, "d_model": 64, "d_ff": 128, "heads": 4},
              "training": {"updates": 900, "cooldown": 600, "batch_tokens": 400, "warmup": 200, "lr_scale": 0.2, "dropout": 0,
                           "attention_dropout": 0, "label_smoothing": 0, "checkpoint_updates": 900, "keep_last": 1, "average_last": 1, "threads": 1},
              "validation": {"every": 1000000}}
    (work / "recipe.json").write_text(json.dumps(recipe))
    call(TRAIN, "run", str(work / "recipe.json"), "--data", str(work), "--out", str(work / "run"), "--no-scores", "--quiet")
    (work / "models").mkdir()
    os.rename(work / "run" / "bundle", work / "models" / "toy")
    return work


def test_the_bundle_searches_as_its_recipe_says(work):
    manifest = json.loads((work / "models" / "toy" / "manifest.json").read_text())
    assert manifest["pairs"] == [["en", "parse"]] and manifest["answers"] == "trees"
    decoding = manifest["decoding"]
    assert (decoding["beam_size"], round(decoding["length_penalty"], 3), decoding["extra_length"]) == (21, 0.3, 300)


def test_nearly_all_brackets_are_right(work):
    parsed = call(CLI, "parse", "--model", str(work / "models" / "toy"), "--tokenized", str(work / "test.words"))
    (work / "parsed").write_text(parsed)
    scores = json.loads(call(TRAIN, "evalb", str(work / "test.gold"), str(work / "parsed"), "--json"))
    assert scores["sentences"] == 100 and scores["f1"] > 90, scores


def test_text_and_words_and_json_agree(work):
    model = str(work / "models" / "toy")
    tree = "(TOP (S (NP (XX the) (XX dog)) (VP (XX sees) (NP (XX a) (XX cat))) (XX .)))"
    assert call(CLI, "parse", "--model", model, stdin="the dog sees a cat.\n\n") == tree + "\n(TOP)\n"
    assert call(CLI, "parse", "--model", model, "--tokenized", stdin="the dog sees a cat .\n") == tree + "\n"
    said = json.loads(call(CLI, "parse", "--model", model, "--json", stdin="the dog sees a cat.\n"))
    assert said["tree"] == tree and said["repaired"] is False
    assert said["sequence"] == "(S (NP XX XX )NP (VP XX (NP XX XX )NP )VP XX )S"


def test_broken_answers_are_counted(work):
    done = subprocess.run([CLI, "parse", "--model", str(work / "models" / "toy"), "--max-length", "2"], input="the dog sees a cat.\n",
                          capture_output=True, text=True, check=True)
    # An answer of two tokens is two opening brackets, without words.
    assert done.stdout == "(TOP (S (XX the) (XX dog) (XX sees) (XX a) (XX cat) (XX .)))\n"
    assert "1 of 1 answers were no trees and were repaired" in done.stderr


def test_a_server_parses(work):
    with Server(str(work / "models")) as server:
        answer = requests.post(f"http://127.0.0.1:{server.port}/v1/translate",
                               json={"text": "the old dog sees a cat.\na man likes the hat.", "source": "en", "target": "parse"}, timeout=60).json()
    assert answer["translations"][0]["text"] == ("(S (NP XX XX XX )NP (VP XX (NP XX XX )NP )VP XX )S\n"
                                                 "(S (NP XX XX )NP (VP XX (NP XX XX )NP )VP XX )S")


def test_nothing_of_a_texts_way_touches_a_tree(work):
    """No step for plain text touches a tree: rows of XX are not a loop, numbers and words of the source are not checked, addresses not put
    back."""
    model = str(work / "models" / "toy")
    for text in ("the cat in the cat in the cat in the cat in the cat sees a cat in a cat in a cat in a cat.", "the dog sees 2 cats 17 times.",
                 "the man sees www.example.com near a park."):
        answer = json.loads(call(CLI, "translate", "--model", model, "--json", stdin=text + "\n"))
        assert not {"repetition", "number_mismatch", "word_copied"} & set(answer["flags"]), answer
        assert "example" not in answer["text"]


def test_a_model_that_does_not_parse_is_refused():
    done = subprocess.run([CLI, "parse", "--model", "tests/data/en-de"], input="A dog.\n", capture_output=True, text=True)
    assert done.returncode == 1 and "en-de-small is not a parsing model" in done.stderr


def test_the_target_language_may_have_any_name(work, tmp_path):
    """`parse` takes the model's own target language; --target-lang names it, too, and another one is refused."""
    model = shutil.copytree(work / "models" / "toy", tmp_path / "trees")
    manifest = json.loads((model / "manifest.json").read_text())
    del manifest["check"]  # an answer of the pair
    (model / "manifest.json").write_text(json.dumps({**manifest, "pairs": [["en", "trees"]]}))
    call(CLI, "seal", str(model))
    tree = "(TOP (S (NP (XX the) (XX dog)) (VP (XX sees) (NP (XX a) (XX cat))) (XX .)))\n"
    for more in ([], ["--target-lang", "trees"]):
        assert call(CLI, "parse", "--model", str(model), *more, stdin="the dog sees a cat.\n") == tree
    done = subprocess.run([CLI, "parse", "--model", str(model), "--target-lang", "parse"], input="A dog.\n", capture_output=True, text=True)
    assert done.returncode == 1 and '"parse"' in done.stderr
