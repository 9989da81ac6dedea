"""`dragoman translate --glossary`: terms from each kind of file are in the answers; those that cannot be are flagged or refused."""
import json
import os
import re
import subprocess

import pytest

DRAGOMAN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin", "dragoman")
BUNDLE = "tests/data/en-de"
TMX = """<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en-US"><seg>dogs</seg></tuv>
<tuv xml:lang="de"><seg>Haustiere</seg></tuv><tuv xml:lang="fr"><seg>chiens</seg></tuv></tu></body></tmx>"""
FILES = {"t.tsv": "dogs\tHaustiere\r\n\nsnow\tGarten\n", "t.csv": '"dogs",Haustiere\n', "fr.csv": "dogs,Haustiere,en,de\ndogs,chiens,en,fr\n",
         "t.tmx": TMX, "t.en-de.tsv": "dogs\tHaustiere\n"}


def run(glossary, *options, stdin, status=0):
    done = subprocess.run([DRAGOMAN, "translate", "--model", BUNDLE, "--glossary", glossary, *options], input=stdin,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    return done.stdout if not status else done.stderr


@pytest.mark.parametrize("name", sorted(FILES))
def test_terms_are_in_the_answers(name, tmp_path):
    (tmp_path / name).write_text(FILES[name])
    out = run(str(tmp_path / name), "--json", stdin="Two dogs play in the snow.\nA girl is smiling.\nDogs and dogs.\n").splitlines()
    two, none, twice = map(json.loads, out)
    plain = subprocess.run([DRAGOMAN, "translate", "--model", BUNDLE, "--json"], input="A girl is smiling.\n", capture_output=True, text=True)
    assert "Haustiere" in two["text"] and "Garten" in two["text"] or name != "t.tsv"
    assert "Haustiere" in two["text"] and "glossary_missed" not in two["flags"]
    assert twice["text"].count("Haustiere") == 2
    assert none == json.loads(plain.stdout)


def test_terms_in_every_format_and_all_answers(tmp_path):
    glossary = tmp_path / "t.tsv"
    glossary.write_text("dogs\tHaustiere\nexample\tMuster\n")
    out = run(str(glossary), "--format", "markdown", stdin="# Two **dogs** play.\n\nSee https://example.com/dogs now.\n")
    assert "Haustiere" in out and "https://example.com/dogs" in out and "Muster" not in out
    lists = json.loads(run(str(glossary), "--json", "--n-best", "3", stdin="Two dogs play in the snow.\n"))["n_best"]
    assert len(lists) == 3 and all("Haustiere" in a["text"] for a in lists)


def test_an_empty_prefix_is_none(tmp_path):
    glossary = tmp_path / "t.tsv"
    glossary.write_text("dogs\tHaustiere\n")
    assert "Haustiere" in run(str(glossary), "--target-prefix", "", stdin="Two dogs play in the snow.\n")


def test_terms_are_not_glued_to_a_full_stop(tmp_path):
    """A term that the search places last used to follow the full stop without a blank: "Ein Hund schläft.Köter."."""
    glossary = tmp_path / "t.tsv"
    glossary.write_text("dog\tKöter\n")
    sources = ["A dog sleeps.", "The dog barks at night.", "A dog, a cat.", "Where is the dog?", "The (dog) sleeps."]
    out = run(str(glossary), "--model", "weights/bundles/en-de-fr", "--source-lang", "en", "--target-lang", "de",
              stdin="\n".join(sources) + "\n")
    assert out.count("Köter") == len(sources) and not re.search(r"[^\s(„»\"'-]Köter", out), out


# texts, each with the model's own word for its term
OWN_WORDS = {"de": {"artist": "Künstler", "Artist:": "Künstler", "dogs, cats": "Hunde|Katzen", "Open file": "Datei", "The artist sings.": "Künstler",
                    "He is an artist.": "Künstler", "The dogs are here.": "Hunde", "Two dogs play in the snow.": "Hunde"},
             "fr": {"artist": "artiste", "dogs": "chiens", "The artist sings.": "artiste", "The dogs are here.": "chiens",
                    "Two dogs play in the snow.": "chiens"}}


@pytest.mark.parametrize("target, rows", [("de", "artist\tMaler\ndogs\tHaustiere\ncats\tStubentiger\nfile\tVerzeichnis\n"),
                                          ("fr", "artist\tpeintre\ndogs\tanimaux\n")])
def test_a_term_takes_the_place_of_the_own_word(target, rows, tmp_path):
    """The search used to keep its own word and to append the term: "artist" was "Künstler Maler"."""
    glossary = tmp_path / "t.tsv"
    glossary.write_text(rows)
    texts = OWN_WORDS[target]
    out = run(str(glossary), "--model", "weights/bundles/en-de-fr", "--source-lang", "en", "--target-lang", target, stdin="\n".join(texts) + "\n")
    terms = re.compile("|".join(row.split("\t")[1] for row in rows.splitlines()), re.I)
    for text, answer in zip(texts, out.splitlines(), strict=True):
        assert len(terms.findall(answer)) == (2 if "," in text else 1), (text, answer)
        assert not re.search(texts[text], answer, re.I), (text, answer)


def test_a_search_for_terms_does_not_loop(tmp_path):
    """For a term that the model would never produce: the answer used to loop before the term came."""
    glossary = tmp_path / "t.tsv"
    glossary.write_text("königsfeld\tTageseinsatzgruppe\n")
    source = "In case of emergency, support is provided by the Königsfeld daytime task force.\n"
    answer = json.loads(run(str(glossary), "--model", "weights/bundles/en-de-fr", "--source-lang", "en", "--target-lang", "de", "--json", stdin=source))
    assert "Tageseinsatzgruppe" in answer["text"] and "repetition" not in answer["flags"] and len(answer["text"]) < 2 * len(source)


def test_terms_of_byte_pieces_are_whole(tmp_path):
    """A byte's piece ends in ">", after which a term used to begin: in the middle of a character."""
    glossary = tmp_path / "t.tsv"
    glossary.write_text("dogs\t\U00010437\U00010437\n")
    answer = json.loads(run(str(glossary), "--model", "weights/bundles/en-de-fr", "--source-lang", "en", "--target-lang", "de", "--json",
                            stdin="Two dogs play in the snow.\n"))
    assert "\U00010437\U00010437" in answer["text"] and "glossary_missed" not in answer["flags"]


def test_what_cannot_be_said_is_flagged(tmp_path):
    glossary = tmp_path / "t.tsv"
    glossary.write_text("dogs\tzwei Haustiere im Garten\n")
    answer = json.loads(run(str(glossary), "--json", "--max-length", "3", stdin="Two dogs play in the snow.\n"))
    assert "glossary_missed" in answer["flags"]


def test_a_term_longer_than_any_answer_is_flagged(tmp_path):
    """1024 bytes, a piece each, where an answer has at most 1024 pieces. The lines without the term were not answered either."""
    glossary = tmp_path / "t.tsv"
    glossary.write_text("house\t" + "\U00010437" * 256 + "\n")
    answers = run(str(glossary), "--model", "weights/bundles/en-de-fr", "--source-lang", "en", "--target-lang", "de", "--json",
                  stdin="A dog.\nA house.\nA girl is smiling.\n").splitlines()
    assert ["glossary_missed" in json.loads(a)["flags"] for a in answers] == [False, True, False]


def test_terms_in_a_document(tmp_path):
    (tmp_path / "t.tsv").write_text("dogs\tHaustiere\n")
    (tmp_path / "a.html").write_text("<h1>Two dogs</h1><p>A girl is smiling.</p><p>Dogs play in the <b>snow</b>.</p>")
    run(str(tmp_path / "t.tsv"), str(tmp_path / "a.html"), "-o", str(tmp_path / "b.html"), stdin="")
    answer = (tmp_path / "b.html").read_text()
    assert answer.count("Haustiere") == 2 and answer.startswith("<h1>") and answer.count("<p>") == 2


@pytest.mark.parametrize("options,name,rows,source,term", [
    (["--target-lang", "en"], "t.de-en.tsv", "Hunde\tcanines\n", "Zwei Hunde spielen im Schnee.", "canines"),
    (["--source-lang", "fr"], "t.csv", "chiens,canines,fr,en\nchiens,Vierbeiner,fr,de\n", "Deux chiens jouent.", "canines"),
    (["--source-lang", "de"], "t.tsv", "Hunde\tcanines\n", "Zwei Hunde spielen im Schnee.", "canines"),
    (["--model", "en-fr"], "t.csv", "dogs,Vierbeiner,en,de\ndogs,toutous,en,fr\n", "Two dogs play in the snow.", "toutous")])
def test_languages_that_are_left_out_are_those_of_the_answers(options, name, rows, source, term, tmp_path):
    """The glossary used to be looked up in the languages of the model's first pair, which is en-de, where the texts went another way."""
    (tmp_path / name).write_text(rows)
    out = run(str(tmp_path / name), "--model", "weights/bundles/en-de-fr", *options, stdin=source + "\n")
    assert term in out


def test_what_makes_no_sense_is_refused(tmp_path):
    glossary = tmp_path / "t.tsv"
    glossary.write_text("dogs\tHaustiere\n")
    for options in (["--tokens"], ["--target-prefix", "Die"], ["--sampling", "seed=1"]):
        message = run(str(glossary), *options, stdin="x\n", status=2)
        assert "--glossary" in message and options[0] in message
    other = tmp_path / "t.en-fr.tsv"
    other.write_text("dogs\tchiens\n")
    assert "has no entries from en to de" in run(str(other), stdin="x\n", status=1)
    glossary.write_text("dogs\n")
    assert "line 1 has no tab" in run(str(glossary), stdin="x\n", status=1)
    assert "ends in .tsv, .csv or .tmx" in run(__file__, stdin="x\n", status=1)
