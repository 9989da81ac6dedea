"""`dragoman attention`: every weight of every golden model against the independent implementation (tests/golden), and the
pictures against the weights."""
import json
import os
import subprocess
import xml.etree.ElementTree as ET

import pytest

import widened

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "data")
HUGGINGFACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "convert", "huggingface")
DRAGOMAN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin", "dragoman")
MODELS = sorted(n[:-5] for n in os.listdir(GOLDEN) if n.endswith(".json") and not n.startswith("train-"))
TOLERANCE = 1e-5  # float32 against float64, with six decimals in the expected values
SVG = "{http://www.w3.org/2000/svg}"


def run(args, code=0):
    done = subprocess.run([DRAGOMAN, "attention"] + args, text=True, encoding="utf-8", capture_output=True, timeout=120,
                          env=widened.environment())
    assert done.returncode == code, f"{' '.join(args)}: {done.stderr}"
    return done.stdout if code == 0 else done.stderr


def golden(name):
    with open(os.path.join(GOLDEN, name + ".json"), encoding="utf-8") as f:
        return json.load(f)


def vocabulary(name, side):
    with open(os.path.join(GOLDEN, name, "manifest.json"), encoding="utf-8") as f:
        files = json.load(f)["files"]
    with open(os.path.join(GOLDEN, name, files[side + "_vocab"]), encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def texts(name, case):
    return [" ".join(vocabulary(name, side)[i] for i in case[side]) for side in ("source", "target")]


def flat(value):
    return [x for v in value for x in flat(v)] if isinstance(value, list) else [value]


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("name", MODELS)
def test_weights(name, kind):
    cases = golden(name)["attention"]
    assert cases
    for case in cases:
        source, target = texts(name, case)
        got = json.loads(run(["--model", os.path.join(GOLDEN, name), "--pieces", "--source", source, "--target", target,
                              "--kind", kind, "--json"]))
        want = case[kind]
        L, H, rows, columns = want["shape"]
        assert len(got["layers"]) == L and all(len(l["heads"]) == H for l in got["layers"])
        assert all(len(h) == rows and all(len(r) == columns for r in h) for l in got["layers"] for h in l["heads"])
        weights = flat([l["heads"] for l in got["layers"]])
        assert max(abs(a - b) for a, b in zip(weights, want["weights"])) <= TOLERANCE
        assert got["target_tokens"] == target.split() + ["</s>"]
        assert got["source_tokens"][:len(case["source"])] == source.split()


@pytest.fixture(scope="session")
def words_model(tmp_path_factory):
    """A model that accepts text."""
    out = tmp_path_factory.mktemp("attention") / "b"
    subprocess.run([DRAGOMAN, "convert", "huggingface", os.path.join(HUGGINGFACE, "swish"), "--out", str(out)], check=True,
                   stdout=subprocess.DEVNULL)
    return str(out)


def picture(args, tmp_path):
    out = tmp_path / "a.svg"
    run(args + ["--out", str(out)])
    return ET.parse(out).getroot()


def words_of(pieces):
    """(indices of each word's pieces, words), merged as in the pictures."""
    groups = []
    alone = lambda p: (p[0] == "<" and p[-1] == ">" and len(p) > 2) or all(c in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" for c in p)
    for i, p in enumerate(pieces):
        before = pieces[i - 1] if i else ""
        if i and before != "▁" and (p.startswith("▁") or alone(p) or alone(before)) or i == 0 or p.startswith("▁"):
            groups.append([])
        groups[-1].append(i)
    return groups, ["".join(pieces[i].removeprefix("▁") for i in g) for g in groups]


def merged(table, rows, columns):
    return [[sum(sum(table[i][k] for k in c) for i in r) / len(r) for c in columns] for r in rows]


def lines_of(group):
    return [(float(x.get("y1")), float(x.get("y2")), float(x.get("stroke-opacity"))) for x in group.findall(SVG + "line")]


SOURCE, TARGET = "The old lighthouse, 14 March.", "Der alte Leuchtturm <14>."


def test_lines_are_the_weights(words_model, tmp_path):
    args = ["--model", words_model, "--source", SOURCE, "--target", TARGET, "--kind", "cross"]
    raw = json.loads(run(args + ["--json", "--layer", "1"]))
    rows, row_words = words_of(raw["target_tokens"])
    columns, column_words = words_of(raw["source_tokens"])
    assert "lighthouse" in column_words and column_words[-1] == "</s>" and len(columns) < len(raw["source_tokens"])
    root = picture(args + ["--heads", "all"], tmp_path)
    groups = [g for g in root.findall(SVG + "g") if g.get("stroke")]
    assert len(groups) == 4 and len({g.get("stroke") for g in groups}) == 4
    for head, group in zip(raw["layers"][0]["heads"], groups):
        want = [(r, c, w) for r, row in enumerate(merged(head, rows, columns)) for c, w in enumerate(row) if w > 0.0051]
        got = lines_of(group)
        assert abs(len(got) - len(want)) <= sum(1 for row in merged(head, rows, columns) for w in row if 0.0049 < w <= 0.0051)
        for (r, c, w) in want:
            assert any(abs(y1 - (64 + 22 * r + 11)) < 1 and abs(y2 - (64 + 22 * c + 11)) < 1 and abs(o - w) < 6e-4
                       for y1, y2, o in got), (r, c, w)
    labels = [t.text for t in root.findall(SVG + "text")]
    assert labels[-len(column_words):] == column_words
    assert labels[-len(column_words) - len(row_words):-len(column_words)] == row_words


def test_one_word_and_two_heads(words_model, tmp_path):
    args = ["--model", words_model, "--source", SOURCE, "--kind", "encoder", "--layer", "2", "--heads", "4,2", "--word",
            "lighthouse"]
    root = picture(args, tmp_path)
    groups = [g for g in root.findall(SVG + "g") if g.get("stroke")]
    assert len(groups) == 2
    for group in groups:
        assert len({y1 for y1, _, _ in lines_of(group)}) == 1
        assert sum(o for _, _, o in lines_of(group)) == pytest.approx(1, abs=0.05)
    assert "layer 2 of 2" in root.find(SVG + "title").text
    assert [t.text for t in root.findall(SVG + "text")][1:3] == ["4", "2"]


def test_heat_map(words_model, tmp_path):
    args = ["--model", words_model, "--source", SOURCE, "--target", TARGET, "--kind", "decoder"]
    raw = json.loads(run(args + ["--json"]))
    root = picture(args + ["--heatmap"], tmp_path)
    grids = [g for g in root.findall(SVG + "g") if g.get("fill")]
    assert len(grids) == 4
    start = ["<pad>"] + raw["target_tokens"][:-1]
    rows, words = words_of(start)
    for grid, head in zip(grids, raw["layers"][-1]["heads"]):
        cells = [float(c.get("fill-opacity")) for c in grid.findall(SVG + "rect")]
        want = flat(merged(head, rows, rows))
        assert len(cells) == len(words) ** 2
        assert max(abs(a - b) for a, b in zip(cells, want)) < 6e-4
    # The mask: weights above the diagonal are zero.
    assert all(cells[r * len(words) + c] == 0 for r in range(len(words)) for c in range(r + 1, len(words)))


def test_the_translation_is_found(words_model):
    """Without --target, the weights are for the best translation."""
    args = ["--model", words_model, "--source", SOURCE, "--json", "--beam", "2", "--max-length", "20"]
    found = json.loads(run(args))
    done = subprocess.run([DRAGOMAN, "translate", "--model", words_model, "--beam", "2", "--max-length", "20", "--pieces",
                           "--json"], input=" ".join(found["source_tokens"][:-1]) + "\n", text=True, capture_output=True)
    assert json.loads(done.stdout)["tokens"].split() == [p for p in found["target_tokens"] if p != "</s>"]


def test_the_translation_is_the_one_that_a_request_gets(words_model):
    """A first answer that repeats itself is decoded again, for its weights as for its text."""
    model, source = ["--model", words_model, "--beam", "1"], "Two dogs play in the snow."
    found = json.loads(run([*model, "--source", source, "--json"]))["target_tokens"]
    first, text = (json.loads(subprocess.run([DRAGOMAN, "translate", *model, "--json", *more], input=source + "\n", text=True,
                                             capture_output=True, check=True).stdout)["text"] for more in (["--keep-loops"], []))
    assert "".join(p for p in found if p != "</s>").replace("▁", " ").strip() == text != first


@pytest.mark.parametrize("wrong,message", [
    (["--layer", "3"], "--layer"), (["--heads", "5"], "--heads"), (["--heads", "1,,2"], "--heads"),
    (["--word", "nowhere"], "nowhere"), (["--source", "12 ?"], "nothing to translate")])
def test_what_is_refused(words_model, tmp_path, wrong, message):
    args = ["--model", words_model, "--source", SOURCE, "--target", TARGET, "--kind", "encoder", "--out", str(tmp_path / "x.svg")]
    if wrong[0] == "--source":
        args = args[:4] + args[6:]
    assert message in run(args + wrong, code=1)
    assert not (tmp_path / "x.svg").exists()
