"""docs/paper.md's tables match bench/results/paper/, and none of the paper's figures stands where ours should."""
import json
import re
import subprocess
import sys

import pytest

REPORT = [sys.executable, "bench/paper/report.py"]
OURS = {"table2": ["ours: newstest2014, sacreBLEU"], "grid": ["PPL on val", "BLEU on val", "took"],
        "since": ["PPL on val", "BLEU on val", "CPU time a line", "took", "machine"],
        "positions": ["ours: PPL, sinusoids", "ours: PPL, learned", "ours: pieces"],
        "parsing": ["ours: sentences", "ours: recall", "ours: precision", "ours: F1", "ours: answers repaired"]}


def columns(page, block):
    """{head: cells} of the first table of a block."""
    text = re.search(rf"<!-- paper: {block} -->\n\n(.*?)\n\n", page, re.S).group(1)
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return {head: [row[i] for row in lines[2:]] for i, head in enumerate(lines[0])}


def rebuilt(tmp_path, results):
    page = tmp_path / "paper.md"
    page.write_bytes(open("docs/paper.md", "rb").read())
    subprocess.run([*REPORT, "--page", str(page), "--results", str(results)], check=True)
    return page.read_text()


def test_the_page_is_up_to_date():
    done = subprocess.run([*REPORT, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("block", OURS)
def test_without_results_nothing_is_measured(block, tmp_path):
    found = columns(rebuilt(tmp_path, tmp_path / "none"), block)
    cells = [cell for head in OURS[block] for cell in found[head]]
    assert cells and all(cell == "–" or re.fullmatch(r"recipe only: needs [\d,]+ core-minutes", cell) for cell in cells)


def test_results_come_into_their_rows(tmp_path):
    (tmp_path / "grid").mkdir()
    one = {"row": "c-n2", "seed": 1, "perplexity": 7.123, "bleu": 12.34, "cpu_seconds": 600, "precision": "fp32"}
    (tmp_path / "grid" / "c-n2.json").write_text(json.dumps(one))
    found = columns(rebuilt(tmp_path, tmp_path), "grid")
    at = found["paper's change"].index("N 2")
    assert (found["PPL on val"][at], found["BLEU on val"][at], found["took"][at]) == ("7.12", "12.3", "10 core-minutes, fp32")
    assert [x for x in found["BLEU on val"] if x != "–"] == ["12.3"]


def test_measured_translations_and_parses_come_into_their_tables(tmp_path):
    machine = {"cpu": "A CPU", "flags": ["avx2"]}
    (tmp_path / "table2.json").write_text(json.dumps({
        "bundle": "en-de-fr", "version": "0123456789abcdef", "parameters": 10957440, "trained_pairs": 1617870, "machine": machine, "date": "2026-11-24",
        "pairs": {"en-de": {"bleu": 14.84, "cpu_seconds": 30.4}, "en-fr": {"bleu": 22.96, "cpu_seconds": 40.4}}}))
    scores = {"sentences": 1000, "recall": 61.25, "precision": 63.5, "f1": 62.36, "repaired": 17}
    (tmp_path / "parsing-tiny.json").write_text(json.dumps({
        "updates": 8000, "precision": "fp32", "rate": 0.4, "beam": 4, "cpu_seconds": 2400, "machine": machine, "date": "2026-11-24",
        "tests": {part: scores for part in ("gum-test", "craft-test", "wsj-sample-test")}}))
    page = rebuilt(tmp_path, tmp_path)
    found = columns(page, "table2")
    assert [x for x in found["ours: newstest2014, sacreBLEU"] if not x.startswith("recipe only")] == ["14.8", "23.0"]
    assert found["paper: newstest2014, tokenised BLEU"][-2:] == ["–", "–"]
    assert "11.0 million parameters, trained on 1,617,870 pairs" in page and "71 CPU seconds" in page
    found = columns(page, "parsing")
    assert [x for x in found["ours: F1"] if x != "–"] == ["62.4"] * 3 and "40 core-minutes in all" in page


def test_what_came_since_names_precision_and_machine(tmp_path):
    (tmp_path / "grid").mkdir()
    one = {"row": "ssru", "seed": 1, "perplexity": 8.5, "bleu": 31.25, "cpu_seconds": 540, "precision": "fp32", "translate_cpu_seconds": 2.028, "lines": 1014,
           "machine": {"cpu": "A CPU", "flags": ["avx2"]}}
    (tmp_path / "grid" / "since-ssru.json").write_text(json.dumps(one))
    found = columns(rebuilt(tmp_path, tmp_path), "since")
    at = found["recipe"].index("`since/ssru.json`")
    assert [found[head][at] for head in OURS["since"]] == ["8.50", "31.2", "2.0 ms", "9 core-minutes, fp32", "A CPU (avx2)"]
    assert [x for x in found["CPU time a line"] if x != "–"] == ["2.0 ms"]


def test_places_are_counted_in_lines():
    sys.path.insert(0, "bench/paper")
    import positions
    half, quarter = -0.6931471805599453, -1.3862943611198906
    found = positions.ranges({"sinusoids": [[half] * 20, [half] * 3], "learned": [[half] * 16 + [quarter] * 4, [half] * 3]})
    assert [(x["from"], x["to"], x["pieces"]) for x in found] == [(1, 16, 19), (17, 32, 4)]
    assert [round(x["learned"], 6) for x in found] == [2, 4] and [round(x["sinusoids"], 6) for x in found] == [2, 2]


def test_an_unknown_block_is_refused(tmp_path):
    page = tmp_path / "paper.md"
    page.write_text("<!-- paper: table9 -->\n<!-- end -->\n")
    done = subprocess.run([*REPORT, "--page", str(page)], capture_output=True, text=True)
    assert done.returncode == 1 and "table9" in done.stderr
