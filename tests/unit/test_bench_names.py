"""The names that bench/card translates."""
import glob
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench", "card"))

import names  # noqa: E402


def test_new_names_are_in_no_list():
    listed = {name for path in glob.glob(os.path.join(names.LISTS, "*.tsv")) for row in names.rows(path) for name in row[1:]}
    new = {row[1] for row in names.rows(os.path.join(names.HERE, "names.tsv"))}
    assert len(listed) > 4000 and len(new) > 150 and not listed & new


def test_wrong_answers_are_counted():
    """A translator that copies is right about new names, and about no noun."""
    shares = names.measure(lambda source, target, lines: [{"text": line} for line in lines], ["en-de", "de-fr"])
    assert list(shares) == ["en-de"] and shares["en-de"]["people, new"] == shares["en-de"]["places, new"] == 0
    assert shares["en-de"]["nouns, listed"] > 0.8 and shares["en-de"]["places, listed"] == 15 / 180  # Munich, Vienna …
    assert names.report(shares, str)[0].startswith("| names and words that are translated wrongly | places, listed | places, new")
