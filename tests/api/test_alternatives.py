"""/v1/alternatives: other continuations at one place of a translation."""

import re

import pytest

import conftest

BUNDLE = conftest.EN_DE
TEXT = "A man in a red shirt is riding a bicycle down the street."


@pytest.fixture(scope="module")
def server():
    with conftest.Server(BUNDLE, "--max-queue-tokens", "1000000") as s:
        yield s


def ask(server, prefix, text=TEXT, **more):
    return server.post("/v1/alternatives", dict(text=text, target_prefix=prefix, source="en", target="de", **more))


def alternatives(server, prefix, text=TEXT, **more):
    reply = ask(server, prefix, text, **more)
    assert reply.status_code == 200, reply.text
    assert list(reply.json()) == ["alternatives", "usage"]
    return reply.json()["alternatives"]


def word_at(text, prefix):
    """Returns the text up to the end of the word after the prefix, or of the word that the prefix ends in."""
    at = len(prefix)
    end = text.find(" ", at)
    return text[:end if end >= 0 else len(text)]


@pytest.mark.parametrize("prefix", ["", "Ein Mann in einem roten Hemd ", "Ein ", "Ein Mann", "Ein M", "Ein Mann in einem r",
                                    "Zwei Frauen "])
def test_each_begins_so_and_goes_on_otherwise(server, prefix):
    found = alternatives(server, prefix)
    assert 1 < len(found) <= 5
    assert all(a["text"].startswith(prefix) for a in found), found
    words = [word_at(a["text"], prefix) for a in found]
    assert len(set(words)) == len(words), words
    scores = [a["score"] for a in found]
    assert scores == sorted(scores, reverse=True)
    # A search completes each alternative: sentences, not single words.
    assert sum(a["text"].rstrip().endswith(".") for a in found) >= len(found) - 1, found


def test_the_best_is_the_translation(server):
    (best,) = server.translate(TEXT).json()["translations"]
    assert alternatives(server, "")[0]["text"] == best["text"]
    begin = best["text"][:best["text"].index(" ", 12) + 1]
    assert alternatives(server, begin)[0]["text"] == best["text"]


def test_each_is_what_its_own_beginning_gives(server):
    """Each alternative is the translation whose target_prefix is the alternative's own beginning, up to the word that was
    replaced."""
    prefix = "Ein Mann in einem roten "
    found = alternatives(server, prefix)
    same = 0
    for a in found:
        reply = server.translate(TEXT, target_prefix=word_at(a["text"], prefix))
        same += reply.json()["translations"][0]["text"] == a["text"]
    assert same >= len(found) - 1, found


@pytest.mark.parametrize("prefix", ["", "Zwei ", "Schreiben Sie "])
def test_protected_text_is_in_each(server, prefix):
    text = "Write to {user_name} at https://x.org/a?b=Kx9#q today."
    found = alternatives(server, prefix, text)
    assert 1 < len(found) <= 5
    for a in found:
        assert a["text"].startswith(prefix), a
        assert all(a["text"].count(kept) == 1 for kept in ("{user_name}", "https://x.org/a?b=Kx9#q")), a


@pytest.mark.parametrize("prefix", ["Besuchen Sie jetzt htt", "Besuchen Sie jetzt https://ex"])
def test_a_prefix_that_ends_within_protected_text(server, prefix):
    """Whatever the model writes after it, the address is as in the text: each answer appears once."""
    text = "Visit https://example.org/a?b=1 now!"
    found = [a["text"] for a in alternatives(server, prefix, text)]
    assert len(set(found)) == len(found), found
    assert all(a.startswith(prefix) and a.count("https://example.org/a?b=1") == 1 for a in found), found


def test_how_many(server):
    assert len(alternatives(server, "Ein ", n=1)) == 1
    many = alternatives(server, "", n=16)
    assert 8 <= len(many) <= 16
    assert alternatives(server, "", n=3) == alternatives(server, "", n=3)
    greedy = alternatives(server, "Ein ", n=3, beam_size=1)
    assert len(greedy) == 3


def test_in_company(server):
    """The answers are the same beside other work."""
    import concurrent.futures
    alone = alternatives(server, "Ein ")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        runs = [pool.submit(alternatives, server, "Ein ") for _ in range(4)]
        other = [pool.submit(server.translate, TEXT) for _ in range(12)]
        assert all(r.result() == alone for r in runs)
        assert all(o.result().status_code == 200 for o in other)


@pytest.mark.parametrize("change, status, field", [
    ({"text": None}, 400, "text"), ({"text": ["a"]}, 400, "text"), ({"text": "12:30"}, 400, "text"),
    ({"text": "a " * 3000}, 413, "text"), ({"target_prefix": None}, 400, "target_prefix"),
    ({"target_prefix": "so " * 300}, 413, "target_prefix"), ({"n": 0}, 400, "n"), ({"n": 17}, 400, "n"),
    ({"beam_size": 99}, 400, "beam_size"), ({"target": "zz"}, 400, "target"), ({"n_best": 2}, 400, "n_best")])
def test_mistakes_are_named(server, change, status, field):
    body = dict({"text": TEXT, "target_prefix": "Ein", "source": "en", "target": "de"}, **change)
    reply = server.post("/v1/alternatives", {k: v for k, v in body.items() if v is not None})
    assert reply.status_code == status, reply.text
    error = reply.json()["error"]
    assert error["field"] == field and (status != 413 or re.search(r"limit of \d+ tokens|may have \d+", error["message"])), error
