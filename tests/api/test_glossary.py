"""A glossary inside a request: its terms are in the answers, in any company and with the cache; a wrong one gets 400."""
import unicodedata

import pytest

from conftest import Server

TEXT = "Two dogs play in the snow."
PETS = {"dogs": "Haustiere"}


@pytest.fixture(scope="module")
def server():
    with Server("tests/data/en-de", "--cache-bytes", "1000000") as s:
        yield s


def one(server, text=TEXT, **fields):
    reply = server.translate(text, **fields)
    assert reply.status_code == 200, reply.text
    return reply.json()["translations"][0]


def test_terms_are_in_the_answer(server):
    plain = one(server)["text"]
    assert "Haustiere" not in plain
    first, again = one(server, glossary=PETS), one(server, glossary=PETS)
    assert "Haustiere" in first["text"] and again == first  # the second time from the cache
    assert "Katzen" in one(server, glossary={"dogs": "Katzen"})["text"]
    assert one(server)["text"] == plain and one(server, glossary={"cats": "Katzen"})["text"] == plain


def test_placeholders_in_a_sentence_with_another_hyphen(server):
    """Their names are no terms, whichever hyphen the sentence has."""
    terms = {"items": "Dinge", "dogs": "Haustiere"}
    with_minus, with_hyphen = (one(server, "The well%sknown {items}dogs play here." % c, glossary=terms)["text"] for c in "-\u2011")
    assert with_hyphen == with_minus and with_hyphen.count("{items}") == 1 and "Dinge" not in with_hyphen


@pytest.mark.parametrize("text, glossary, target", [
    ("The 2.4 GHz band is full.", {"2.4 GHz band": "2.4-GHz-Band"}, "2.4-GHz-Band"),
    ("{name} drives a small SUV.", {"small SUV": "BMW X3"}, "BMW X3")])
def test_a_target_stays_letter_for_letter(server, text, glossary, target):
    """Neither the numbers of a target are rewritten, nor is its X3 taken for what is left of a stand-in."""
    answer = one(server, text, glossary=glossary, n_best=3)
    assert "glossary_missed" not in answer["sentences"][0]["flags"], answer
    assert all(target in a["text"] for a in [answer, *answer["n_best"]]), answer


def test_an_entry_in_capitals_in_a_heading(server):
    """A sentence in capitals is read as ordinary words, but not those of an entry that has capitals, too."""
    text = "WHO WARNS OF DOGS IN THE US"
    assert "HAUSTIEREN" in one(server, text, glossary={"dogs": "Haustieren"})["text"]
    for entry in ("WHO", "US", "THE US"):
        answer = one(server, text, glossary={entry: "Haustieren"})
        assert "HAUSTIEREN" in answer["text"] and "glossary_missed" not in answer["sentences"][0]["flags"], answer
    assert one(server, text, glossary={"Us": "Haustieren"}) == one(server, text)


def test_each_item_of_a_batch_has_its_own(server):
    items = [dict(text=TEXT, source="en", target="de", **({"glossary": {"dogs": word}} if word else {})) for word in ("Haustiere", None, "Katzen")]
    reply = server.post("/v1/batch", {"items": items})
    assert reply.status_code == 200, reply.text
    texts = [str(item) for item in reply.json()["items"]]
    assert "Haustiere" in texts[0] and "Haustiere" not in texts[1] and "Katzen" not in texts[1] and "Katzen" in texts[2]


def test_a_term_without_room_is_flagged(server):
    """A sentence has at most 32 terms."""
    for n in (32, 33):
        sentence, = one(server, " ".join(["dogs"] * n) + ".", glossary=PETS)["sentences"]
        assert ("glossary_missed" in sentence["flags"]) == (n == 33)


@pytest.mark.parametrize("text, entry", [
    ("We met at Dvořák Hall.", {"Dvořák Hall": "Dvorak-Saal"}), ("<b>We</b> met at Dvořák Hall.", {"Dvořák Hall": "Dvorak-Saal"}),
    ("He wrote about Acme™ now.", {"Acme™ now": "Akme jetzt"}), ("Dear Mr. Brown,", {"Brown": "Braun"}), ("We met Mr. Brown.", {"Brown": "Braun"})])
def test_a_term_is_no_lost_character(server, text, entry):
    answer = one(server, text, glossary=entry)
    assert all(t in answer["text"] for t in entry.values()) and "character_lost" not in answer["sentences"][0]["flags"], answer


@pytest.mark.parametrize("text, entry", [
    ("We met at Dvořák Hall.", {"Dvořák Hall": "Dvorak-Saal"}), ("We met Dvořák today.", {"Dvořák": "Dvorak"}),
    ("In the café she met Dvořák, and Dvořák left <b>today</b>.", {"Dvořák": "Dvorak"})])
def test_foreign_words_in_decomposed_text(server, text, entry):
    """An accent may be a character of its own, as in file names of macOS."""
    for form in ("NFC", "NFD"):
        answer = one(server, unicodedata.normalize(form, text), glossary=entry)["text"]
        assert list(entry.values())[0] in answer and "ř" not in unicodedata.normalize("NFC", answer), answer


def test_an_empty_prefix_is_none(server):
    assert one(server, TEXT, glossary=PETS, target_prefix="") == one(server, TEXT, glossary=PETS)


@pytest.mark.parametrize("fields,told", [
    ({"glossary": []}, "must be an object"), ({"glossary": {}}, "0 entries"), ({"glossary": {"a": 1}}, "must be a string"),
    ({"glossary": "a\0b"}, "U+0000"),
    ({"glossary": {"a": " "}}, "entry 1: its target"), ({"glossary": PETS, "target_prefix": "Die"}, "target_prefix"),
    ({"glossary": PETS, "sampling": {"seed": 1, "temperature": 1}}, "sampling")])
def test_what_is_wrong_is_refused(server, fields, told):
    reply = server.translate(TEXT, **fields)
    assert reply.status_code == 400 and told in reply.text, reply.text
