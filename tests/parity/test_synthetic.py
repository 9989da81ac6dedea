"""Training text made by a model: `dragoman-train filter`, `backtranslate` and `distill` with the shipped bundle on ordinary
sentences (tests/data/pairs), and `back_translated` in recipes."""
import json
import os
import random
import signal
import subprocess
import time

from train_runs import RECIPE, TRAIN, run
from train_runs import data  # noqa: F401  a fixture

BUNDLE = "weights/bundles/en-de-fr"
PAIRS = "tests/data/pairs/everyday"


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().splitlines()


def write(path, text):
    path.write_text("".join(line + "\n" for line in text), encoding="utf-8")
    return str(path)


def pair_files(out):
    return lines(f"{out}.en"), lines(f"{out}.de")


def test_a_verb_does_not_guess_the_languages(tmp_path):
    """The first of four pairs was taken: German text was translated as English, and got 0.75 BLEU."""
    text = write(tmp_path / "text.de", ["Ein Hund."])
    for verb in (["backtranslate", BUNDLE, text], ["filter", BUNDLE, text, text], ["distill", BUNDLE, text], ["evaluate", BUNDLE, text, text]):
        out = [] if verb[0] == "evaluate" else ["--out", str(tmp_path / "out")]
        assert "en-de-fr translates en-de, de-en, en-fr, fr-en: choose with --from and --to" in run([TRAIN, *verb, *out], expect=2)
        assert "en-de-fr translates en-de, en-fr: choose" in run([TRAIN, *verb, *out, "--from", "en"], expect=2)
        assert "en-de-fr does not translate from de to fr" in run([TRAIN, *verb, *out, "--from", "de", "--to", "fr"], expect=2)
    assert not list(tmp_path.glob("out*"))
    assert "BLEU" in run([TRAIN, "evaluate", BUNDLE, text, write(tmp_path / "text.en", ["A dog."]), "--from", "DE"])


def test_a_model_may_be_named_as_it_is_installed(tmp_path, monkeypatch):
    monkeypatch.setenv("DRAGOMAN_MODELS", os.path.dirname(BUNDLE))
    text = write(tmp_path / "text.de", ["Ein Hund."])
    run([TRAIN, "backtranslate", "en-de-fr", text, "--out", str(tmp_path / "made"), "--from", "de", "--quiet"])
    assert len(lines(tmp_path / "made.en")) == 1
    assert '"nobody" is not a folder' in run([TRAIN, "evaluate", "nobody", text, text], expect=1)
    assert json.loads(run([TRAIN, "recipe", "small", "--init", "en-de-fr"]))["init"] == os.path.abspath(BUNDLE)


# filter -------------------------------------------------------------------------------------------------------

def test_filter_finds_what_does_not_translate(tmp_path):
    """Every third translation belongs to another line: keeping two thirds keeps the right ones."""
    en, de = pair_files(PAIRS)
    wrong = list(range(0, len(en), 3))
    moved = dict(zip(wrong, wrong[1:] + wrong[:1]))
    shuffled = [de[moved.get(i, i)] for i in range(len(de))]
    source, target = write(tmp_path / "in.en", en), write(tmp_path / "in.de", shuffled)
    args = [TRAIN, "filter", BUNDLE, source, target, "--out", str(tmp_path / "kept"), "--from", "en", "--to", "de", "--keep", "0.66", "--quiet"]
    assert f"{round(len(en) * 0.66)} of {len(en)} pairs kept" in run(args)
    kept = list(zip(*pair_files(tmp_path / "kept")))
    right, everything = set(zip(en, de)), list(zip(en, shuffled))
    print("%d wrong ones of %d stay" % (len(set(kept) - right), len(wrong)))
    assert len(set(kept) - right) <= 3
    assert kept == [p for p in everything if p in set(kept)]  # in the original order
    scores = [float(s) for s in lines(tmp_path / "kept.scores")]
    assert len(scores) == len(en) and {p for p, s in zip(everything, scores) if s <= sorted(scores)[len(kept) - 1]} == set(kept)


def test_filter_names_what_it_cannot_score(tmp_path):
    """Empty lines and lines longer than the model's positions get no score and are dropped. Files of different lengths are
    refused."""
    en, de = pair_files(PAIRS)
    source = write(tmp_path / "in.en", ["", "word " * 2000] + en[:4])
    target = write(tmp_path / "in.de", ["Leer.", "Wort " * 2000] + de[:4])
    args = [TRAIN, "filter", BUNDLE, source, target, "--out", str(tmp_path / "kept"), "--from", "en", "--to", "de", "--keep", "1", "--quiet"]
    assert "4 of 6 pairs kept (2 have no score" in run(args)
    assert lines(tmp_path / "kept.scores")[:2] == ["-", "-"]
    write(tmp_path / "in.de", de[:5])
    assert "kept.scores exists and was made from something else" in run(args, expect=2)
    said = run([a.replace("/kept", "/other") for a in args], expect=1)
    assert "in.en" in said and "in.de" in said
    assert "from 0 to 1" in run(args[:-2] + ["1.5", "--quiet"], expect=2)


def filter_command(tmp_path, source, target, out, keep="0.5"):
    return [TRAIN, "filter", "tests/data/en-de", str(source), str(target), "--out", str(tmp_path / out), "--from", "en", "--to", "de",
            "--keep", keep, "--quiet"]


def test_filter_spares_its_inputs(tmp_path):
    """An output that is an input, under this or another name, is refused before anything is written."""
    en, de = (side[:6] for side in pair_files(PAIRS))
    write(tmp_path / "corpus.en", en)
    write(tmp_path / "corpus.de", de)
    os.link(tmp_path / "corpus.de", tmp_path / "other.de")
    (tmp_path / "parts.en.part").symlink_to("corpus.en")
    before = sorted(os.listdir(tmp_path))
    for out, named in ("corpus", "corpus.en is an input"), ("other", "other.de is an input"), ("parts", "parts.en.part is an input"):
        assert named in run(filter_command(tmp_path, tmp_path / "corpus.en", tmp_path / "corpus.de", out), expect=2)
    assert pair_files(tmp_path / "corpus") == (en, de) and sorted(os.listdir(tmp_path)) == before
    args = [TRAIN, "backtranslate", "tests/data/en-de", str(tmp_path / "corpus.en"), "--out", str(tmp_path / "corpus"), "--quiet"]
    assert "corpus.en is an input" in run(args, expect=2)


def test_filter_replaces_no_other_files(tmp_path):
    """Files that the filter did not write stay as they are, and it tells so before it scores. Its own are complete and stay, too."""
    en, de = (side[:6] for side in pair_files(PAIRS))
    source, target = write(tmp_path / "in.en", en), write(tmp_path / "in.de", de)
    write(tmp_path / "kept.de", ["precious"])
    assert "kept.de exists and was made from something else" in run(filter_command(tmp_path, source, target, "kept"), expect=2)
    assert sorted(os.listdir(tmp_path)) == ["in.de", "in.en", "kept.de"] and lines(tmp_path / "kept.de") == ["precious"]
    (tmp_path / "kept.de").unlink()
    said = run(filter_command(tmp_path, source, target, "kept"))
    assert "3 of 6 pairs kept" in said and not list(tmp_path.glob("*.part"))
    made = pair_files(tmp_path / "kept")
    times = [(tmp_path / name).stat().st_mtime_ns for name in ("kept.en", "kept.de", "kept.scores")]
    assert run(filter_command(tmp_path, source, target, "kept")) == said
    assert [(tmp_path / name).stat().st_mtime_ns for name in ("kept.en", "kept.de", "kept.scores")] == times
    # Another share is another selection; once the old one is gone, it is made of the same scores.
    assert "kept.en exists and was made from something else" in run(filter_command(tmp_path, source, target, "kept", "1"), expect=2)
    assert pair_files(tmp_path / "kept") == made
    for name in "kept.en", "kept.de":
        (tmp_path / name).unlink()
    assert "6 of 6 pairs kept" in run(filter_command(tmp_path, source, target, "kept", "1"))
    assert pair_files(tmp_path / "kept") == (en, de) and (tmp_path / "kept.scores").stat().st_mtime_ns == times[2]
    write(tmp_path / "kept.en", ["edited"])
    assert "kept.en exists and was made from something else" in run(filter_command(tmp_path, source, target, "kept", "1"), expect=2)


def test_a_score_of_minus_zero_is_one(tmp_path):
    """A model that is sure of every token gives a pair 0 nats, written as -0.000000: the best pair was left out when its score was read
    again."""
    en, de = (side[:6] for side in pair_files(PAIRS))
    source, target = write(tmp_path / "in.en", en), write(tmp_path / "in.de", de)
    run(filter_command(tmp_path, source, target, "kept"))
    *others, last = lines(tmp_path / "kept.scores")
    write(tmp_path / "kept.scores", others + ["-0." + "0" * (len(last) - 3)])
    for name in "kept.en", "kept.de":
        (tmp_path / name).unlink()
    assert "1 of 6 pairs kept" in run(filter_command(tmp_path, source, target, "kept", "0.1"))
    assert pair_files(tmp_path / "kept") == (en[5:], de[5:])


def test_filter_goes_on_before_the_last_step(tmp_path):
    """Killed when all kept pairs were written, but not yet renamed: they are there once."""
    en, de = (side[:6] for side in pair_files(PAIRS))
    source, target = write(tmp_path / "in.en", en), write(tmp_path / "in.de", de)
    run(filter_command(tmp_path, source, target, "kept"))
    made = pair_files(tmp_path / "kept")
    state = json.loads((tmp_path / "kept.en.json").read_text())
    assert state.pop("done") is True
    (tmp_path / "kept.en.json").write_text(json.dumps(state))
    for name in "kept.en", "kept.de":
        (tmp_path / name).rename(tmp_path / (name + ".part"))
    run(filter_command(tmp_path, source, target, "kept"))
    assert pair_files(tmp_path / "kept") == made and not list(tmp_path.glob("*.part"))


def test_filter_goes_on_between_the_last_renames(tmp_path):
    """Killed when some files had their names and others not yet: the rest are renamed, and nothing is refused or done again."""
    en, de = (side[:6] for side in pair_files(PAIRS))
    source, target = write(tmp_path / "in.en", en), write(tmp_path / "in.de", de)
    said = run(filter_command(tmp_path, source, target, "kept"))
    names = ["kept.scores", "kept.en", "kept.de"]
    made = {name: (tmp_path / name).read_bytes() for name in names}
    for left in names, names[1:], names[2:]:
        for name in left:
            (tmp_path / name).rename(tmp_path / (name + ".part"))
        assert run(filter_command(tmp_path, source, target, "kept")) == said
        assert {name: (tmp_path / name).read_bytes() for name in names} == made and not list(tmp_path.glob("*.part"))
    (tmp_path / "kept.de").rename(tmp_path / "kept.de.part")
    write(tmp_path / "kept.de", ["precious"])
    assert "kept.en exists and was made from something else" in run(filter_command(tmp_path, source, target, "kept"), expect=2)
    assert lines(tmp_path / "kept.de") == ["precious"] and (tmp_path / "kept.de.part").read_bytes() == made["kept.de"]


def test_pipes_are_refused(tmp_path):
    """Inputs are read more than once, so a pipe, which gives its text once, is none. Nothing is written."""
    en, de = (write(tmp_path / f"in.{i}", side[:30]) for i, side in enumerate(pair_files(PAIRS)))
    out = tmp_path / "out"
    out.mkdir()
    for args in (["backtranslate", "tests/data/en-de", "<(cat EN)", "--out", "OUT/a", "--from", "en", "--to", "de"],
                 ["filter", "tests/data/en-de", "EN", "<(cat DE)", "--out", "OUT/b", "--from", "en", "--to", "de", "--keep", "1"],
                 ["distill", "tests/data/en-de", "<(cat EN)", "--out", "OUT/c", "--from", "en", "--to", "de"]):
        text = " ".join([TRAIN, *args, "--quiet"]).replace("EN", en).replace("DE", de).replace("OUT", str(out))
        said = run(["bash", "-c", text], expect=2)
        assert "is not a regular file, must be one: it is read more than once" in said
        assert not [path for path in out.rglob("*") if path.is_file()]


def test_filter_scores_are_of_one_direction(tmp_path):
    """The scores of English to German are none of German to English."""
    en, de = (side[:3] for side in pair_files(PAIRS))
    source, target = write(tmp_path / "in.en", en), write(tmp_path / "in.de", de)
    args = [TRAIN, "filter", BUNDLE, source, target, "--out", str(tmp_path / "kept"), "--keep", "1", "--quiet", "--from", "en", "--to"]
    run(args + ["de"])
    assert "kept.scores exists and was made from something else" in run(args + ["fr"], expect=2)


# backtranslate ------------------------------------------------------------------------------------------------

def by_server(text, source, target):
    args = [TRAIN.replace("dragoman-train", "dragoman"), "translate", "--model", BUNDLE, "--source-lang", source, "--target-lang", target]
    return subprocess.run(args, input="".join(line + "\n" for line in text), capture_output=True, text=True, check=True).stdout.splitlines()


def test_backtranslate_is_what_the_server_says(tmp_path):
    """Lines that are not text are left out on both sides."""
    de = lines(PAIRS + ".de")[:20]
    text = write(tmp_path / "mono.de", de[:5] + ["", "\x01"] + de[5:])
    args = [TRAIN, "backtranslate", BUNDLE, text, "--out", str(tmp_path / "made"), "--from", "de", "--to", "en", "--quiet"]
    said = run(args)
    assert "20 pairs of 22 lines (2 are no text, 0 the model did not manage)" in said and '"back_translated": "source"' in said
    made_en, made_de = pair_files(tmp_path / "made")
    assert made_de == de and made_en == by_server(de, "de", "en")
    before = (tmp_path / "made.en").stat().st_mtime_ns
    run(args)  # all is done already
    assert (tmp_path / "made.en").stat().st_mtime_ns == before
    write(tmp_path / "mono.de", de[:4])
    assert "was made from something else" in run(args, expect=2)


def test_backtranslate_goes_on_after_sigterm(tmp_path):
    rng = random.Random(3)
    words = [w.strip(".,?") for line in lines(PAIRS + ".de") for w in line.split()]
    text = write(tmp_path / "mono.de", (" ".join(rng.choices(words, k=12)) + "." for _ in range(1500)))
    def args(out):
        return [TRAIN, "backtranslate", BUNDLE, text, "--out", str(tmp_path / out), "--from", "de", "--to", "en", "--beam", "1", "--quiet"]
    process = subprocess.Popen(args("stopped"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.time() + 120
    while time.time() < end and process.poll() is None and not any(p.stat().st_size for p in tmp_path.glob("stopped*.part")):
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=60)[1]
    assert process.returncode != 0 and "stopped" in said, said
    assert not (tmp_path / "stopped.en").exists()
    run(args("stopped"))
    run(args("whole"))
    assert pair_files(tmp_path / "stopped") == pair_files(tmp_path / "whole")
    assert not list(tmp_path.glob("*.part"))


def recipe(data, name, **file):
    r = json.loads(json.dumps(RECIPE))
    r["data"]["pairs"][0]["both_directions"] = True
    r["vocabulary"]["size"] = 64
    r["data"]["pairs"][0]["train"].append(dict({"source": "made.en", "target": "made.xx"}, **file))
    path = data / name
    path.write_text(json.dumps(r), encoding="utf-8")
    return str(path)


def prepare(path, data, out, *more, expect=0):
    return run([TRAIN, "prepare", path, "--data", str(data), "--out", str(out), *more], expect=expect)


def test_back_translated_text_is_a_source_only(data, tmp_path):
    """A file whose source a model made is trained in that direction only, with <bt> before each source."""
    write(data / "made.en", ["alpha beta gamma"] * 10)
    write(data / "made.xx", ["gammao betao alphao"] * 10)
    said = {}
    for side in ("", "source", "target"):
        more = {"back_translated": side} if side else {}
        prepare(recipe(data, f"bt-{side}.json", **more), data, tmp_path / f"p-{side}", "--quiet")
        said[side] = json.loads((tmp_path / f"p-{side}" / "prepared.json").read_text())
    assert {side: p["sets"][0]["shards"][0]["sentences"] for side, p in said.items()} == {"": 1220, "source": 1210, "target": 1210}
    for side, made in ("source", "alpha beta gamma"), ("target", "gammao betao alphao"):
        folder = tmp_path / f"p-{side}"
        pieces = [line.split("\t")[0] for line in lines(folder / "source.vocab")]
        out = run([TRAIN, "batches", str(data / f"bt-{side}.json"), "--prepared", str(folder), "--data", str(data), "--lines", "500"])
        sources = ["".join(pieces[i] for i in row) for batch in out.splitlines() for row in json.loads(batch)["source"]][:1210]  # one epoch
        tag = "<2xx>" if side == "source" else "<2en>"
        assert len(sources) == 1210 and sum("<bt>" in s for s in sources) == 10
        assert sources.count(tag + "<bt>\u2581" + made.replace(" ", "\u2581") + "</s>") == 10


def test_back_translated_is_checked(data):
    write(data / "made.en", ["alpha"])
    write(data / "made.xx", ["alphao"])
    said = run([TRAIN, "recipe", recipe(data, "bad.json", back_translated="both")], expect=2)
    assert "data.pairs[0].train[1].back_translated is \"both\", must be source or target" in said
    r = json.loads((data / "bad.json").read_text())
    r["data"]["pairs"][0].update(both_directions=False)
    r["data"]["pairs"][0]["train"][1]["back_translated"] = "target"
    (data / "bad.json").write_text(json.dumps(r))
    assert "only a pair of both_directions" in run([TRAIN, "recipe", str(data / "bad.json")], expect=2)


# distill ------------------------------------------------------------------------------------------------------

TINY = {k: RECIPE[k] for k in ("cleaning", "model", "training")} | {"vocabulary": {"size": 400, "character_coverage": 1}}


def test_distill_checks_its_recipe_first(tmp_path):
    """A wrong recipe or setting is refused before a line is translated, and the right one is taken afterwards."""
    text = write(tmp_path / "text.en", lines(PAIRS + ".en")[:40])
    tiny, out = tmp_path / "tiny.json", tmp_path / "student"

    def distill(*more, expect=0):
        return run([TRAIN, "distill", "tests/data/en-de", text, *more, "--beam", "1", "--out", str(out), "--quiet", "--no-scores"],
                   expect=expect)
    wrong = json.loads(json.dumps(TINY))
    wrong["training"]["dropout"] = 2
    tiny.write_text(json.dumps(wrong), encoding="utf-8")
    assert 'preset is "smal", must be one of small, base' in distill("smal", expect=2)
    assert "training.dropout is 2" in distill(str(tiny), expect=2)
    tiny.write_text(json.dumps(TINY), encoding="utf-8")
    assert "training.dropout is 3" in distill(str(tiny), "--set", "training.dropout=3", expect=2)
    assert 'device "gpu": expected auto, cpu' in distill(str(tiny), "--device", "gpu", expect=2)
    assert "cuda:63 cannot be used: " in distill(str(tiny), "--device", "cuda:63", expect=1)
    assert 'precision "fp8": expected ' in distill(str(tiny), "--precision", "fp8", expect=2)
    assert not os.listdir(out / "text")
    distill(str(tiny), "--set", "training.updates=4")
    made = json.loads((out / "recipe.json").read_text())
    assert made["model"]["d_model"] == 16 and made["data"]["pairs"][0]["train"][0]["source"] == "text/train.en"
    # The run has begun: another recipe is refused, the same one or none resumes it.
    assert "begun with another recipe (without RECIPE, it continues): " in distill("base", expect=2)
    wrong["training"]["dropout"] = 0.1
    tiny.write_text(json.dumps(wrong), encoding="utf-8")
    assert "it continues): training.dropout: 0.1, was 0.2" in distill(str(tiny), expect=2)
    tiny.unlink()
    distill("--set", "training.updates=8")
    assert json.loads((out / "run" / "bundle" / "manifest.json").read_text())["training"]["updates"] == 8
    assert json.loads((out / "recipe.json").read_text()) == made


def test_distill_leaves_out_weights_of_domains(tmp_path):
    """Recipes such as en-de-small weigh the domains of their own files, which the student does not see."""
    text = write(tmp_path / "text.en", lines(PAIRS + ".en")[:40])
    file = {"source": "train.en", "target": "train.de", "domain": "news"}
    tiny = tmp_path / "tiny.json"
    tiny.write_text(json.dumps(TINY | {"data": {"pairs": [{"source_lang": "en", "target_lang": "de", "train": [file]}],
                                                "domain_weights": {"news": 2}}}), encoding="utf-8")
    run([TRAIN, "distill", "tests/data/en-de", text, str(tiny), "--beam", "1", "--out", str(tmp_path / "student"), "--quiet", "--no-scores",
         "--set", "training.updates=4"])
    assert json.loads((tmp_path / "student" / "recipe.json").read_text())["data"]["domain_weights"] == {}


def test_distill_makes_a_student(data, tmp_path):
    """One command makes a bundle from a teacher and a text; the same command later finds everything done."""
    rng = random.Random(5)
    words = [w.strip(".,?") for line in lines(PAIRS + ".en") for w in line.split()]
    text = write(tmp_path / "text.en", (" ".join(rng.choices(words, k=5)) + "." for _ in range(200)))
    tiny = tmp_path / "tiny.json"
    tiny.write_text(json.dumps(TINY), encoding="utf-8")
    args = [TRAIN, "distill", BUNDLE, text, str(tiny), "--from", "en", "--to", "de", "--beam", "1", "--out", str(tmp_path / "student"), "--quiet"]
    run(args + ["--no-scores"])
    student = tmp_path / "student"
    manifest = json.loads((student / "run" / "bundle" / "manifest.json").read_text())
    assert manifest["pairs"] == [["en", "de"]]
    made = {name: len(lines(student / "text" / name)) for name in ("dev.en", "dev.de", "train.en", "train.de")}
    # The text is nonsense, so some answers are loops and are left out.
    assert made["dev.en"] == made["dev.de"] in range(5, 11) and made["train.en"] == made["train.de"] in range(150, 191)
    card = (student / "run" / "bundle" / "MODEL_CARD.md").read_text()
    assert "student of en-de-fr" in card
    before = (student / "text" / "train.de").stat().st_mtime_ns
    run(args + ["--no-scores"])
    assert (student / "text" / "train.de").stat().st_mtime_ns == before
