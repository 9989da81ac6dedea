"""Language detection: POST /v1/detect, and sentences in another language than the request states."""

import pytest

import conftest

GERMAN = "Der Ausschuss wird am Donnerstag erneut über den neuen Vorschlag beraten."
ENGLISH = "The committee will meet again on Thursday to discuss the new proposal."
SPANISH = "El comité se reunirá de nuevo el jueves para discutir la nueva propuesta."


def detect(server, text):
    reply = server.post("/v1/detect", {"text": text})
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_each_text_by_itself(server):
    answer = detect(server, [GERMAN, ENGLISH, "Danke", "", "42"])
    assert [d["language"] for d in answer["detections"][:3]] == ["de", "en", "de"]
    assert all(d["confidence"] >= 99 for d in answer["detections"][:2])
    assert [d["confidence"] for d in answer["detections"][3:]] == [0, 0]
    assert all(d["flags"] == [] for d in answer["detections"])
    assert all(isinstance(d["confidence"], int) for d in answer["detections"])
    characters = len(GERMAN) + len(ENGLISH) + len("Danke") + len("42")
    assert answer["usage"] == {"source_characters": characters, "source_tokens": 0, "target_tokens": 0}


def test_one_text(server):
    assert detect(server, ENGLISH)["detections"] == [{"language": "en", "confidence": 100, "flags": []}]


def test_a_language_that_is_not_served(server):
    found = detect(server, SPANISH)["detections"][0]
    assert found["language"] in ("en", "de") and found["confidence"] == 0
    assert found["flags"] == ["source_language_doubtful"]


@pytest.mark.parametrize("body, status, field", [
    ({}, 400, "text"), ({"text": 5}, 400, "text"), ({"text": []}, 400, "text"), ({"text": "a", "source": "en"}, 400, "source"),
    ({"text": "a" * 200001}, 413, "text")])
def test_wrong_requests(server, body, status, field):
    reply = server.post("/v1/detect", body)
    assert reply.status_code == status
    assert reply.json()["error"]["field"] == field


def flags(server, text, source, target):
    reply = server.post("/v1/translate", {"text": text, "source": source, "target": target}).json()
    return [s["flags"] for s in reply["translations"][0]["sentences"]]


def test_another_language_than_stated(server):
    doubt = "source_language_doubtful"
    before = server.metric("dragoman_source_language_doubtful_total")
    assert [doubt in f for f in flags(server, f"{ENGLISH} {GERMAN}", "en", "de")] == [False, True]
    assert [doubt in f for f in flags(server, f"{ENGLISH} {GERMAN}", "de", "fr")] == [True, False]
    assert [doubt in f for f in flags(server, "Danke", "en", "de")] == [False]  # one word may be a name
    after = server.metric("dragoman_source_language_doubtful_total")
    assert after - before == 2


def test_a_source_found_out(server):
    answer = server.post("/v1/translate", {"text": ENGLISH, "source": "auto", "target": "de"}).json()["translations"][0]
    stated = server.post("/v1/translate", {"text": ENGLISH, "source": "en", "target": "de"}).json()["translations"][0]
    assert answer.pop("source_confidence") == 100 and answer == stated


def test_sources_found_out_text_by_text(models):
    with conftest.Server(models, "--pivot", "de") as s:
        texts = [ENGLISH, GERMAN, "", ENGLISH]
        reply = s.post("/v1/translate", {"text": texts, "source": "auto", "target": "fr"})
        assert reply.status_code == 200, reply.text
        answer = reply.json()
        assert [t["source"] for t in answer["translations"]] == ["en", "de", answer["translations"][2]["source"], "en"]
        for text, found in zip(texts, answer["translations"]):
            alone = s.post("/v1/translate", {"text": text, "source": found["source"], "target": "fr"}).json()
            assert found.pop("source_confidence") == (100 if text else 0)
            assert found == alone["translations"][0]
        assert answer["usage"]["source_characters"] == sum(map(len, texts))
        same = s.post("/v1/translate", {"text": [GERMAN, ENGLISH], "source": "auto", "target": "de"}).json()["translations"]
        assert same[0]["text"] == GERMAN and same[1]["source"] == "en"
        reply = s.post("/v1/translate", {"text": [GERMAN, ENGLISH], "source": "auto", "target": "de", "stream": True})
        assert (reply.status_code, reply.json()["error"]["field"]) == (400, "stream")
        reply = s.post("/v1/translate", {"text": [GERMAN, ENGLISH], "source": "auto", "target": "en"})
        assert (reply.status_code, reply.json()["error"]["field"]) == (400, "target")
        streamed = s.post("/v1/translate", {"text": [ENGLISH, ENGLISH], "source": "auto", "target": "de", "stream": True})
        assert '"source_confidence":100' in streamed.text and streamed.text.count("event: sentence") == 2


def test_a_source_found_out_in_a_batch(server):
    items = [{"id": "a", "text": ENGLISH, "source": "auto", "target": "de"},
             {"text": GERMAN, "source": "auto", "target": "fr"}, {"text": ENGLISH, "source": "en", "target": "de"}]
    answers = server.post("/v1/batch", {"items": items}).json()["items"]
    assert [(a["source"], a["target"], a.get("source_confidence"), a.get("id")) for a in answers] == [
        ("en", "de", 100, "a"), ("de", "fr", 100, None), ("en", "de", None, None)]
    assert answers[0]["text"] == answers[2]["text"]


def test_a_pivot_says_it_of_the_first_text(models):
    with conftest.Server(models, "--pivot", "de") as server:
        assert all("source_language_doubtful" in f for f in flags(server, GERMAN, "en", "fr"))
        assert not any("source_language_doubtful" in f for f in flags(server, ENGLISH, "en", "fr"))
