#!/usr/bin/env python3
"""The tables of docs/paper.md from bench/results/paper/ and the paper's own figures: what is between `<!-- paper: NAME -->` and
`<!-- end -->` is written anew, nothing else.

  report.py [--check] [--results bench/results/paper] [--page docs/paper.md]

A row without a result says what it needs. --check writes nothing and fails where the page is not what it would write.
"""
import argparse
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import facts  # noqa: E402
import grid  # noqa: E402
import parsing  # noqa: E402
import positions as positions_program  # noqa: E402
import record  # noqa: E402
import shapes  # noqa: E402

VOCABULARY = 37000
# Seconds of one Zen 3 core in fp32 for an update of base with 25,000 + 25,000 tokens: trainer/README.md, "Memory and threads".
SECONDS_OF_BASE = 117


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|"] + ["| " + " | ".join(map(str, r)) + " |" for r in rows])


def machine_of(result):
    m = result["machine"]
    return f"{m['cpu']} ({', '.join(m['flags'])})"


def minutes(n):
    return f"{float(f'{n:.3g}'):,.0f} core-minutes"


def needs(n):
    return f"recipe only: needs {minutes(n)}"


# Table 1 ------------------------------------------------------------------------------------------------------

PAPER1 = {"self-attention": ("O(n²·d)", "O(1)", "O(1)"), "recurrent": ("O(n·d²)", "O(n)", "O(n)"),
          "convolution": ("O(k·n·d²)", "O(1)", "O(n/k)"), "separable": ("O(k·n·d + n·d²)", "O(1)", "O(n/k)"),
          "dilated": ("O(k·n·d²)", "O(1)", "O(log_k n)"), "restricted": ("O(r·n·d)", "O(1)", "O(n/r)")}


def table1(results):
    found = record.read_if_there(os.path.join(results, "table1.json"))
    if not found:
        return "recipe only: needs one core-minute (`make paper-table1`)"
    head = ["layer", "paper: complexity", "time grows with", "paper: sequential", "counted at n = 64", "paper: longest path", "found at n = 8, 16, 32, 64",
            f"ms at n = 256, d = {found['fixed']['d']}"]
    rows = []
    for x in found["layers"]:
        paper = PAPER1[x["name"].replace(",", " ").split()[0]]
        ms = next(p["ms"] for p in x["sweeps"]["n"] if p["x"] == 256)
        rows.append([x["name"], paper[0], f"n^{x['growth']['n']['time']:.2f}, d^{x['growth']['d']['time']:.2f}", paper[1], x["paths"][-1]["sequential"],
                     paper[2], ", ".join(str(p["found"]) for p in x["paths"]), f"{ms:.2f}"])
    return table(head, rows) + f"\n\nMeasured on one core of {machine_of(found)}, {found['clock']}, {found['date']}."


# Table 2 ------------------------------------------------------------------------------------------------------

def update_minutes(r, base):
    """Estimated minutes for one update: base's measured time, scaled by the number of operations."""
    def flops(x):
        return shapes.training_flops(x["model"], x["vocabulary"]["size"], x["training"]["batch_tokens"], 25)
    return SECONDS_OF_BASE / 60 * flops(r) / flops(base)


def table2(results):
    base, rows = grid.whole("base-ende"), []
    for name, (row, bleu, _) in facts.TABLE2.items():
        r, ours = grid.whole(name), record.read_if_there(os.path.join(results, "table2", name + ".json"))
        measured = f"{ours['bleu']:.1f} ({ours['data']}; {machine_of(ours)})" if ours else needs(update_minutes(r, base) * r["training"]["updates"])
        rows.append([f"Transformer, {row}", f"`dragoman-train run {grid.RECIPES}/{name}.json --data data --out run`", bleu, measured])
    found = record.read_if_there(os.path.join(results, "table2.json"))
    for pair, x in found["pairs"].items() if found else ():
        rows.append([f"{found['bundle']}, {pair.upper()}", "`make paper-table2`", "–", f"{x['bleu']:.1f}"])
    note = (f"\n\n{found['bundle']} {found['version'][:12]}: {found['parameters'] / 1e6:.1f} million parameters, trained on {found['trained_pairs']:,} pairs of both languages; scored on "
            f"{machine_of(found)}, {sum(x['cpu_seconds'] for x in found['pairs'].values()):.0f} CPU seconds, {found['date']}.") if found else ""
    cited = [[name, de or "–", fr or "–", fde or "–", ffr or "–"] for name, de, fr, fde, ffr in facts.OTHERS]
    return (table(["", "command", "paper: newstest2014, tokenised BLEU", "ours: newstest2014, sacreBLEU"], rows) + note + "\n\nCited from the paper, nothing measured here:\n\n"
            + table(["", "EN-DE, tokenised BLEU", "EN-FR, tokenised BLEU", "FLOPs EN-DE", "FLOPs EN-FR"], cited))


def flops(_):
    rows = []
    for name, (row, _, hours) in facts.TABLE2.items():
        r = grid.whole(name)
        by_time = hours * 3600 * facts.GPUS * facts.SUSTAINED
        by_shape = r["training"]["updates"] * shapes.training_flops(r["model"], r["vocabulary"]["size"], r["training"]["batch_tokens"], 25)
        rows.append([row, f"{hours} h · 8 · 9.5 TFLOPS = {by_time:.1e}", f"{by_shape:.1e}", f"{by_time / by_shape:.1f}"])
    return table(["", "paper: time × GPUs × sustained rate", "counted from the shapes", "ratio"], rows)


# Table 3 ------------------------------------------------------------------------------------------------------

def table3(results):
    rows = []
    for name, (row, change, ppl, bleu, printed) in facts.TABLE3.items():
        count = shapes.parameters(grid.whole(f"table3/{name}")["model"], VOCABULARY)
        cells = [str(printed), f"{count / 1e6 - printed:+.1f}"] if printed else ["–", "–"]
        rows.append([row, change or "–", f"`{name}.json`", f"{ppl:.2f}", bleu, cells[0], f"{count:,}", cells[1]])
    return table(["row", "change", "recipe", "paper: PPL", "paper: BLEU", "paper: 10⁶ parameters", "ours at V = 37,000", "difference, 10⁶"], rows)


def grid_cells(results, row):
    """(scaled model, result or None, table cells) of a row of the grid; without a result the cells say what it needs."""
    m, one = grid.scaled(grid.whole(row.recipe)["model"]), record.read_if_there(os.path.join(results, "grid", row.name + ".json"))
    scores = [f"{one['perplexity']:.2f}", f"{one['bleu']:.1f}", minutes(one["cpu_seconds"] / 60) + f", {one['precision']}"] if one else \
        [needs(grid.core_minutes(m, grid.UPDATES)), "–", "–"]
    return m, one, scores


def table3_grid(results):
    rows = []
    for row in grid.rows():
        m, _, scores = grid_cells(results, row)
        name = os.path.basename(row.recipe)
        about = f"N {m['encoder_layers']}, d_model {m['d_model']}, d_ff {m['d_ff']}, h {m['heads']}, d_k {m['d_k']}, d_v {m['d_v']}"
        rows.append([facts.TABLE3[name][0] + (f", seed {row.seed}" if name == "base" else ""), facts.TABLE3[name][1] or "–", about,
                     f"{shapes.parameters(m, grid.VOCABULARY):,}", *scores])
    return table(["row", "paper's change", "scaled", "parameters", "PPL on val", "BLEU on val", "took"], rows)


def since(results):
    rows = []
    for row in grid.since():
        m, one, scores = grid_cells(results, row)
        search = f"{1000 * one['translate_cpu_seconds'] / one['lines']:.1f} ms" if one else "–"
        rows.append([grid.SINCE[row.name][1], f"`{row.recipe}.json`", f"{m['encoder_layers']} + {m['decoder_layers']} layers",
                     f"{shapes.parameters(m, grid.VOCABULARY):,}", *scores[:2], search, scores[2], machine_of(one) if one else "–"])
    return table(["change", "recipe", "scaled", "parameters", "PPL on val", "BLEU on val", "CPU time a line", "took", "machine"], rows)


# Table 4 ------------------------------------------------------------------------------------------------------

PARTS = {"gum-test": "GUM, last 1,000 trees", "craft-test": "CRAFT, last 1,000 trees", "wsj-sample-test": "NLTK's sample of the WSJ"}


def table4(results):
    return table(["parser", "training", "paper: F1 on WSJ 23"], [[*x[:2], f"{x[2]:.1f}"] for x in facts.TABLE4])


def parsers(results):
    head = ["parser", "test set", "ours: sentences", "ours: recall", "ours: precision", "ours: F1", "ours: answers repaired"]
    rows, notes = [], []
    for size in parsing.SIZES:
        found = record.read_if_there(os.path.join(results, f"parsing-{size}.json"))
        for part, about in PARTS.items():
            x = found["tests"][part] if found else {}
            rows.append([f"`parsing-{size}.json`", about, *([f"{x['sentences']:,}", *(f"{x[k]:.1f}" for k in ("recall", "precision", "f1")), f"{x['repaired']:,}"]
                                                           if found else [needs(parsing.core_minutes(size)), "–", "–", "–", "–"])])
        if found:
            notes.append(f"parsing-{size}: {found['updates']:,} updates, {found['precision']}; lr_scale {found['rate']:g} and beam {found['beam']} chosen on "
                         f"other trees of GUM; {minutes(found['cpu_seconds'] / 60)} in all. {machine_of(found)}, {found['date']}.")
    return "\n\n".join([table(head, rows), *notes])


def positions(results):
    found = record.read_if_there(os.path.join(results, "positions.json"))
    head = ["place of a piece in the line", "ours: PPL, sinusoids", "ours: PPL, learned", "ours: pieces"]
    if not found:
        return table(head, [["–", needs(positions_program.core_minutes(grid.UPDATES)), "–", "–"]])
    rows = [[f"{x['from']} to {x['to']}", f"{x['sinusoids']:.2f}", f"{x['learned']:.2f}", f"{x['pieces']:,}"] for x in found["ranges"]]
    return table(head, rows) + (f"\n\n{found['what']}, {found['updates']:,} updates, {found['precision']}; the longest target that was trained has {found['longest']} pieces. "
                                f"{machine_of(found)}, {found['date']}.")


def decoding(results):
    found = record.read_if_there(os.path.join(results, "decoding.json"))
    if not found:
        return "recipe only: needs 2 core-minutes (`make paper-decoding`)"
    def key_of(p):
        return p["beam"], (p["length_penalty"], p.get("length_penalty_cap", 0))

    at = {key_of(p): p for p in found["points"]}
    beams, penalties = (sorted({key[i] for key in at}) for i in (0, 1))
    own = key_of(found["own"])

    def cell(key):
        p = at.get(key)
        if not p:
            return "–"
        text = f"{p['bleu']:.1f} ({p['length_ratio']:.2f}), {p['cpu_ms_a_line']:.1f} ms, {100 * (1 - p['steps'] / p['most_steps']):.0f} %"
        return f"**{text}**" if key == own else text

    rows = [[f"α {x:g}" + (f", at most {cap:g} × source" if cap else ""), *(cell((b, (x, cap))) for b in beams)] for x, cap in penalties]
    return table(["", *(f"beam {b}" for b in beams)], rows) + (
        f"\n\n{found['bundle']} {found['version'][:12]}, {found['pair']}, the first {found['lines']} lines of {found['source']}; one core of {machine_of(found)}, {found['date']}.")


BLOCKS = {"table1": table1, "table2": table2, "flops": flops, "table3": table3, "grid": table3_grid, "since": since, "table4": table4, "parsing": parsers, "positions": positions,
          "decoding": decoding}


def write(page, results):
    def fill(match):
        if match.group(1) not in BLOCKS:
            sys.exit(f"bench: docs have a block \"{match.group(1)}\", must be one of {', '.join(BLOCKS)}")
        return f"<!-- paper: {match.group(1)} -->\n\n{BLOCKS[match.group(1)](results)}\n\n<!-- end -->"

    return re.sub(r"<!-- paper: (\S+) -->.*?<!-- end -->", fill, page, flags=re.S)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--check", action="store_true")
    p.add_argument("--results", default="bench/results/paper")
    p.add_argument("--page", default="docs/paper.md")
    a = p.parse_args()
    with open(a.page, encoding="utf-8") as f:
        was = f.read()
    now = write(was, a.results)
    if a.check and now != was:
        sys.exit(f"bench: {a.page} is not what {a.results} gives: make paper")
    if not a.check and now != was:
        with open(a.page + ".tmp", "w", encoding="utf-8") as f:
            f.write(now)
        os.replace(a.page + ".tmp", a.page)


if __name__ == "__main__":
    main()
