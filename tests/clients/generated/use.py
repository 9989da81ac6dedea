"""Uses the client generated from openapi.yaml in the folder `dragoman_client` beside it: `use.py FOLDER URL`. Prints the results as
JSON."""
import importlib
import io
import json
import os
import sys

FOLDER, URL = sys.argv[1:]
sys.path.insert(0, FOLDER)

import dragoman_client  # noqa: E402
from dragoman_client import models  # noqa: E402
from dragoman_client.types import File  # noqa: E402

CLIENT = dragoman_client.Client(base_url=URL, timeout=60, raise_on_unexpected_status=True)
TEXT = "Two dogs play in the snow."


def call(operation, *of_path, **fields):
    """Calls an operation. Returns its answer as the object that the client makes of it."""
    module = importlib.import_module("dragoman_client.api." + operation)
    return module.sync(*of_path, client=CLIENT, **fields)


def value(answer):
    return [a.to_dict() for a in answer] if isinstance(answer, list) else answer.to_dict()


def import_all():
    """Imports all modules of the generated client. Returns how many there are."""
    n = 0
    for folder, _, files in os.walk(os.path.join(FOLDER, "dragoman_client")):
        for file in files:
            if file.endswith(".py"):
                path = os.path.relpath(os.path.join(folder, file), FOLDER)[:-3]
                importlib.import_module(path.replace(os.sep, "."))
                n += 1
    return n


def translations():
    """Returns the translation of the same text from each dialect."""
    v1 = call("translation.translate", body=models.TranslateRequest(text=[TEXT], source="en", target="de", scores=True))
    lt_json = call("libretranslate.libretranslate_translate", body=models.LtTranslateRequest(q=TEXT, source="en", target="de"))
    lt_form = call("libretranslate.libretranslate_translate", body=models.LtTranslateForm(q=TEXT, source="en", target="de"))
    lt_query = call("libretranslate.libretranslate_translate", q=TEXT, source="en", target="de")
    deepl = call("deepl.deepl_translate", body=models.DeeplTranslateRequest(text=[TEXT], target_lang="DE"))
    deepl_form = call("deepl.deepl_translate", body=models.DeeplTranslateForm(text=TEXT, target_lang="DE"))
    google = call("google.google_translate", body=models.GoogleTranslateRequest(q=[TEXT], target="de"))
    google_query = call("google.google_translate_by_query", q=[TEXT], target="de")
    imme = call("extensions.immersive_translate", body=models.ImmeRequest(source_lang="auto", target_lang="de", text_list=[TEXT]))
    kiss = call("extensions.kiss_translate", body=models.KissRequest(from_="auto", to="de", text=TEXT))
    hcfy = call("extensions.hcfy_translate", body=models.HcfyRequest(text=TEXT, destination=["德语"]))
    deeplx = call("extensions.deeplx_translate", body=models.DeeplxRequest(text=TEXT, target_lang="DE"))
    return {"v1": v1.translations[0].text, "libretranslate": lt_json.translated_text, "libretranslate form": lt_form.translated_text,
            "libretranslate query": lt_query.translated_text, "deepl": deepl.translations[0].text,
            "deepl form": deepl_form.translations[0].text, "google": google.data.translations[0].translated_text,
            "google query": google_query.data.translations[0].translated_text, "imme": imme.translations[0].text, "kiss": kiss.text,
            "hcfy": hcfy.result[0], "deeplx": deeplx.data}


def refusals():
    """Asks each dialect for a target that does not exist. Returns the type of each refusal."""
    wrong = {
        "v1": call("translation.translate", body=models.TranslateRequest(text=TEXT, source="en", target="xx")),
        "libretranslate": call("libretranslate.libretranslate_translate", q=TEXT, source="en", target="xx"),
        "deepl": call("deepl.deepl_translate", body=models.DeeplTranslateRequest(text=[TEXT], target_lang="XX")),
        "google": call("google.google_translate", body=models.GoogleTranslateRequest(q=[TEXT], target="xx")),
        "kiss": call("extensions.kiss_translate", body=models.KissRequest(from_="en", to="xx", text=TEXT)),
        "deeplx": call("extensions.deeplx_translate", body=models.DeeplxRequest(text=TEXT, target_lang="XX"))}
    return {dialect: type(answer).__name__ for dialect, answer in wrong.items()}


def document():
    """Translates a document with two dialects. Returns the results."""
    def file():
        return File(payload=io.BytesIO(TEXT.encode()), file_name="dogs.txt", mime_type="text/plain")

    known = call("deepl.deepl_document", body=models.DeeplDocumentForm(file=file(), target_lang="DE"))
    key = models.DeeplDocumentKey(known.document_key)
    while (status := call("deepl.deepl_document_status", known.document_id, body=key)).status != "done":
        assert status.status != "error", status
    there = call("libretranslate.libretranslate_file", body=models.LtFileForm(file=file(), source="en", target="de"))
    name = there.translated_file_url.rsplit("/", 1)[1]
    return [call("deepl.deepl_document_result", known.document_id, body=key).payload.read().decode(),
            call("libretranslate.libretranslate_download", name).payload.read().decode()]


def pages():
    """Returns the answers of operations that have neither a body nor fields."""
    of_server = ("translation.languages", "translation.models", "translation.usage", "server.server_status", "libretranslate.libretranslate_languages",
                 "libretranslate.libretranslate_settings", "libretranslate.libretranslate_health", "deepl.deepl_usage", "deepl.deepl_resources")
    return {name: value(call(name)) for name in of_server}


def rest():
    score = call("translation.score", body=models.ScoreRequest(text=TEXT, translation="Zwei Hunde.", source="en", target="de"))
    detect = call("translation.detect", body=models.DetectRequest(text=[TEXT, "Wo ist der Bahnhof?"]))
    return {"score": score.scores[0].score, "detect": [d.language for d in detect.detections]}


print(json.dumps({"modules": import_all(), "translations": translations(), "refusals": refusals(), "document": document(),
                  "pages": pages(), "rest": rest()}))
