"""Curves of training runs: loss, score, learning rate and speed over updates, from the logs that dragoman-train writes."""
import json

import chart

POINTS = 240  # most points of a curve; each is a mean over several updates
TRAIN, VALID = ("loss", "lr", "tokens_per_s"), ("loss", "bleu", "chrf")


def thin(points):
    """The curve in at most POINTS points, each the mean of consecutive ones."""
    each = -(-len(points) // POINTS)
    groups = [points[i:i + each] for i in range(0, len(points), each)]
    return [[round(sum(x for x, _ in g) / len(g)), float("%.5g" % (sum(y for _, y in g) / len(g)))] for g in groups]


def read(logs, marks):
    """logs: (label, file). Of an update that a run did again, the last line counts."""
    runs = []
    for label, path in logs:
        with open(path, encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
        run = {"label": label}
        for kind, fields in (("train", TRAIN), ("valid", VALID)):
            found = {line["update"]: line for line in lines if line.get("kind") == kind}
            run[kind] = {k: thin([(u, found[u][k]) for u in sorted(found) if k in found[u]]) for k in fields}
        if not run["train"]["loss"]:
            raise SystemExit(f"charts.py: {path} has no training loss: is it the log.jsonl of a run?")
        runs.append(run)
    return {"runs": runs, "marks": [list(m) for m in marks]}


def write(result):
    """The result as JSON text, with one line for each curve."""
    lines = []
    for run in result["runs"]:
        kinds = ",\n   ".join(f'"{kind}": {{' + ",\n    ".join(f'"{k}": {json.dumps(v)}' for k, v in run[kind].items()) + "}" for kind in ("train", "valid"))
        lines.append(f'{{"label": {json.dumps(run["label"])},\n   {kinds}}}')
    rest = {k: v for k, v in result.items() if k != "runs"}
    return '{"runs": [\n  ' + ",\n  ".join(lines) + "],\n" + json.dumps(rest)[1:] + "\n"


def draw(result):
    runs, marks = result["runs"], result["marks"]
    last = max(u for r in runs for u, _ in r["train"]["loss"] + r["valid"]["loss"])

    def curves(*wanted):
        """wanted: (kind, field, name in the legend, dash)."""
        return [chart.Curve(f"{r['label']}: {called}", r[kind][field], i, dash, kind == "valid")
                for i, r in enumerate(runs) for kind, field, called, dash in wanted if r[kind][field]]

    score = "bleu" if any(r["valid"]["bleu"] for r in runs) else "chrf"
    panels = [
        ("Loss", "loss per target token, label smoothing included", curves(("train", "loss", "training", 0), ("valid", "loss", "development set", 1)), False),
        ("Score", f"{'BLEU' if score == 'bleu' else 'chrF2'} on the development set", curves(("valid", score, "development set", 1)), False),
        ("Learning rate", "learning rate", curves(("train", "lr", "learning rate", 0)), True),
        ("Speed", "source and target tokens a second", curves(("train", "tokens_per_s", "tokens a second", 0)), True)]
    panels = [p for p in panels if p[2]]
    parts = []
    for i, (title, name, drawn, zero) in enumerate(panels):
        y = chart.Axis(name, [v for c in drawn for _, v in c.points], zero=zero).widen(0.06)
        parts += chart.at(i % 2 * 480, i // 2 * 310,
                          chart.panel(title, chart.Axis("updates", [0, last], zero=True), y, drawn, 470, 300, marks))
    return chart.document(960, (len(panels) + 1) // 2 * 310, parts)
