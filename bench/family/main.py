#!/usr/bin/env python3
"""Models of other programs beside the programs themselves: the same files, the same sentences, one core, alternating runs.

  main.py FAMILY... --programs build/release/bin --work DIR --out bench/results [--bergamot PYTHON] [--pairs N] [--core N]

  student  Firefox's tiny and base-memory shapes (D 256 and 384, 6 + 2 and 6 + 4 layers, SSRU, V 32,000, shortlist) beside the
           Bergamot engine: text to text
  argos    its packages' shape, int8, beside CTranslate2: tokens to tokens, forced lengths
  opus     OPUS-MT's shape, V 58,101, the same
  nllb     NLLB-200 600M's shape, V 256,206, the same; and ours with a shortlist

Each repetition is ours, then the peer's, in a fresh process on one core. Both take one thread and wait asleep, so that CPU time does
not see who else uses the machine, but for caches and memory: `times_as_fast` is by CPU time, the median of the pairs' ratios;
`by_the_clock` is the same by wall time, to be trusted where foreign_cpus is near zero. A result's families are
replaced one by one: those that are not asked for stay as they are in the file."""
import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import machine  # noqa: E402
import record  # noqa: E402

LENGTH = 27
STUDENTS = {name: argparse.Namespace(d_model=d, d_ff=1536, heads=8, encoder_layers=6, decoder_layers=layers, vocab=32000,
                                     sentences=1000, length=25, seed=17)
            for name, d, layers in (("tiny", 256, 2), ("base-memory", 384, 4))}
# mode, beam, shortlist, sentences (0: all)
SETTINGS = {"argos": [("throughput", 1, False), ("throughput", 4, False), ("latency", 4, False), ("latency", 1, False)],
            "nllb": [("throughput", 1, False), ("throughput", 1, True), ("throughput", 4, False), ("throughput", 4, True),
                     ("latency", 4, False), ("latency", 4, True)]}
SETTINGS["opus"] = SETTINGS["argos"]
SENTENCES = {"argos": 128, "opus": 128, "nllb": 32}


def run(command, text=os.devnull):
    """(standard output, wall seconds)"""
    begin = time.perf_counter()
    with open(text, encoding="utf-8") as f:
        done = subprocess.run(command, stdin=f, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}: {done.stderr}")
    return done.stdout, time.perf_counter() - begin


class Bench:
    def __init__(self, a):
        self.a = a
        self.dragoman = os.path.join(a.programs, "dragoman")

    def alone(self, command):
        """The command, pinned to the one core."""
        return ["taskset", "-c", str(self.a.core)] + command

    def folder(self, *names):
        return os.path.join(self.a.work, *names)

    # A side of a comparison returns (CPU seconds, wall seconds, units of work) for each run.

    def pairs(self, ours, theirs):
        """Alternating runs: ({side: [result of each run]}, [cores that other programs used during each pair])"""
        found, foreign = {"ours": [], "peer": []}, []
        for _ in range(self.a.pairs):
            with machine.Others() as others:
                found["ours"].append(ours())
                found["peer"].append(theirs())
            foreign.append(others.cores)
        return found, foreign

    def student(self, name, shape):
        import student
        folder = self.folder("student", name)
        if not os.path.exists(os.path.join(folder, "texts.txt")):
            student.make(shape, folder)
        texts, one = os.path.join(folder, "texts.txt"), os.path.join(folder, "one.txt")
        with open(texts, encoding="utf-8") as f, open(one, "w", encoding="utf-8") as g:
            g.write(f.readline())
        bundle = os.path.join(folder, "bundle")
        shutil.rmtree(bundle, ignore_errors=True)
        run([self.dragoman, "convert", "bergamot", folder, "--source-lang", "en", "--target-lang", "de", "--out", bundle])
        most = str(shape.length + 1)
        mine = self.alone([self.dragoman, "translate", "--model", bundle, "--workers", "1", "--threads", "1", "--max-length", most,
                           "--keep-loops"])
        theirs = self.alone([self.a.bergamot, os.path.join(HERE, "bergamot_engine.py"), os.path.join(folder, "config.yml"), texts])

        def ours():
            """Cost of all texts but one: subtracts a run with one text, and with it the time to load."""
            spent = []
            for text in (texts, one):
                before = machine.children_seconds()
                out, wall = run(mine, text)
                spent.append((machine.children_seconds() - before, wall))
                if len(out.splitlines()) != (1 if text == one else shape.sentences):
                    sys.exit("bench: not a line for each text")
            return spent[0][0] - spent[1][0], spent[0][1] - spent[1][1], shape.sentences - 1

        def peer():
            r = json.loads(run(theirs)[0])
            if r["words_out"] < 0.98 * (shape.length + 1) * shape.sentences:
                sys.exit(f"bench: not the same work: {r}")
            return r["cpu_s"], r["seconds"], r["sentences"]

        found, foreign = self.pairs(ours, peer)
        return self.setting({"shape": name, "mode": "text to text", "beam": 1, "shortlist": True, "unit": "sentences",
                             "model_bytes": os.path.getsize(os.path.join(folder, "model.bin")), "peer_is": "bergamot 0.4.5"},
                            found, foreign, [mine + ["<", "texts.txt"], theirs])

    def ct2(self, family):
        folder = self.folder(family)
        if not os.path.exists(os.path.join(folder, "sentences.txt")):
            import ct2_spec
            os.makedirs(folder, exist_ok=True)
            ct2_spec.make(family, folder, SENTENCES[family], LENGTH, 17)
        peer_model, bundles = os.path.join(folder, "ct2"), {k: os.path.join(folder, "short" if k else "bundle") for k in (False, True)}
        for bundle in bundles.values():
            shutil.rmtree(bundle, ignore_errors=True)
        run([self.dragoman, "convert", "ctranslate2", peer_model, "--source-lang", "en", "--target-lang", "de", "--out", bundles[False]])
        if any(s[2] for s in SETTINGS[family]):
            shutil.copytree(bundles[False], bundles[True])
            run([os.path.join(self.a.programs, "random-shortlist"), bundles[True], "100", "200"])
        out = []
        for mode, beam, short in SETTINGS[family]:
            common = ["--sentences", os.path.join(folder, "sentences.txt"), "--mode", mode, "--beam", str(beam), "--length", str(LENGTH),
                      "--workers", "1", "--threads", "1", "--reps", "1"] + (["--count", "8"] if mode == "latency" else [])
            mine = self.alone([self.dragoman, "bench", "--model", bundles[short], "--json"] + common)
            theirs = self.alone([sys.executable, os.path.join(HERE, "..", "peer", "ct2.py"), "bench", "--model", peer_model, "--compute",
                                 "int8"] + common)
            backends = {}

            def side(name, command):
                r = json.loads(run(command)[0])
                backends[name] = r["backend"]
                if mode == "throughput":
                    return r["cpu_s"], r["tokens_out"] / r["tokens_per_s"], r["tokens_out"]
                return r["cpu_s"], r["p50_ms"] * 8e-3, 8 * LENGTH
            found, foreign = self.pairs(lambda: side("ours", mine), lambda: side("peer", theirs))
            if len({units for runs in found.values() for _, _, units in runs}) != 1:
                sys.exit(f"bench: not the same work: {found}")
            out.append(self.setting({"mode": mode, "beam": beam, "shortlist": short, "unit": "tokens", "peer_is": backends["peer"],
                                     "ours_is": backends["ours"]}, found, foreign, [mine, theirs]))
        return out

    def setting(self, what, found, foreign, commands):
        ratios = [[(p[k] / p[2]) / (o[k] / o[2]) for o, p in zip(found["ours"], found["peer"])] for k in (0, 1)]
        each = {side: {"per_cpu_s": round(statistics.median(n / cpu for cpu, _, n in runs), 1),
                       "cpu_s": [round(cpu, 3) for cpu, _, _ in runs], "wall_s": [round(wall, 3) for _, wall, _ in runs]}
                for side, runs in found.items()}
        r = {**what, "times_as_fast": round(statistics.median(ratios[0]), 2), "ratios": [round(x, 2) for x in ratios[0]],
             "by_the_clock": round(statistics.median(ratios[1]), 2), "foreign_cpus": foreign, **each,
             "commands": [shlex.join(os.path.relpath(x) if os.path.isabs(x) else x for x in c[3:]) for c in commands]}
        print(f"{what['shape'] + ', ' if 'shape' in what else ''}{what['mode']}, beam {what['beam']}{', shortlist' if what['shortlist'] else ''}: {each['ours']['per_cpu_s']} {what['unit']} "
              f"a CPU second, {what['peer_is']} {each['peer']['per_cpu_s']}: {r['times_as_fast']}x as fast "
              f"({min(r['ratios'])} to {max(r['ratios'])}), by the clock {r['by_the_clock']}x", flush=True)
        return r


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("families", nargs="+", choices=["student", "argos", "opus", "nllb"])
    for name in ("programs", "work", "out"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("--bergamot", default="python3.10", help="a Python with bergamot 0.4.5")
    p.add_argument("--pairs", type=int, default=7)
    p.add_argument("--core", type=int, default=0)
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    name = f"family-{machine.slug()}"
    path = os.path.join(a.out, name + ".json")
    result = record.read_if_there(path, {})
    bench = Bench(a)
    for family in a.families:
        print(family, flush=True)
        settings = [bench.student(*s) for s in STUDENTS.items()] if family == "student" else bench.ct2(family)
        result[family] = {"date": record.now(),
                          "machine": machine.describe(), "revision": a.revision, "pairs": a.pairs, "settings": settings}
        record.write(a.out, name, {".json": result})
    print(path)


main()
