"""Alignments of real captions: spans are words of both texts, and the words are the right ones."""
import json
import subprocess

import pytest

import conftest

BUNDLE = conftest.EN_DE


@pytest.fixture(scope="module")
def server():
    with conftest.Server(BUNDLE) as s:
        yield s


def aligned(server, text):
    reply = server.translate(text, alignments=True)
    assert reply.status_code == 200, reply.text
    (t,) = reply.json()["translations"]
    return t


def words(text, t):
    """Returns the aligned pairs of words; checks that the spans are whole words."""
    pairs = []
    for spans in t["alignments"]:
        pair = []
        for whole, (begin, end) in zip((text, t["text"]), spans):
            assert 0 <= begin < end <= len(whole)
            assert begin == 0 or whole[begin - 1].isspace()
            assert end == len(whole) or whole[end].isspace()
            pair.append(whole[begin:end])
        pairs.append(tuple(pair))
    return pairs


def test_words_come_from_their_like(server):
    text = "A man in a red shirt is riding a bicycle down the street."
    pairs = words(text, aligned(server, text))
    for pair in (("man", "Mann"), ("red", "roten"), ("shirt", "Hemd"), ("bicycle", "Fahrrad")):
        assert pair in pairs, pairs


def test_offsets_count_code_points_over_sentences(server):
    text = "😀 😀\nTwo dogs play in the snow.\n\n– A girl is smiling!"
    t = aligned(server, text)
    pairs = words(text, t)
    assert ("dogs", "Hunde") in pairs and ("girl", "Mädchen") in pairs, pairs
    for (s, a) in t["alignments"]:  # no pair crosses sentences
        homes = [[i for i, part in enumerate(t["sentences"]) if part[side][0] <= span[0] < part[side][1]]
                 for side, span in (("source", s), ("target", a))]
        assert homes[0] == homes[1] and len(homes[0]) == 1


def test_only_when_asked_for(server):
    for fields in ({}, {"alignments": False}):
        (t,) = server.translate("Two dogs.", **fields).json()["translations"]
        assert "alignments" not in t
    (t,) = server.translate("12:30", alignments=True).json()["translations"]
    assert t["alignments"] == []


def test_same_as_the_program(server):
    text = "Two dogs play in the snow."
    out = subprocess.run([conftest.CLI, "translate", "--model", BUNDLE, "--json", "--alignments"], input=text + "\n",
                         capture_output=True, text=True, check=True).stdout
    assert json.loads(out)["alignment"] == aligned(server, text)["alignments"]


def test_wrong_type_is_named(server):
    reply = server.translate("Two dogs.", alignments="yes")
    assert reply.status_code == 400 and reply.json()["error"]["field"] == "alignments"
