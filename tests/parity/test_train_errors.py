"""Messages of `dragoman-train` when a recipe does not fit its files: they name our fields, how many pairs were read and why they were
dropped, and never a library's source line. On real sentences, damaged in the usual ways."""
import json
import re

import pytest

from real_pairs import lines, recipe, write_pairs
from train_runs import TRAIN, run

LONG = "x" * 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    write_pairs(folder)
    files = {"empty.en": "", "empty.de": "", "one.en": lines("en")[0] + "\n", "one.de": lines("de")[0] + "\n",
             "blank.en": "\n" * 60, "blank.de": "\n" * 60, "early.txt": "".join(x + "\n" for x in lines("en")[1:29])}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "latin.de").write_text("".join(x + "\n" for x in lines("de")[:30]), encoding="latin-1")
    (folder / "text.model").write_text(LONG)
    (folder / "table.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in zip(lines("en")[:30], lines("de"))), encoding="utf-8")
    return folder


def pairs(source, target):
    return {"pairs": [{"source_lang": "en", "target_lang": "de", "train": [{"source": source, "target": target}]}]}


EARLY = {"data": pairs("early.en", "early.de")}
CASES = {
    "empty files": ({"data": pairs("empty.en", "empty.de")},
                    "data.pairs: no training pair is left of 0 that were read from 1 pair of files"),
    "blank lines": ({"data": pairs("blank.en", "blank.de"), "cleaning": {"max_dropped": 1}},
                    "data.pairs: no training pair is left of 60 that were read from 1 pair of files; dropped: empty 60"),
    "all too long": ({**EARLY, "cleaning": {"max_tokens": 2}},
                     "no training pair is left of 30 that were read from 1 pair of files; dropped: too_many_tokens 30"),
    "one line": ({"data": pairs("one.en", "one.de"), "vocabulary": {"size": 900}},
                 "vocabulary.size is 900, but the 1 pairs that cleaning has left give at most "),
    "a large vocabulary": ({**EARLY, "vocabulary": {"size": 32000}},
                           "vocabulary.size is 32000, but the 30 pairs that cleaning has left give at most "),
    "a small vocabulary": ({**EARLY, "vocabulary": {"size": 20}},
                           "vocabulary.size is 20, but the characters of the 30 pairs that cleaning has left need "),
    "coverage": ({**EARLY, "vocabulary": {"character_coverage": 0.6}},
                 "vocabulary.character_coverage is 0.6, must be at least 0.98"),
    "Latin-1": ({"data": pairs("early.en", "latin.de")}, "of 30 pairs would be dropped (not_utf8 "),
    "a line less": ({"data": pairs("early.en", "early.txt")}, "early.txt ends after 28 lines, but "),
    "columns": ({"data": {"pairs": [{**pairs("early.en", "early.de")["pairs"][0], "dev": [{"source": "early.en", "target": "table.tsv"}]}]}},
                "table.tsv: 30 of 30 lines have columns, must be one sentence each: cut -f1 "),
    "swapped": ({"data": pairs("early.de", "early.en"), "cleaning": {"language_check": True}}, "source and target are swapped"),
    "no file": ({"data": pairs("early.en", "nowhere.de")}, "nowhere.de: No such file"),
    "no model": ({**EARLY, "vocabulary": {"from": "text.model"}}, "vocabulary.from: "),
    "no recipe to extend": ({**EARLY, "extends": "small.json"},
                            "the path is relative to the folder of the recipe that has it"),
}


FILES = ("a line less", "no file", "no model", "no recipe to extend")  # cases in which a file is wrong: exit status 1


@pytest.mark.parametrize("case", CASES)
def test_errors_name_fields_and_counts(folder, tmp_path, case):
    sections, part = CASES[case]
    path = recipe(folder, **sections)
    expect = 1 if case in FILES else 2
    said = run([TRAIN, "run", str(path), "--data", str(folder), "--out", str(tmp_path / "run"), "--quiet"], expect=expect)
    assert part in said, said
    assert not re.search(r"\.cc\b|\.cpp\b|\.h\b|spec_|__", said), f"a library's own words: {said}"
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_size_that_the_error_names_works(folder, tmp_path):
    """Both limits in the message are exact: those vocabulary sizes work, one piece above or below does not."""
    def said(size, code):
        path = recipe(folder, **EARLY, vocabulary={"size": size})
        return run([TRAIN, "prepare", str(path), "--data", str(folder), "--out", str(tmp_path / "data"), "--quiet"], expect=code)
    most = int(re.search(r"at most (\d+)", said(32000, 2))[1])
    least = int(re.search(r"need (\d+)", said(20, 2))[1])
    assert 20 < least < most < 32000
    for size in (least, most):
        said(size, 0)
        assert json.loads((tmp_path / "data" / "prepared.json").read_text())["vocabulary"]["source_size"] == size
    assert said(most + 1, 2) and said(least - 1, 2)


def test_many_pairs_over_the_limit_of_tokens(folder, tmp_path):
    """They may be left out on purpose, so this is a warning and no error; the limit of its share is that of faults."""
    def said(limit, *more):
        path = recipe(folder, **EARLY, cleaning={"max_tokens": limit}, vocabulary={"size": 150})
        return run([TRAIN, "prepare", str(path), "--data", str(folder), "--out", str(tmp_path / "data"), "--quiet", *more])
    found = re.search(r'dropped_by_tokens" source=early.en target=early.de pairs=(\d+) of=30 reason=', said(20))
    assert 6 < int(found[1]) < 30
    assert "dropped_by_tokens" not in said(20, "--set", "cleaning.max_dropped=1")
    assert "dropped_by_tokens" not in said(256)


def test_weights_of_domains_that_no_line_has(folder, tmp_path):
    """A misspelt label in the recipe has no effect; only the files of labels, read while preparing, show it."""
    (tmp_path / "labels").write_text("news\nlaw\n" * 15, encoding="utf-8")
    pair = {"source_lang": "en", "target_lang": "de",
            "train": [{"source": "early.en", "target": "early.de", "domains": str(tmp_path / "labels")}]}

    def said(**weights):
        path = recipe(folder, data={"pairs": [pair], "domain_weights": weights}, vocabulary={"size": 150})
        return run([TRAIN, "prepare", str(path), "--data", str(folder), "--out", str(tmp_path / "data"), "--quiet"])
    assert 'unknown_domains" field=data.domain_weights labels="nwes, lwa" reason=' in said(nwes=2, law=0.5, lwa=0)
    assert "unknown_domains" not in said(news=2, law=0.5)


def test_a_list_of_names_that_no_pair_has(folder, tmp_path):
    words = (folder / "early.en").read_text(encoding="utf-8").split(), (folder / "early.de").read_text(encoding="utf-8").split()
    there = next(w for w in words[0] if w.isalpha() and w in words[1])
    for name, entry in (("some", there), ("none", "Zzyzx")):
        (tmp_path / f"{name}.tsv").write_text(f"kind\ten\tde\nplace\t{entry}\nplace\tQuito\n", encoding="utf-8")
    path = recipe(folder, **EARLY, vocabulary={"size": 150})
    lists = json.dumps([{"file": str(tmp_path / f"{name}.tsv")} for name in ("some", "none")])
    said = run([TRAIN, "prepare", str(path), "--data", str(folder), "--out", str(tmp_path / "data"), "--quiet", "--set", "data.names=" + lists])
    assert re.findall(r'unused_names" field=data.names file=\S*/(\w+)\.tsv', said) == ["none"]


@pytest.mark.parametrize("label, why", [(b"l\xe4w", "the label is not UTF-8"), (b"la\0w", "the label is not UTF-8"),
                                        (b"x" * 201, "or a label of more than 200 bytes")])
def test_a_label_that_cannot_be_one(folder, tmp_path, label, why):
    """A label that is not UTF-8, has a NUL or is too long is refused with its file and line."""
    (tmp_path / "labels").write_bytes(b"news\nlaw\n" * 14 + b"news\n" + label + b"\n")
    pair = {"source_lang": "en", "target_lang": "de",
            "train": [{"source": "early.en", "target": "early.de", "domains": str(tmp_path / "labels")}]}
    path = recipe(folder, data={"pairs": [pair]}, vocabulary={"size": 150})
    said = run([TRAIN, "prepare", str(path), "--data", str(folder), "--out", str(tmp_path / "data"), "--quiet"], expect=1)
    assert f"{tmp_path / 'labels'} line 30: " in said and why in said
