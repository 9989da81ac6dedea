"""cleaning.min_relation: pairs whose sides have nothing in common, by a dictionary learned from the same pairs, are dropped and counted.
The sentences are simple; their real words repeat, so that translations can be learned. Every twentieth has a wrong target."""
import json
import random

import pytest

from real_pairs import prepare, recipe
from train_runs import TRAIN, run

NOUNS = {"teacher": "Lehrer", "farmer": "Bauer", "doctor": "Arzt", "painter": "Maler", "driver": "Fahrer", "singer": "Sänger",
         "baker": "Bäcker", "hunter": "Jäger", "judge": "Richter", "soldier": "Soldat"}
VERBS = {"sleeps": "schläft", "reads": "liest", "writes": "schreibt", "laughs": "lacht", "waits": "wartet", "dances": "tanzt",
         "drinks": "trinkt", "swims": "schwimmt"}
PLACES = {"garden": "Garten", "kitchen": "Küche", "forest": "Wald", "church": "Kirche", "school": "Schule", "hotel": "Hotel",
          "harbour": "Hafen", "village": "Dorf"}
TIMES = {"today": "heute", "tomorrow": "morgen", "always": "immer", "never": "niemals", "often": "häufig", "slowly": "langsam"}
N = 800


def sentences():
    """(words of each pair, sources, targets) of N different pairs."""
    every = [(n, v, p, t) for n in NOUNS for v in VERBS for p in PLACES for t in TIMES]
    chosen = random.Random(5).sample(every, N)
    return chosen, [f"The {n} {v} {t} near the {p}." for n, v, p, t in chosen], \
        [f"{NOUNS[n]} {VERBS[v]} {TIMES[t]} bei {PLACES[p]}." for n, v, p, t in chosen]


def mixed():
    """(sources, targets, indices of wrong targets): every twentieth target is that of a pair without a word in common."""
    words, en, de = sentences()
    out, wrong = list(de), set()
    for i in range(0, N, 20):
        other = next(k for k in range(i + 1, N) if not set(words[i]) & set(words[k]))
        out[i], wrong = de[other], wrong | {i}
    return en, out, wrong


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("relation")
    _, en, de = sentences()
    for name, target in (("right", de), ("mixed", mixed()[1])):
        for side, text in (("en", en), ("de", target)):
            (folder / f"{name}.{side}").write_text("".join(x + "\n" for x in text), encoding="utf-8")
    return folder


def prepared(folder, name, both=False, **cleaning):
    files = [{"source": f"{name}.en", "target": f"{name}.de"}]
    pair = {"source_lang": "en", "target_lang": "de", "train": files, "both_directions": both}
    path = recipe(folder, data={"pairs": [pair]}, cleaning=cleaning)
    out = folder / f"out-{len(list(folder.iterdir()))}"
    table = " ".join(prepare(path, out).split())
    manifest = json.loads((out / "prepared.json").read_text())
    total = manifest["counts"]["total"]
    return total["kept"], total["dropped"]["unrelated"], table, manifest


def test_off_by_default(folder):
    kept, unrelated, table, manifest = prepared(folder, "mixed")
    assert (kept, unrelated) == (N, 0) and "unrelated" not in table
    assert "min_relation" not in manifest["recipe"]["cleaning"], "data prepared before it stays as it is"


def test_right_pairs_stay(folder):
    assert prepared(folder, "right", min_relation=0.01)[:2] == (N, 0)


@pytest.mark.parametrize("deduplicate", [True, False])
@pytest.mark.parametrize("both", [True, False])
def test_wrong_pairs_are_dropped_and_counted(folder, deduplicate, both):
    wrong = len(mixed()[2])
    kept, unrelated, table, manifest = prepared(folder, "mixed", both, min_relation=0.01, deduplicate=deduplicate)
    assert unrelated == wrong == 40 and kept == N - wrong
    assert f"unrelated {wrong} 5.00 %" in table
    train = next(s for s in manifest["sets"] if s["name"] == "train")
    assert sum(s["sentences"] for s in train["shards"]) == (N - wrong) * (2 if both else 1)


@pytest.mark.parametrize("deduplicate", [True, False])
def test_no_piece_of_the_vocabulary_is_from_dropped_pairs(folder, deduplicate):
    en, de, wrong = mixed()
    en = [text.replace(".", " ж." if i in wrong else ".") for i, text in enumerate(en)]
    for side, text in (("en", en), ("de", de)):
        (folder / f"odd.{side}").write_text("".join(x + "\n" for x in text), encoding="utf-8")
    assert prepared(folder, "odd", min_relation=0.01, deduplicate=deduplicate)[1] == len(wrong)
    newest = max(folder.glob("out-*"), key=lambda path: path.stat().st_mtime_ns)
    assert "ж" not in (newest / "source.vocab").read_text(encoding="utf-8")


def test_without_the_check_of_whole_files(folder):
    assert prepared(folder, "mixed", min_relation=0.5, check_relation=False)[1] == 40


def strange(folder, name, n, numbers=0, late=0):
    """Write n pairs of words that occur once, so that no dictionary can be learned; every `numbers`-th has a number on both sides. The
    target is `late` lines late. Returns the recipe."""
    rng = random.Random(3)

    def line(i):
        words = ["".join(rng.choice("abcdefghij") for _ in range(8)) for _ in range(4)]
        return " ".join(words + [str(10000 + i)] * (numbers > 0 and i % numbers == 0)) + "\n"
    for side, shift in (("en", 0), ("de", late)):
        (folder / f"{name}.{side}").write_text("".join(line(i - shift) for i in range(n)), encoding="utf-8")
    files = [{"source": f"{name}.en", "target": f"{name}.de"}]
    return recipe(folder, data={"pairs": [{"source_lang": "en", "target_lang": "de", "train": files}]},
                  vocabulary={"sample_lines": 100})


def test_a_warning_where_nothing_can_be_told(tmp_path):
    """Lines in another order look like this: nothing can be learned from them, so that nothing is found in the neighbours either."""
    said = prepare(strange(tmp_path, "few", 999), tmp_path / "few")
    assert "relation_unknown" not in said
    said = prepare(strange(tmp_path, "many", 1000), tmp_path / "many")
    assert 'event="relation_unknown" source=many.en target=many.de pairs=1000 words=0 reason=' in " ".join(said.split())
    said = prepare(strange(tmp_path, "told", 1000, numbers=4), tmp_path / "told")
    assert "relation_unknown" not in said


def test_few_words_add_up(tmp_path):
    """A file that is shifted from its first line on is refused as a whole if no part of it has words enough to tell."""
    shifted = strange(tmp_path, "shifted", 6000, numbers=20, late=1)
    said = run([TRAIN, "prepare", str(shifted), "--data", str(tmp_path), "--out", str(tmp_path / "out")], expect=2)
    assert "of 6000 pairs of lines from pair 1 on 0 source words" in said and "the target is one line late" in said
