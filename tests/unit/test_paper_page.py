"""docs/paper.md's tables: what bench/results/paper/ gives, and no figure of the paper where ours would be."""
import json
import os
import re
import subprocess
import sys

import pytest

REPORT = [sys.executable, "bench/paper/report.py"]
OURS = {"table2": ["ours: newstest2014, sacreBLEU"], "grid": ["PPL on val", "BLEU on val", "took"],
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


def test_an_unknown_block_is_refused(tmp_path):
    page = tmp_path / "paper.md"
    page.write_text("<!-- paper: table9 -->\n<!-- end -->\n")
    done = subprocess.run([*REPORT, "--page", str(page)], capture_output=True, text=True)
    assert done.returncode == 1 and "table9" in done.stderr
