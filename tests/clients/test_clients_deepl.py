"""DeepL's own client, as it comes from PyPI, against this server with the bundled model: another URL is all it needs."""
import datetime
import os
import sys

import deepl
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "api"))

from conftest import BUNDLES, Server  # noqa: E402
from test_keys import new_key  # noqa: E402

TEXTS = ["Two dogs play in the snow.", "A girl is smiling.\n\nÇa & là: 50 %?"]
PAIRS = {("en", "de"), ("de", "en"), ("en", "fr"), ("fr", "en")}  # de-fr goes through en, and such pairs take no glossary
GERMAN = "Zwei Hunde spielen im Schnee."


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    glossaries = tmp_path_factory.mktemp("glossaries")
    (glossaries / "pets.en-de.tsv").write_text("dogs\tHaustiere\n")
    with Server(BUNDLES, "--glossaries", str(glossaries), "--collections", str(glossaries.parent / (glossaries.name + ".db"))) as s:
        yield s


@pytest.fixture(scope="module")
def client(server):
    return deepl.DeepLClient("any", server_url=server.url(""))


def own(server, text, source="en", target="de"):
    reply = server.post("/v1/translate", {"text": text, "source": source, "target": target})
    return reply.json()["translations"][0]["text"]


def test_one_text(server, client):
    result = client.translate_text(TEXTS[0], target_lang="DE", source_lang="EN")
    assert result.text == own(server, TEXTS[0])
    assert (result.detected_source_lang, result.billed_characters) == ("EN", len(TEXTS[0]))


def test_several_texts_and_their_languages_found_out(server, client):
    results = client.translate_text([*TEXTS, GERMAN], target_lang="FR")
    assert [r.text for r in results] == [own(server, t, "en", "fr") for t in TEXTS] + [own(server, GERMAN, "de", "fr")]
    assert [r.detected_source_lang for r in results] == ["EN", "EN", "DE"]


@pytest.mark.parametrize("target", ["EN-US", "EN-GB", deepl.Language.ENGLISH_AMERICAN])
def test_varieties(server, client, target):
    assert client.translate_text(GERMAN, target_lang=target).text == own(server, GERMAN, "de", "en")
    assert client.translate_text(TEXTS[0], target_lang=target).text == TEXTS[0]  # detected as English already


def test_tags(server, client):
    text = "<p>Two dogs play in the <b>snow</b>.</p><p>The name is <x>red dog</x>.</p>"
    for handling in ("html", "xml"):
        result = client.translate_text(text, target_lang="DE", source_lang="EN", tag_handling=handling, ignore_tags=["x"],
                                       splitting_tags=["p"], non_splitting_tags=["b"], outline_detection=True)
        assert result.text.startswith("<p>Zwei Hunde spielen im <b>Schnee</b>.</p><p>") and "<x>red dog</x>" in result.text


def test_options_that_change_nothing(server, client):
    result = client.translate_text(TEXTS[0], target_lang="DE", source_lang="EN", formality="prefer_more", context="Winter.",
                                   preserve_formatting=True, split_sentences="1", model_type="latency_optimized")
    assert result.text == own(server, TEXTS[0]) and result.model_type_used == "latency_optimized"


def test_a_better_translation(server, client):
    text = "I forgot my umbrella on the bus this morning."
    for asked in ("quality_optimized", "prefer_quality_optimized"):
        result = client.translate_text(text, target_lang="DE", source_lang="EN", model_type=asked)
        assert " im Bus " in result.text and result.model_type_used == "quality_optimized"
    assert " im Bus " not in client.translate_text(text, target_lang="DE", source_lang="EN").text


@pytest.mark.parametrize("split", deepl.SplitSentences)
def test_sentences(client, split):
    text = "Two dogs play\nin the snow. A girl is smiling."
    answer = client.translate_text(text, target_lang="DE", source_lang="EN", split_sentences=split).text
    assert " ".join(answer.split()) == "Zwei Hunde spielen im Schnee. Ein Mädchen lächelt."


@pytest.mark.parametrize("options, message", [
    (dict(target_lang="XX"), "target_lang.*not supported"),
    (dict(target_lang="DE", source_lang="XX"), "source_lang.*not supported"),
    (dict(target_lang="DE", formality="more"), "formality"),
    (dict(target_lang="DE", split_sentences="2"), "split_sentences"),
    (dict(target_lang="DE", tag_handling="html", tag_handling_version="v3"), "tag_handling_version"),
    (dict(target_lang="DE", tag_handling="markdown"), "tag_handling"),
])
def test_what_is_not_there_is_refused(client, options, message):
    with pytest.raises(deepl.DeepLException, match=message) as refused:
        client.translate_text("Hello", **options)
    assert refused.value.http_status_code == 400


def test_a_glossary_of_the_server(server, client):
    result = client.translate_text(TEXTS[0], source_lang="EN", target_lang="DE", glossary="pets")
    assert "Haustiere" in result.text and "Haustiere" not in own(server, TEXTS[0])
    with pytest.raises(deepl.DeepLException, match="glossary_id") as refused:
        client.translate_text(TEXTS[0], source_lang="EN", target_lang="DE", glossary="none")
    assert refused.value.http_status_code == 400


def test_a_glossary_of_one_pair(client):
    made = client.create_glossary("pets", source_lang="EN", target_lang="DE", entries={"dogs": "Katzen", "snow": "Regen"})
    assert (made.name, made.ready, made.source_lang, made.target_lang, made.entry_count) == ("pets", True, "EN", "DE", 2)
    assert abs((datetime.datetime.now(datetime.timezone.utc) - made.creation_time).total_seconds()) < 100
    assert client.get_glossary(made.glossary_id).entry_count == 2 and made.glossary_id in [g.glossary_id for g in client.list_glossaries()]
    assert client.get_glossary_entries(made) == {"dogs": "Katzen", "snow": "Regen"}
    for text in (client.translate_text(TEXTS[0], source_lang="EN", target_lang="DE", glossary=made), client.translate_text_with_glossary(TEXTS[0], made)):
        assert "Katzen" in text.text and "Regen" in text.text
    client.delete_glossary(made)
    for call in (client.get_glossary, client.get_glossary_entries, client.delete_glossary):
        with pytest.raises(deepl.GlossaryNotFoundException):
            call(made.glossary_id)
    csv = client.create_glossary_from_csv("csv", "EN", "FR", "dogs,toutous\n")
    assert client.get_glossary_entries(csv) == {"dogs": "toutous"}
    client.delete_glossary(csv)
    with pytest.raises(deepl.DeepLException, match="target_lang"):
        client.create_glossary("bad", "EN", "IT", {"a": "b"})
    assert {(p.source_lang, p.target_lang) for p in client.get_glossary_languages()} == PAIRS


def test_a_glossary_of_several_pairs(client):
    words = deepl.api_data.MultilingualGlossaryDictionaryEntries
    made = client.create_multilingual_glossary("pets", [words("EN", "DE", {"dogs": "Katzen"}), words("EN", "FR", {"dogs": "toutous"})])
    assert [(d.source_lang, d.target_lang, d.entry_count) for d in made.dictionaries] == [("EN", "DE", 1), ("EN", "FR", 1)]
    for target, word in (("DE", "Katzen"), ("FR", "toutous")):
        assert word in client.translate_text(TEXTS[0], source_lang="EN", target_lang=target, glossary=made).text
    assert client.update_multilingual_glossary_name(made, "animals").name == "animals"
    more = client.update_multilingual_glossary_dictionary(made, words("EN", "DE", {"snow": "Regen"}))
    assert more.name == "animals" and more.dictionaries[0].entry_count == 2
    put = client.replace_multilingual_glossary_dictionary(made, words("EN", "DE", {"snow": "Wind"}))
    assert (put.source_lang, put.target_lang, put.entry_count) == ("EN", "DE", 1)
    entries = client.get_multilingual_glossary_entries(made, "EN", "DE").dictionaries
    assert [(e.source_lang, e.target_lang, e.entries) for e in entries] == [("en", "de", "snow\tWind\n")]
    text = client.translate_text(TEXTS[0], source_lang="EN", target_lang="DE", glossary=made).text
    assert "Wind" in text and "Katzen" not in text
    client.delete_multilingual_glossary_dictionary(made, source_lang="EN", target_lang="FR")
    assert len(client.get_multilingual_glossary(made.glossary_id).dictionaries) == 1
    assert [g.glossary_id for g in client.list_multilingual_glossaries()] == [made.glossary_id]
    client.delete_multilingual_glossary(made)
    with pytest.raises(deepl.GlossaryNotFoundException):
        client.get_multilingual_glossary(made.glossary_id)
    assert client.list_multilingual_glossaries() == []


def test_languages(client):
    assert {x.code for x in client.get_source_languages()} == {"EN", "DE", "FR"}
    targets = {x.code: x for x in client.get_target_languages()}
    assert set(targets) == {"EN-GB", "EN-US", "DE", "FR"} and targets["DE"].name == "German"
    assert not any(x.supports_formality for x in targets.values())


def test_usage_without_keys(client):
    usage = client.get_usage()
    assert usage.character.count == 0 and usage.character.limit == 1000000000000 and not usage.any_limit_reached


def test_keys_and_quota(tmp_path):
    keys = str(tmp_path / "keys.db")
    secret = new_key(keys, "--characters-per-day", "50")
    with Server(BUNDLES, "--keys", keys) as s:
        good = deepl.DeepLClient(secret, server_url=s.url(""))
        assert good.translate_text(TEXTS[0], target_lang="DE").text == "Zwei Hunde spielen im Schnee."
        usage = good.get_usage()
        assert (usage.character.count, usage.character.limit) == (len(TEXTS[0]), 50)
        with pytest.raises(deepl.QuotaExceededException):
            good.translate_text(TEXTS[0] * 2, target_lang="DE")
        with pytest.raises(deepl.AuthorizationException):
            deepl.DeepLClient("invalid", server_url=s.url("")).translate_text(TEXTS[0], target_lang="DE")
