"""Numbers of a translation are written as its language writes them, or the sentence is flagged: nobody may read 3.200 euros as 3.2."""
import random
import re

import pytest

import conftest
import kept

# language -> (thousands separator, decimal sign)
WAYS = {"en": (",", "."), "de": (".", ","), "fr": ("\u202f", ",")}
SENTENCES = {
    "en": ["It costs @ euros.", "About @ people came to the city.", "The company sold @ tons of rice."],
    "de": ["Das kostet @ Euro.", "Etwa @ Menschen kamen in die Stadt.", "Die Firma verkaufte @ Tonnen Reis."],
    "fr": ["Cela coûte @ euros.", "Environ @ personnes sont venues.", "La société a vendu @ tonnes de riz."],
}


@pytest.fixture(scope="module")
def server():
    with conftest.Server(conftest.BUNDLES) as s:
        yield s


def written(language, value, decimals):
    group, point = WAYS[language]
    return "{:,.{}f}".format(value, decimals).translate({ord(","): group, ord("."): point})


def drawn():
    """Returns thirty pairs (number, decimals): ten with thousands, ten with decimals, ten with both."""
    rng = random.Random(4)
    return [(rng.randint(1100, 9_900_000), 0) for _ in range(10)] + [(rng.uniform(1.1, 99), rng.choice([1, 2, 3])) for _ in range(10)] + \
        [(rng.uniform(1100, 99_000), 2) for _ in range(10)]


@pytest.mark.parametrize("format", ["text", "markdown", "html"])
@pytest.mark.parametrize("source, target", [("en", "de"), ("de", "en"), ("en", "fr"), ("fr", "en")])
def test_a_number_is_the_target_languages(server, source, target, format):
    numbers = [(written(source, *x), written(target, *x)) for x in drawn()]
    cases = [(a, b, kept.framed(format, s.replace("@", a))) for a, b in numbers for s in SENTENCES[source]]
    right, wrong = 0, []
    for (number, wanted, text), answer in zip(cases, kept.answers(server, [t for _, _, t in cases], format, source, target)):
        # Thousands may be set apart by another space, or by nothing: no reader takes them for another number.
        plain = re.sub(r"(?<=\d)[\u202f\u00a0 ](?=\d{3})", "", answer["text"])
        found = wanted in answer["text"] or re.search(r"(?<!\d)%s(?!\d)" % re.escape(wanted.replace(WAYS[target][0], "")), plain)
        right += bool(found)
        if not found and "number_mismatch" not in kept.flags(answer):
            wrong.append((number, wanted, answer["text"]))
        if target != "fr":
            assert wanted == number or not re.search(r"(?<![\d.,])%s(?![\d.,]*\d)" % re.escape(number), answer["text"]), answer
    print(source, target, format, right, len(cases), wrong)
    assert not wrong
    assert right >= 0.8 * len(cases)


INVOICES = {
    "en": ["The price is @.", "Please pay @ by Friday.", "The total amount is @.", "Total: @"],
    "de": ["Der Preis beträgt @.", "Bitte zahlen Sie @ bis Freitag.", "Der Gesamtbetrag ist @.", "Gesamt: @"],
    "fr": ["Le prix est de @.", "Veuillez payer @ avant vendredi.", "Le montant total est de @.", "Total : @"],
}


def price(language, value, decimals, sign):
    number = written(language, value, decimals)
    return sign + number if language == "en" else number + "\u00a0" + sign


@pytest.mark.parametrize("source, target", [("en", "de"), ("de", "en"), ("en", "fr"), ("fr", "en")])
def test_a_price_is_the_target_languages(server, source, target):
    rng = random.Random(6)
    drawn = [(rng.uniform(10, 100), 2) for _ in range(5)] + [(rng.randint(100, 900_000), 0) for _ in range(5)] + [(rng.uniform(1000, 90_000), 2) for _ in range(5)]
    prices = [(x, decimals, sign) for (x, decimals), sign in zip(drawn, "€$£" * 5)]
    cases = [(price(target, *x), s.replace("@", price(source, *x))) for x in prices for s in INVOICES[source]]
    for (wanted, text), answer in zip(cases, kept.answers(server, [t for _, t in cases], "text", source, target)):
        assert answer["text"].count(wanted) == 1, (text, answer)


@pytest.mark.parametrize("text, wanted", [
    ("The firm earned €12.5M in 2023 and $3.2bn in 2024.", ["€12,5M", "$3,2bn"]),
    ("Tickets cost $20-$30 or £15.50–£22.75 each.", ["$20-$30", "£15,50–£22,75"]),
    ("It costs $5/month.", ["$5"]),
    ("It costs €500.- here.", ["500\u00a0€"]),
    ("It costs EUR 1,250.00 today.", ["EUR 1.250,00"]),
    ("EUR 1,250.00", ["EUR 1.250,00"]),
    ("The city spent $3.25 million on it.", ["3,25 Mill"]),
])
def test_amounts_of_money(server, text, wanted):
    (answer,) = kept.answers(server, [text], "text")
    assert all(answer["text"].count(x) == 1 for x in wanted), answer


@pytest.mark.parametrize("text", ["Please pay €1,250.00 by Friday.", "It costs $5/month today.", "It earned €12.5M and $450."])
@pytest.mark.parametrize("prefix", ["", "E", "Bitte ", "Es kostet 1.250,00\u00a0€ "])
def test_a_price_after_a_prefix_is_there_once(server, text, prefix):
    answer = server.translate(text, target_prefix=prefix).json()["translations"][0]["text"]
    for sign in "€$":
        assert answer.count(sign) <= max(text.count(sign), prefix.count(sign)), answer


def test_a_glossary_translates_a_code_of_a_currency(server):
    for text, wanted in (("It costs EUR 1,250.00 today.", "1.250,00"), ("It costs 99.50 EUR today.", "99,50")):
        answer = server.translate(text, glossary={"EUR": "Taler"}).json()["translations"][0]["text"]
        assert "Taler" in answer and wanted in answer and "EUR" not in answer, answer


@pytest.mark.parametrize("source, target, text, wanted", [
    ("en", "de", "It costs $9.99/month.", "9,99\u00a0$/Monat"),
    ("en", "fr", "It costs $1,200/month.", "1\u202f200\u00a0$/mois"),
    ("de", "en", "Es kostet 9,99 €/Monat.", "€9.99/month"),
    ("fr", "en", "Le loyer est de 850 €/mois.", "€850/month"),
    ("en", "de", "It costs $9.99/kg.", "9,99\u00a0$/kg"),
])
def test_a_price_per_something(server, source, target, text, wanted):
    (answer,) = kept.answers(server, [text], "text", source, target)
    assert wanted in answer["text"], answer


@pytest.mark.parametrize("source, target, text, wanted", [
    ("en", "de", "Forty-seven dogs play in the park.", "Siebenundvierzig Hunde"),
    ("de", "en", "Er ist achtunddreißig Jahre alt.", "thirty-eight years"),
    ("fr", "de", "Quatre-vingt-onze chiens jouent.", "Einundneunzig"),
    ("en", "fr", "He is seventy-one years old.", "soixante et onze ans"),
    ("en", "de", "FORTY-SEVEN DOGS PLAY HERE.", "SIEBENUNDVIERZIG HUNDE"),
    ("en", "de", "Forty-seven", "Siebenundvierzig"),
    ("en", "de", "Age: forty-seven", "siebenundvierzig"),
    ("en", "de", "I read `forty-seven` there.", "`forty-seven`"),
    ("en", "de", "The dose is 0.5 ml/kg.", "0,5 ml/kg"),
])
@pytest.mark.parametrize("format", ["text", "markdown", "html"])
def test_a_spelt_number(server, format, source, target, text, wanted):
    if format != "markdown" and "`" in text:
        return
    (answer,) = kept.answers(server, [kept.framed(format, text)], format, source, target)
    assert wanted in answer["text"] and not kept.flags(answer) & {"number_mismatch", "word_copied"}, answer


def test_a_glossary_translates_a_spelt_number(server):
    answer = server.translate("Forty-seven dogs play.", glossary={"Forty-seven": "47"}).json()["translations"][0]["text"]
    assert "47" in answer and "ierzig" not in answer, answer


@pytest.mark.parametrize("source, target, text, wanted", [
    ("en", "de", "On March 3, 2024, at 10:00 a.m.", "10:00 Uhr"),
    ("en", "de", "Call me at 11 pm.", "23 Uhr"),
    ("de", "en", "Wir treffen uns um 9:30 Uhr.", "9:30 a.m."),
    ("de", "en", "Geöffnet 9–18 Uhr.", "9 a.m.-6 p.m."),
    ("de", "en", "Wir treffen uns um 2 Uhr.", "2 a.m."),
    ("de", "en", "Von 14 bis 18 Uhr geöffnet.", "2 p.m. to 6 p.m."),
])
def test_an_hour_is_in_the_right_half_of_the_day(server, source, target, text, wanted):
    (answer,) = kept.answers(server, [text], "text", source, target)
    assert wanted in answer["text"] and "number_mismatch" not in kept.flags(answer), answer


def test_references_in_a_price_are_read(server):
    (answer,) = kept.answers(server, ["<p>Le prix est de 1&nbsp;250,00&nbsp;€ aujourd'hui.</p>"], "html", "fr", "en")
    assert "€1,250.00" in answer["text"] and "&nbsp;" not in answer["text"], answer


def test_an_address_is_no_number(server):
    (answer,) = kept.answers(server, ["Der Hund hat 192.168.100.200 und 1.234.567.890 Freunde."], "text", "de", "en")
    assert "192.168.100.200" in answer["text"] and "1,234,567,890" in answer["text"], answer


@pytest.mark.parametrize("text, wanted", [
    ("The new Windows 8.1 is here.", "8.1"),
    ("Version 1.2.3 is there.", "1.2.3"),
    ("Two dogs play with 192.168.0.1 in the snow.", "192.168.0.1"),
])
def test_what_is_no_quantity_stays(server, text, wanted):
    (answer,) = kept.answers(server, [text], "text")
    assert wanted in answer["text"], answer


def test_alignments_and_alternatives_know_the_new_number(server):
    text = "The index rose by 12.75 points to 9,381.04 points."
    answer = server.post("/v1/translate", {"text": text, "source": "en", "target": "fr", "alignments": True, "n_best": 3}).json()["translations"][0]
    assert "9\u202f381,04" in answer["text"], answer
    assert all("9,381.04" not in a["text"] and "9.381,04" not in a["text"] for a in answer["n_best"]), answer
    begin, end = text.index("9,381.04"), text.index("9,381.04") + 8
    there = answer["text"].index("9\u202f381,04")
    pairs = [t for s, t in answer["alignments"] if s[0] >= begin and s[1] <= end]
    assert pairs and all(there <= t[0] <= t[1] <= there + 8 for t in pairs), answer
    assert all(0 <= t[0] <= t[1] <= len(answer["text"]) for _, t in answer["alignments"]), answer


def test_a_prefix_is_left(server):
    reply = server.post("/v1/translate", {"text": "It costs 3,200 euros.", "source": "en", "target": "fr", "target_prefix": "Il coûte 3.200"})
    assert reply.json()["translations"][0]["text"].startswith("Il coûte 3.200"), reply.text


@pytest.mark.parametrize("text", ["I have 1,234.56 dollars and 5 % of it.", "THE WHOLE WORLD IS WHITE."])
def test_the_best_ones_differ(server, text):
    """Also where the model's answers differ only in how they write a number or a capital, which is written anew."""
    (answer,) = server.post("/v1/translate", {"text": text, "source": "en", "target": "de", "beam_size": 8, "n_best": 8}).json()["translations"]
    best = [a["text"] for a in answer["n_best"]]
    assert 1 < len(best) == len(set(best)) and best[0] == answer["text"], best
    scores = [a["score"] for a in answer["n_best"]]
    assert scores == sorted(scores, reverse=True)
