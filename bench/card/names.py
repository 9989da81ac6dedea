"""Counts names and other words that are translated wrongly in short sentences: names of the trainer's lists (trainer/recipes/names), which
a recipe may use, and new ones, which are in none of them (names.tsv). An answer is wrong if it lacks the name in the target language. A
synonym (Möhre for Karotte) counts as wrong, too; this is a few percent of the words."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))
LISTS = os.path.join(HERE, "..", "..", "trainer", "recipes", "names")
LANGUAGES = ["en", "de", "fr"]
EACH = 60  # names of a kind
SENTENCES = {
    "places": {"en": ["I live in {}.", "The train to {} is late.", "We will meet in {} next week."],
               "de": ["Ich wohne in {}.", "Der Zug nach {} hat Verspätung.", "Wir treffen uns nächste Woche in {}."],
               "fr": ["J'habite à {}.", "Le train pour {} est en retard.", "Nous nous retrouverons à {} la semaine prochaine."]},
    "people": {"en": ["{} called this morning.", "Please contact {}.", "Kind regards, {}"],
               "de": ["{} hat heute Morgen angerufen.", "Bitte wenden Sie sich an {}.", "Mit freundlichen Grüßen, {}"],
               "fr": ["{} a appelé ce matin.", "Veuillez contacter {}.", "Cordialement, {}"]},
    "nouns": {"en": ["Where is the {}?", "I have seen a photo of the {}."],
              "de": ["Wo ist {the} {}?", "Hier ist {the} {}."],
              "fr": ["Où est {the}{} ?", "Voici {the}{}."]},
    "plurals": {"en": ["Where are the {}?", "We need more {}."],
                "de": ["Wo sind die {}?", "Hier sind die {}."],
                "fr": ["Où sont les {} ?", "Voici les {}."]},
    "adjectives": {"en": ["He is {}.", "It is too {}."],
                   "de": ["Er ist {}.", "Das ist zu {}."],
                   "fr": ["Il est {}.", "C'est trop {}."]},
    "verbs": {"en": ["I want to {}.", "We can {} here."],
              "de": ["Ich will {}.", "Wir können hier {}."],
              "fr": ["Je veux {}.", "On peut {} ici."]}}
FORMS = {"adjectives": {"de adjective", "fr adjective", "fr adjective, m"}, "verbs": {"de verb, infinitive", "fr verb, infinitive"}}
ARTICLES = {"m": "der", "f": "die", "n": "das"}


def rows(path):
    """[kind, name in each of LANGUAGES] for each line; a single name is the same in all."""
    with open(path, encoding="utf-8") as f:
        cells = [line.rstrip("\n").split("\t") for line in f]
    return [[c[0], *(c[1:] if len(c) > 2 else 3 * c[1:])] for c in cells if c[0] != "kind"]


def spread(items):
    """About EACH of them, evenly from the whole list."""
    return items[::max(1, len(items) // EACH)][:EACH]


def full_names(people):
    given, family = ([r[1] for r in people if (r[0] == "family") == last] for last in (False, True))
    return [2 * [f"{a} {b}"] for a, b in zip(spread(given), spread(family))]


def names(kind, source, target):
    """{which: [[name in the source's language, in the target's]]}"""
    listed, new = rows(os.path.join(LISTS, kind + ".tsv")), rows(os.path.join(HERE, "names.tsv"))
    at = [1 + LANGUAGES.index(x) for x in (source, target)]
    if kind == "people":
        return {"listed": full_names(listed), "new": full_names([r for r in new if r[0] != "place"])}
    there = [[r[at[0]], r[at[1]], r[0]] for r in listed if r[at[0]] and r[at[1]] and r[0] in FORMS.get(kind, {r[0]})]
    result = {"listed": spread(there)}
    if kind == "places":
        result["new"] = spread([[r[1], r[1]] for r in new if r[0] == "place"])
    return result


def article(language, kind, name):
    gender = kind.split(" ")[-1]
    if language == "de":
        return ARTICLES[gender]
    return "l'" if name[0].lower() in "aeiouyhéèêâîôœ" else "le " if gender == "m" else "la "


def measure(translate, pairs):
    """{pair: {"places, new": share of wrong answers, ...}} for those of the pairs whose languages the lists have.

    translate(source, target, texts) returns the objects that `dragoman translate --json` prints."""
    result = {}
    for pair in pairs:
        source, target = pair.split("-")
        if not {source, target} <= set(LANGUAGES) or "en" not in (source, target):
            continue
        for kind, sentences in SENTENCES.items():
            for which, found in names(kind, source, target).items():
                asked = [(s.replace("{the}", article(source, n[2], n[0]) if "{the}" in s else "").replace("{}", n[0]), n[1])
                         for s in sentences[source] for n in found]
                said = translate(source, target, [text for text, _ in asked])
                wrong = sum(want.lower() not in answer["text"].lower() for answer, (_, want) in zip(said, asked))
                result.setdefault(pair, {})[f"{kind}, {which}"] = wrong / len(asked)
    return result


def report(measured, arrow):
    """Lines of Markdown."""
    if not measured:
        return []
    columns = list(next(iter(measured.values())))
    out = ["| names and words that are translated wrongly | " + " | ".join(columns) + " |", "|---" * (1 + len(columns)) + "|"]
    for pair, shares in sorted(measured.items()):
        out.append(f"| {arrow(pair)} | " + " | ".join(f"{100 * shares[c]:.0f} %" for c in columns) + " |")
    return [*out, ""]
