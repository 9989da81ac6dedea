#!/usr/bin/env python3
"""Draw every chart of bench/results again, from its JSON: after bench/peer/chart.py has changed."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "peer"), os.path.join(HERE, "paper")]
import chart  # noqa: E402
import decoding  # noqa: E402
import scale  # noqa: E402
import table1  # noqa: E402

DRAWN_BY = {"cpu-": chart.compare_chart, "scale-": scale.draw, "loss-": chart.loss_chart, "table1": table1.draw, "decoding": decoding.draw}


def main():
    for folder, _, names in os.walk(os.path.join(HERE, "results")):
        for name in sorted(n for n in names if n.endswith(".svg")):
            path = os.path.join(folder, name)
            (draw,) = [f for start, f in DRAWN_BY.items() if name.startswith(start)]
            with open(path[:-4] + ".json", encoding="utf-8") as f:
                picture = draw(json.load(f))
            with open(path, "w", encoding="utf-8") as f:
                f.write(picture)
            print(os.path.relpath(path, HERE))


if __name__ == "__main__":
    main()
