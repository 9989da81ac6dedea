#!/usr/bin/env python3
"""Every chart of docs/pictures and bench/results is drawn here, from the JSON beside it.

  charts.py                                   draw them all again, after the drawing has changed
  charts.py training NAME LABEL=LOG [LABEL=LOG ...] [--mark UPDATE=WORDS ...]
                                              docs/pictures/NAME.json and .svg: the curves of logs that dragoman-train wrote
                                              (log.jsonl), a colour for each run; marks say what began at an update
"""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "peer"), os.path.join(HERE, "paper")]
import compare_chart  # noqa: E402
import compare_loss  # noqa: E402
import decoding  # noqa: E402
import record  # noqa: E402
import scale  # noqa: E402
import table1  # noqa: E402
import training_chart  # noqa: E402

RESULTS, PICTURES = os.path.join(HERE, "results"), os.path.join(os.path.dirname(HERE), "docs", "pictures")
DRAWN_BY = {"cpu-": compare_chart.draw, "scale-": scale.draw, "loss-": compare_loss.draw, "table1": table1.draw, "decoding": decoding.draw}
DIAGRAMS = ("batch.svg", "request.svg")  # drawn by hand, not from data


def redraw():
    for top in (RESULTS, PICTURES):
        for folder, _, names in os.walk(top):
            for name in sorted(n for n in names if n.endswith(".svg") and n not in DIAGRAMS and not n.startswith("figure")):  # dragoman attention's
                draw = training_chart.draw if top == PICTURES else next(f for start, f in DRAWN_BY.items() if name.startswith(start))
                picture = draw(record.read(os.path.join(folder, name[:-4] + ".json")))
                print(os.path.relpath(record.write(folder, name[:-4], {".svg": picture}), os.path.dirname(HERE)))


def pair(s):
    name, equals, value = s.partition("=")
    if not equals or not name or not value:
        raise argparse.ArgumentTypeError(f"{s!r} is not NAME=VALUE")
    return name, value


def training(a):
    result = training_chart.read(a.logs, [(int(update), words) for update, words in a.mark])
    print(record.write(a.out, a.name, {".json": training_chart.write(result), ".svg": training_chart.draw(result)}))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.set_defaults(run=lambda a: redraw())
    t = p.add_subparsers().add_parser("training")
    t.add_argument("name")
    t.add_argument("logs", nargs="+", type=pair, metavar="LABEL=LOG")
    t.add_argument("--mark", action="append", type=pair, default=[], metavar="UPDATE=WORDS")
    t.add_argument("--out", default=PICTURES)
    t.set_defaults(run=training)
    a = p.parse_args()
    a.run(a)


if __name__ == "__main__":
    main()
