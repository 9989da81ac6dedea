"""dragoman translate --rerank: among the answers of a search, the one that gives the text again is chosen. The expected order comes from the
search's own list and `dragoman score` in the opposite direction, which know nothing of reranking."""
import json
import os
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("DRAGOMAN_BUILD", os.path.join(ROOT, "build", "release"))
BUNDLE = os.path.join(ROOT, "weights", "bundles", "en-de-fr")
BACK = 0.4  # as in translate/accept/rerank.c
TEXTS = ["I forgot my umbrella on the bus this morning.", "The soup is too salty, but the bread is delicious.",
         "Take one tablet with a glass of water before meals.", "Your subscription expires in three days.", "A man is riding a bike.",
         "Could you close the window, please?", "The court rejected the appeal."]


def run(*command, lines=TEXTS, status=0):
    done = subprocess.run([os.path.join(BUILD, "bin", "dragoman"), *command], input="".join(x + "\n" for x in lines), capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stderr if status else done.stdout.splitlines()


def translate(*options, pair="en-de", model=BUNDLE, **more):
    source, target = pair.split("-")
    return run("translate", "--model", model, "--source-lang", source, "--target-lang", target, *options, **more)


def means(pair, sources, targets, folder):
    """The mean log-probability of each target's tokens."""
    source, target = pair.split("-")
    for name, lines in (("s", sources), ("t", targets)):
        (folder / name).write_text("".join(x + "\n" for x in lines))
    scored = [x.split("\t") for x in run("score", "--model", BUNDLE, "--source-lang", source, "--target-lang", target, "--source", str(folder / "s"),
                                         "--target", str(folder / "t"))]
    return [float(total) / len(tokens.split(" ")) for total, tokens in scored]


@pytest.mark.parametrize("pair", ["en-de", "en-fr"])
def test_answers_are_ordered_by_the_search_and_the_way_back(pair, tmp_path):
    changed = 0
    for line, text in enumerate(TEXTS):
        searched = json.loads(translate("--json", "--beam-size", "8", "--n-best", "8", pair=pair, lines=[text])[0])["n_best"]
        back = means("-".join(reversed(pair.split("-"))), [x["text"] for x in searched], [text] * len(searched), tmp_path)
        ranked = sorted(zip(searched, back), key=lambda x: -x[0]["score"] - BACK * x[1])
        got = json.loads(translate("--json", "--rerank", "--n-best", "8", pair=pair, lines=[text])[0])
        assert got["n_best"] == [x for x, _ in ranked], text
        assert got["text"] == translate("--rerank", pair=pair, lines=[text])[0]
        changed += got["text"] != searched[0]["text"]
    assert changed > 0


def test_an_omission_is_mended():
    assert translate(lines=TEXTS[:1]) == ["Ich habe meinen Regenschirm heute Morgen vergessen."]
    assert translate("--rerank", lines=TEXTS[:1]) == ["Ich habe meinen Regenschirm heute Morgen im Bus vergessen."]


def test_an_answer_does_not_depend_on_its_neighbours():
    for pair in ("en-de", "en-fr"):
        alone = [translate("--rerank", pair=pair, lines=[text])[0] for text in TEXTS]
        assert translate("--rerank", "--workers", "2", pair=pair, lines=TEXTS * 5) == alone * 5


def test_marks_and_alignments_are_those_of_the_chosen_answer():
    marked = "I forgot my *umbrella* on the **bus** this morning."
    assert translate("--rerank", "--format", "markdown", lines=[marked]) == ["Ich habe meinen *Regenschirm* heute Morgen im **Bus** vergessen."]
    [answer] = map(json.loads, translate("--rerank", "--json", "--alignments", lines=TEXTS[:1]))
    words = {TEXTS[0][a:b]: answer["text"][c:d] for (a, b), (c, d) in answer["alignment"]}
    assert words["umbrella"] == "Regenschirm" and words["bus"] == "Bus"


def test_a_numbered_sentence_keeps_its_numbers():
    """The best answer whose numbers are right comes first."""
    texts = [f"In {1950 + 7 * i}, the firm sold {13 * i + 2} houses and {210 + 17 * i} cars." for i in range(12)]
    for text, answer in zip(texts, map(json.loads, translate("--rerank", "--json", "--n-best", "8", lines=texts))):
        right = [all(number in x["text"] for number in text.replace(",", "").split() if number.isdigit()) for x in answer["n_best"]]
        assert right[0] or not any(right), answer


def test_what_has_one_answer_is_refused():
    assert "rerank chooses among several answers, and a beam of 1 has one" in translate("--rerank", "--beam-size", "1", status=1)
    assert "rerank chooses among several answers, and sampling has one" in translate("--rerank", "--sampling", "seed=1", status=1)
    assert "n_best 9 is more than the beam of 8" in translate("--rerank", "--n-best", "9", status=1)


def test_the_model_must_translate_back():
    model = os.path.join(ROOT, "tests", "data", "en-de")
    assert "rerank needs a model that also translates back, from de to en, with one vocabulary" in translate("--rerank", model=model, status=1)
