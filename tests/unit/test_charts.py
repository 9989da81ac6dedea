"""The charts of docs and bench/results are what bench/charts.py draws from their JSON: none is outdated."""
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DIAGRAMS = ("batch.svg", "request.svg")  # drawn by hand, not from data


def pictures(folder):
    return {os.path.relpath(os.path.join(here, n), folder): open(os.path.join(here, n), encoding="utf-8").read()
            for here, _, names in os.walk(folder) for n in names if n.endswith(".svg")}


def charts(folder):
    return {path: text for top in (os.path.join("bench", "results"), os.path.join("docs", "pictures"))
            for path, text in ((os.path.join(top, n), t) for n, t in pictures(os.path.join(folder, top)).items())
            if os.path.basename(path) not in DIAGRAMS and not os.path.basename(path).startswith("figure")}  # figure*: `dragoman attention`


def program(folder, *arguments):
    return subprocess.run([sys.executable, os.path.join(folder, "bench", "charts.py"), *arguments], capture_output=True, text=True)


def test_charts_are_drawn_from_their_figures(tmp_path):
    for name in ("bench", os.path.join("docs", "pictures")):
        shutil.copytree(os.path.join(ROOT, name), tmp_path / name)
    for name in charts(tmp_path):
        (tmp_path / name).write_text("")
    drawn = program(tmp_path)
    assert drawn.returncode == 0, drawn.stderr
    assert charts(tmp_path) == charts(ROOT)


def test_training_curves_are_drawn_from_logs(tmp_path):
    """Every run has its name and colour, every mark its words; an update that was done twice counts once."""
    def line(**values):
        return json.dumps(values)

    for name, loss in (("a", 5.0), ("b", 4.0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.jsonl").write_text("\n".join(
            [line(kind="train", update=50 * (i + 1), loss=loss - i / 100, lr=0.001, tokens_per_s=1000.0) for i in range(100)]
            + [line(kind="train", update=5000, loss=1.0, lr=0.001, tokens_per_s=1000.0),
               line(kind="valid", update=5000, loss=loss - 1, bleu=20.0, chrf=50.0)]))
    made = program(ROOT, "training", "two", f"first run={tmp_path}/a/log.jsonl", f"second run={tmp_path}/b/log.jsonl",
                   "--mark", "2500=more data", "--out", str(tmp_path))
    assert made.returncode == 0, made.stderr
    with open(tmp_path / "two.json", encoding="utf-8") as f:
        result = json.load(f)
    for run, loss in zip(result["runs"], (5.0, 4.0)):
        points = run["train"]["loss"]
        assert len(points) == 100 and points[0] == [50, loss] and points[-1] == [5000, 1.0]
        assert run["valid"]["bleu"] == [[5000, 20.0]]
    picture = (tmp_path / "two.svg").read_text()
    assert picture.count(">first run: training<") == picture.count(">second run: training<") == 1
    assert picture.count(">more data<") == 4 and str(tmp_path) not in picture
    assert picture.count('class="c0 line"') and picture.count('class="c1 line"')
    wrong = program(ROOT, "training", "two", str(tmp_path / "a" / "log.jsonl"), "--out", str(tmp_path))
    assert wrong.returncode == 2 and "LABEL=LOG" in wrong.stderr


def test_curves_are_named_in_words():
    """A legend names the run, not its log file."""
    for name in os.listdir(os.path.join(ROOT, "docs", "pictures")):
        if name.endswith(".json"):
            with open(os.path.join(ROOT, "docs", "pictures", name), encoding="utf-8") as f:
                labels = [run["label"] for run in json.load(f)["runs"]]
            assert labels and not [label for label in labels if "/" in label or label.endswith(".jsonl")], name


def test_charts_follow_the_readers_scheme():
    found = {**pictures(os.path.join(ROOT, "bench", "results")), **pictures(os.path.join(ROOT, "docs", "pictures"))}
    assert len(found) >= 10
    for name, text in found.items():
        assert "prefers-color-scheme:dark" in text and text.count("<svg") == 1, name


def test_pictures_name_files_that_exist():
    named = {path for text in pictures(os.path.join(ROOT, "docs", "pictures")).values() for path in re.findall(r"\b[a-z_]+(?:/[a-z0-9_]+)+\.[ch]\b", text)}
    assert len(named) > 8
    assert [path for path in sorted(named) if not os.path.exists(os.path.join(ROOT, path))] == []
