"""What openapi.yaml cannot say in JSON Schema: which languages this server has, what files look like, and which fields go together."""
import json
import re

import schemathesis

# The bundled model's languages, in some of their accepted spellings.
OWN = ["en", "de", "fr", "EN", "De", "eng", "ger", "fra"]
DEEPL = ["EN", "DE", "FR", "de", "EN-US"]
HCFY = ["德语", "英语", "法语", "de"]
FORM_DICTIONARY = {"dictionaries[0].source_lang": ["EN", "en"], "dictionaries[0].target_lang": DEEPL[1:3]}
HAVE_LANGUAGES = {
    "LtTranslateRequest": {"source": OWN[:5] + ["auto"], "target": OWN[:5]},
    "LtTranslateForm": {"source": OWN[:5] + ["auto"], "target": OWN[:5]},
    "LtFileForm": {"source": OWN[:5] + ["auto"], "target": OWN[:5]},
    "LtSuggestRequest": {"source": OWN[:5] + ["auto"], "target": OWN[:5]},
    "LtSuggestForm": {"source": OWN[:5] + ["auto", ""], "target": OWN[:5] + [""]},
    "DeeplTranslateRequest": {"source_lang": DEEPL, "target_lang": DEEPL},
    "DeeplTranslateForm": {"source_lang": DEEPL, "target_lang": DEEPL},
    "GoogleTranslateRequest": {"source": OWN + ["auto", ""], "target": OWN},
    "GoogleTranslateForm": {"source": OWN + ["auto"], "target": OWN},
    "ImmeRequest": {"source_lang": OWN + ["auto", ""], "target_lang": OWN},
    "KissRequest": {"from": OWN + ["auto", ""], "to": OWN},
    "HcfyRequest": {"source": HCFY + ["auto", ""]},
    "DeeplxRequest": {"source_lang": DEEPL + ["auto", ""], "target_lang": DEEPL},
    "DeeplGlossaryRequest": {"source_lang": ["EN", "en"], "target_lang": DEEPL[1:3]},
    "DeeplDictionary": {"source_lang": ["EN", "en"], "target_lang": DEEPL[1:3]},
    "DeeplMultilingualGlossaryForm": FORM_DICTIONARY,
    "DeeplGlossaryChangeForm": FORM_DICTIONARY,
    "DocumentForm": {"source": OWN[:5] + ["auto"], "target": OWN[:5]},
    "DeeplDocumentForm": {"source_lang": DEEPL, "target_lang": DEEPL, "output_format": ["txt"]},
}
# Requests whose fields are valid one by one, but that are refused: (path, message, why a schema cannot say it).
GO_TOGETHER = [
    (r"/v3/glossaries/", r"'(source_lang|target_lang|entries)' not (specified|supported)", "a form's dictionary has all its fields or none"),
    (r"/v1/", r"glossary cannot be combined", "glossary beside target_prefix or sampling"),
    (r"/v1/", r"sampling", "sampling draws one answer: no beam_size, no n_best"),
    (r"/v1/", r"n_best", "n_best is at most beam_size"),
    (r"/v1/", r"no glossary", "a glossary's name is one of the server's"),
    (r"/v1/(score|alternatives|attention)", r"no model translates from", "one model must have the pair"),
    (r"/v1/attention", r"layer is \d+, the model has", "layers are the model's"),
    (r"/kiss", r"text is missing", "one of text and texts"),
    (r"/language/translate/v2/languages", r"expected the code of a language", "target is the code of some language"),
    (r"/kiss", r"text must not contain the character U\+0000", "text without U+0000 where it is looked at"),
    (r"/deeplx", r"XML is not well-formed", "XML is well-formed"),
    (r"/v1/score", r"translation", "as many translations as texts"),
    (r"/v1/(glossaries|memories)/", r"must be given together", "source and target are one pair"),
    (r"/v1/", r"glossary: (entry \d+: its (source|target) has 0|.* is translated to .* through)", "a glossary's words are not empty, and for one model"),
    (r"/v1/(alternatives|attention)", r"nothing to translate", "a sentence has letters"),
    (r"/(translate|detect|suggest)$", r"missing (q|s|source|target) parameter", "in the query, in a form or in JSON: somewhere"),
    (r"/translate_file|/v2/document|/v1/documents", r"the file (is not UTF|has the character U)|empty file|field of the form is not UTF-8", "files are as their kind has them"),
    (r"/", r"NUL character", "text without U+0000, in a form as well"),
    (r"/v[12]/translate", r"XML is not well-formed", "XML is well-formed"),
    (r"/v2/(translate|document)", r"glossary: .* (has no entries for|is translated to .* through)", "a glossary's entries are for the pair"),
    (r"/v2/translate", r"names, the limit is 256", "so many names in one string"),
    (r"/v2/(translate|document)", r"glossary requires the source_lang", "glossary_id with source_lang"),
    (r"/v2/(translate|document)", r"'glossary_id' not supported", "a glossary's id is one of the server's"),
    (r"/v1/(glossaries|memories)|/v[23]/glossaries", r"line \d+|no entries from|entry|entries|bytes|U\+0000", "entries are TSV or CSV, in the bytes that there are"),
    (r"/", r"NUL byte in object key", "JSON's names without U+0000"),
    (r"/", r"too big (negative )?integer|real number overflow", "JSON's numbers within 64 bits"),
]


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Restricts languages, which may be any string in openapi.yaml, to those of this server, and files to kinds that it translates."""
    schemas = raw_schema["components"]["schemas"]
    schemas["Language"]["enum"] = OWN
    for name, fields in HAVE_LANGUAGES.items():
        for field, codes in fields.items():
            before = schemas[name]["properties"][field]
            nullable = before.get("nullable", False)
            schemas[name]["properties"][field] = {"type": "string", "nullable": nullable, "enum": codes + [None] * nullable}
    schemas["HcfyRequest"]["properties"]["destination"]["items"]["enum"] = HCFY
    for parameter in raw_schema["paths"]["/language/translate/v2"]["get"]["parameters"]:
        if parameter.get("name") in ("target", "source"):
            parameter["schema"]["enum"] = OWN
    for name in ("CollectionSource", "CollectionTarget", "DeeplSourceLang", "DeeplTargetLang"):
        raw_schema["components"]["parameters"][name]["schema"] = {"type": "string", "enum": OWN}
    for path in ("/translate_file", "/v2/document", "/v1/documents"):
        form = raw_schema["paths"][path]["post"]["requestBody"]["content"]["multipart/form-data"]
        header = {"schema": {"type": "string"}, "example": 'form-data; name="file"; filename="letter.txt"'}
        form["encoding"] = {"file": {"contentType": "text/plain", "headers": {"Content-Disposition": header}}}


@schemathesis.hook
def map_body(context, body):
    """Makes text of a file's random bytes."""
    file = body.get("file") if isinstance(body, dict) else None
    if hasattr(file, "data"):
        body["file"] = type(file)(file.data.decode("latin-1").replace("\0", "").encode())
    return body


def message_of(response):
    try:
        body = response.json()
    except ValueError:
        return ""
    error = body.get("error", body) if isinstance(body, dict) else ""
    return error.get("message", "") if isinstance(error, dict) else str(error)


def deadline_of(case):
    """Returns the request's own deadline in seconds, at most a minute; a minute if it has none, or no number."""
    body = case.body if isinstance(case.body, dict) else {}
    given = [(body.get("timeout_ms"), 1000), ((case.headers or {}).get("X-Request-Timeout"), 1)]
    seconds = [60.0]
    for value, unit in given:
        try:
            seconds.append(float(value) / unit)
        except (TypeError, ValueError):
            pass
    return min(s for s in seconds if s > 0)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """True if it is a failure; False if the server does as it should."""
    kind = type(failure).__name__
    if kind in ("ServerError", "AcceptedNegativeData") and response.status_code == 504:
        # A deadline too short to be met is the client's choice; it may pass before a body is read and found wrong.
        return deadline_of(case) > 2
    if kind == "AcceptedNegativeData" and case.path == "/v1/batch" and response.status_code == 200:
        # An item's error is in its own answer.
        return not any("error" in item for item in response.json()["items"])
    if kind == "AcceptedNegativeData" and case.media_type == "multipart/form-data" and isinstance(case.body, dict):
        # A form has only strings: other values are sent as their letters ("null").
        return all(isinstance(value, (str, bytes)) for value in case.body.values())
    if kind == "AcceptedNegativeData" and case.path == "/hcfy" and isinstance(case.body, dict):
        # The second destination is ignored if the text goes to the first.
        return (case.body.get("destination") or [None])[0] not in HCFY
    if kind == "RejectedPositiveData" and response.status_code == 400:
        said = message_of(response)
        if case.path == "/translate" and case.query and re.search(r" is not supported($|; to install)", said):
            return False  # to the schema the query's source or target is any string
        return not any(re.match(path, case.path) and re.search(rule, said) for path, rule, _ in GO_TOGETHER)
    return True


@schemathesis.deserializer("application/x-ndjson")
def lines(context, response):
    """Parses the first line only, because the description is of one line."""
    return json.loads(response.text.splitlines()[0])
