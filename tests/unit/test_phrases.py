"""The sentences in trainer/recipes/phrases: aligned, clean, and none of those that the model card's judgements use."""
import collections
import glob
import gzip
import os
import re
import unicodedata

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "trainer", "recipes", "phrases")
JUDGED = os.path.join(ROOT, "bench", "card", "ordinary.tsv")
PARTS = sorted(path.removesuffix(".en.gz") for path in glob.glob(os.path.join(FOLDER, "*.en.gz")))
RUN = 6  # words: a phrase with as many in a row of a judged sentence, or all of a shorter one, is too like it


def lines(part, language):
    with gzip.open(f"{part}.{language}.gz", "rt", encoding="utf-8", newline="\n") as f:
        return f.read().removesuffix("\n").split("\n")


def words(text):
    return re.sub(r"[\W_]+", " ", text.lower()).split()


def runs(text):
    w = words(text)
    return {tuple(w[i:i + RUN]) for i in range(max(1, len(w) - RUN + 1))}


@pytest.mark.parametrize("part", PARTS)
def test_sides_are_aligned_and_clean(part):
    sides = [lines(part, language) for language in ("en", "de", "fr")]
    assert len({len(side) for side in sides}) == 1 and len(sides[0]) > 1000
    for side in sides:
        for line in side:
            assert line == unicodedata.normalize("NFC", line) == " ".join(line.split()) != "" and not re.search("[“”„«»’\t]", line), line


def test_there_are_no_copies():
    found = collections.Counter(" ".join(words(line)) for part in PARTS for line in lines(part, "en"))
    assert PARTS and [line for line, count in found.items() if count > 1] == []


def test_no_judged_sentence_is_among_them():
    with open(JUDGED, encoding="utf-8") as f:
        judged = set().union(*(runs(line.split("\t")[3]) for line in f))
    same = [line for part in PARTS for language in ("en", "de", "fr") for line in lines(part, language) if runs(line) & judged]
    assert same == []
