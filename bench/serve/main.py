#!/usr/bin/env python3
"""Measures a server under mixed load, overload and hostile clients on this machine, and compares it with what is promised.

  main.py --programs DIR --models BUNDLE --work DIR --out bench/results [--quick] [--repetitions 3] [--only NAME,...]

Writes serve-<cpu>.json and prints the claims. --quick: short runs that show that everything works; their figures mean
nothing and are written to the working folder. docs/serving-bench.md says what is done and why.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import machine  # noqa: E402
import pressure  # noqa: E402
import record  # noqa: E402
import saturated  # noqa: E402
import scenarios  # noqa: E402
import sentences  # noqa: E402
from server import Failure, Load, Server, learn, say  # noqa: E402

PATIENT = ("--max-queue-seconds", "60")  # no request is refused: clients that retry at once would distort the figures
STATIC = ("--batching", "static")
ALL = ("mixed", "static", "saturated", "paragraphs", "overload", "sustained", "nice", "hostile", "term", "overhead", "engine", "simulator")


class Bench:
    def __init__(self, a):
        self.a, self.claims, self.results = a, [], {}
        self.items = os.path.join(a.work, "items.jsonl")
        self.load = Load(a.programs, self.items)
        self.cost = os.path.join(a.work, "cost.json")
        self.trace = os.path.join(a.work, "trace.tsv")
        self.seconds = a.seconds or (2 if a.quick else 20)
        self.least_short = a.short or (40 if a.quick else 2000)
        self.capacity = self.tokens_per_s = None

    def claim(self, text, value, limit, at_most=True):
        ok = None if value is None else (value <= limit if at_most else value >= limit)
        self.claims.append({"claim": text, "value": value if value is None else round(value, 3), "limit": round(limit, 3),
                            "holds": ok})
        shown = "not measured" if value is None else f"{value:.3f} ({'<=' if at_most else '>='} {limit:.3f})"
        say(f"  {'ok  ' if ok else '--  ' if ok is None else 'MISS'} {text}: {shown}")

    def clean(self, name, *reports, refusals=True):
        """No answer may be wrong or lost, ever. refusals: false for closed loops, which a server need not refuse anything."""
        found = [x for x in map(scenarios.bad, reports) if x]
        self.claim(f"{name}: wrong or lost answers", float(sum(sum(x.values()) for x in found)), 0)
        if not refusals:
            self.claim(f"{name}: refused requests", float(sum(r["refused"] for r in reports)), 0)

    def server(self, *options):
        return Server(self.a.programs, self.a.models, ["--log-level", "info", *options])

    def prepare(self):
        """Make the sentences of the wanted lengths, with the answer that each gets when translated alone."""
        n_short, n_long = (40, 10) if self.a.quick else (400, 100)
        candidates = os.path.join(self.a.work, "candidates.jsonl")
        with self.server() as server:
            models = json.loads(server.get("/v1/models"))["models"]
            model = next((m for m in models if m["source"] == "en"), models[0])
            self.results["model"] = model
            pair = (model["source"], model["target"])
            sentences.write_items(candidates, pair, 20, 0)
            learn(self.a.programs, server, candidates, self.items)
            ratio = sentences.words_a_token(self.items)
            say(f"learning the answers of {n_short} short and {n_long} long sentences, each alone")
            sentences.write_items(candidates, pair, int(1.2 * n_short), int(1.2 * n_long), ratio)
            learn(self.a.programs, server, candidates, self.items)
            self.compute_threads, self.workers = server.compute_threads, server.workers
            self.step_rows = scenarios.step_rows(server)
        left = sentences.keep(self.items)
        say(f"items: {left}")
        if min(left.values()) < 5:
            raise Failure(f"too few items of the lengths wanted are left: {left}")

    def rate_seconds(self, share, times=1):
        """(requests a second, seconds until there were `times` as many short requests as wanted)"""
        rate = share * self.capacity
        return rate, max(self.seconds, times * self.least_short / (0.8 * rate))

    def measure_capacity(self, server, seed):
        report = scenarios.capacity(self.load, server, self.seconds, seed)
        self.capacity = report["throughput"]["answers_per_s"]
        self.tokens_per_s = report["throughput"]["source_tokens_per_s"]
        if self.capacity <= 0:
            raise Failure("the server answers nothing in the time given")
        return report

    def mixed(self):
        """Short requests beside long ones, then without the long ones; then the same with other kinds of batching."""
        runs = []
        for rep in range(self.a.repetitions):
            seed, one = 100 + rep, {}
            with self.server(*PATIENT) as server:
                one["capacity"] = self.measure_capacity(server, seed)
                say(f"capacity: {self.capacity:.1f} requests/s")
            with self.server() as server:
                for share in (0.5, 0.7):
                    self.mixed_at(one, server, share, seed)
            if "static" in self.a.only:
                with self.server(*STATIC) as server:
                    for share in (0.5, 0.7):
                        rate, seconds = self.rate_seconds(share)
                        one[f"{share:.0%} static"] = scenarios.steady(self.load, server, rate, seconds, seed)
                self.compare_capacities(one, seed)
            runs.append(one)
        self.results["mixed"] = runs
        self.show_mixed(runs)
        self.claim_mixed(runs)

    def mixed_at(self, one, server, share, seed):
        rate, seconds = self.rate_seconds(share)
        key = f"{share:.0%}"
        one[f"{key} without long"] = scenarios.steady(self.load, server, rate, seconds, seed, "--only", "short")
        one[key] = scenarios.steady(self.load, server, rate, seconds, seed)
        one[f"{key} interactive"] = scenarios.steady(self.load, server, rate, seconds, seed, "--fields", 'short={"priority":"interactive"}',
                                                     "--fields", 'long={"priority":"bulk"}')

    def compare_capacities(self, one, seed):
        """Measure both in turns, each turn in the opposite order, because a machine is never equally fast twice."""
        names = {"capacity continuous": [], "capacity static": STATIC}
        runs = {name: [] for name in names}
        for turn in range(1 if self.a.quick else 3):
            for name in sorted(names, reverse=turn % 2 == 1):
                with self.server(*PATIENT, *names[name]) as server:
                    runs[name].append(scenarios.capacity(self.load, server, self.seconds, seed + 50 + turn))
        for name, reports in runs.items():
            one[name] = max(reports, key=lambda r: r["throughput"]["source_tokens_per_s"])
            one[name]["turns_source_tokens_per_s"] = [r["throughput"]["source_tokens_per_s"] for r in reports]

    def show_mixed(self, runs):
        def median(key, get):
            values = [get(r[key]) for r in runs if key in r]
            values = [v for v in values if v is not None]
            return statistics.median(values) if values else None
        say(f"{'':22} {'answers/s':>9}  short p50  p90     p99 ms  long p50   p99 ms  CPUs: server  generator  others")
        for key in runs[0]:
            row = [median(key, lambda r: r["throughput"]["answers_per_s"] if "throughput" in r else None)]
            for kind, rank in (("short", "p50"), ("short", "p90"), ("short", "p99"), ("long", "p50"), ("long", "p99")):
                row.append(None if key.startswith("capacity") or (kind == "long" and "without" in key)
                           else median(key, lambda r: scenarios.p(r, kind, rank=rank)))
            row += [median(key, lambda r: r["cpus"][x]) for x in ("server", "generator", "others")]
            widths = (9, 10, 7, 10, 9, 8, 13, 10, 7)
            say(f"{key:22} " + " ".join(f"{'-' if v is None else format(v, '.1f' if i < 6 else '.2f'):>{w}}"
                                         for i, (v, w) in enumerate(zip(row, widths))))

    def claim_mixed(self, runs):
        def ratio(x, y):
            pairs = [(scenarios.p(r[x], "short"), scenarios.p(r[y], "short")) for r in runs if x in r and y in r]
            values = [a / b for a, b in pairs if a and b]
            return statistics.median(values) if values else None
        self.clean("mixed load", *(r for one in runs for r in one.values()))
        self.claim("70 %: p99 of short ones beside long ones / without", ratio("70%", "70% without long"), 4)
        self.claim("70 %: the same with the interactive class / without long ones",
                   ratio("70% interactive", "70% without long"), 2)
        self.claim("70 %: p99 of short ones with static batches / refilled ones", ratio("70% static", "70%"), 3, False)
        turns = [a / b for r in runs if "capacity static" in r for a, b in
                 zip(*(r[f"capacity {name}"]["turns_source_tokens_per_s"] for name in ("continuous", "static")))]
        if turns:
            say("  throughput / that of static batches, turn by turn: " + ", ".join(f"{x:.3f}" for x in turns))
        self.claim("throughput / that of static batches", statistics.median(turns) if turns else None, 1, False)

    def need_capacity(self):
        if self.capacity is None:
            with self.server(*PATIENT) as server:
                self.measure_capacity(server, 1)

    def overload(self):
        self.need_capacity()
        with self.server() as server:
            r = scenarios.overload(self.load, server, self.capacity, 2 if self.a.quick else 6, 5, self.trace)
            tokens = int(self.setting("max_queue_tokens")) # 0: the bound is max_queue_seconds
            bound = tokens / self.tokens_per_s if tokens else float(self.setting("max_queue_seconds"))
            alive = server.status("/livez")
        self.results["overload"] = r
        self.clean("10x overload", r)
        self.claim("10x overload: /livez afterwards", float(alive), 200)
        self.claim("10x overload: back to normal after, s (queue bound / capacity + 1)", r["settled_after_s"],
                   bound + 1)

    def setting(self, name):
        text = subprocess.run([f"{self.a.programs}/dragoman-server", "--print-config"], capture_output=True,
                              text=True).stdout
        return next(line.split()[2] for line in text.splitlines() if line.split()[:1] == [name])

    def room(self):
        """Options for dragoman-sim: rows and sentences that one worker takes at once. 0 means these numbers on a CPU (--help)."""
        rows = int(self.setting("batch_rows")) or 128
        return "--rows", str(rows), "--sentences", str(int(self.setting("batch_sentences")) or max(64, rows // 2))

    def saturated(self):
        if self.a.lines:
            saturated.saturated(self)
        else:
            say("saturated: not measured, --lines FILE is missing")

    def paragraphs(self):
        pressure.paragraphs(self)

    def sustained(self):
        pressure.sustained(self)

    def nice(self):
        pressure.nice(self)

    def hostile(self):
        self.need_capacity()
        idle, slow = (200, 100) if self.a.quick else (2000, 1000)
        with self.server() as server:
            r = scenarios.hostile(self.load, server, 0.5 * self.capacity, 4 if self.a.quick else 30, 6, idle, slow)
            alive = server.status("/livez")
        self.results["hostile"] = r
        self.clean("hostile clients", r)
        self.claim("hostile clients: idle connections that were dropped", float(idle - r["beside"]["idle_answered_at_end"]), 0)
        self.claim("hostile clients: /livez afterwards", float(alive), 200)

    def term(self):
        self.need_capacity()
        with self.server() as server:
            r = scenarios.terminate(self.load, server, 0.7 * self.capacity, 4 if self.a.quick else 20, 8)
        self.results["term"] = r
        before = r["sigterm"]["sent_before"]
        self.claim("SIGTERM: requests accepted before it and not answered rightly",
                   float(before["lost"] + before["unanswered"] + before["wrong"]), 0)
        self.claim("SIGTERM: exit status (1000: did not end)",
                   1000.0 if r["exit_status"] is None else float(abs(r["exit_status"])), 0)

    def overhead(self):
        """Serve a tiny model; the figure is the time of a request without the engine's own."""
        tiny, items = os.path.join(self.a.work, "tiny"), os.path.join(self.a.work, "tiny.jsonl")
        spm = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/data/tokenizer/joint.model")
        subprocess.run([f"{self.a.programs}/make-tiny-bundle", spm, tiny, "8"], check=True)
        sentences.write_items(os.path.join(self.a.work, "candidates.jsonl"), ("en", "de"), 100, 0)
        with Server(self.a.programs, tiny) as server:
            learn(self.a.programs, server, os.path.join(self.a.work, "candidates.jsonl"), items)
        r = scenarios.overhead(self.a.programs, Load(self.a.programs, items), tiny, 2 if self.a.quick else 10)
        self.results["overhead"] = r
        self.clean("tiny model", r)
        self.claim("everything but the engine, p50 ms", scenarios.p(r, "short", "overhead_ms", "p50"), 1)

    def engine(self):
        """Measure the same sentences through the engine without a server, which also gives the simulator its cost model."""
        self.need_capacity()
        say("measuring the engine alone")
        cost = self.measure_cost("2" if self.a.quick else "5")
        with self.server(*PATIENT) as server:
            # Nearly all waiting sentences are long ones. With more requests at a time than there are long items, equal sentences
            # would wait together and be translated once, and the server would look faster than its engine.
            closed = self.load(server, "closed", "--concurrency", 64, "--seconds", 1.2 * self.seconds, "--warm-up",
                               0.2 * self.seconds, *self.item_shares())
            coalesced = server.counter("dragoman_coalesced_sentences_total")
        engine, over_http = cost["engine"]["workers_requests_per_s"], closed["throughput"]["answers_per_s"]
        cost["items"] = f"{len(cost['items'])} measured"
        self.results["engine"] = {"cost": cost, "over_http": scenarios.brief(closed), "coalesced": coalesced}
        self.clean("engine", closed, refusals=False)
        few = coalesced <= closed["requests"] / 200
        self.claim("throughput lost between engine and HTTP", 1 - over_http / engine if few else None, 0.03)
        self.claim("engine's run: simulated / real seconds, off by",
                   abs(cost["engine"]["simulated_seconds"] / cost["engine"]["seconds"] - 1), 0.2)

    def measure_cost(self, repeats):
        subprocess.run([f"{self.a.programs}/dragoman-sim", "measure", "--model", self.bundle(), "--items", self.items,
                        "--threads", str(self.compute_threads), "--workers", str(self.workers), "--repeats", repeats,
                        *self.room(), "--out", self.cost], check=True)
        return record.read(self.cost)

    def outside(self, cost):
        """Microseconds of a step outside the engine, measured with short requests one at a time; and the report of that."""
        with self.server() as server:
            real = self.load(server, "closed", "--concurrency", 1, "--seconds", max(2, 0.3 * self.seconds), "--only", "short")
        steps = statistics.mean(x["sentences"][0][3] + x["sentences"][0][5] for x in cost["items"] if x["class"] == "short")
        spent_ms = sum(scenarios.p(real, "short", f"{stage}_ms", "mean") for stage in ("encode", "decode"))
        alone = self.simulated(0, 0, "--rate", 0.5, "--requests", 2000, "--only", "short")
        return max(0.0, 1e3 * (spent_ms - alone["classes"]["short"]["latency_ms"]["mean"]) / steps), real

    def simulated(self, step_us, request_us, *options):
        """Simulate arrivals at the measured cost; the capacity sets what batching adds to it."""
        limits = [*self.room(), "--step-rows", self.step_rows, "--workers", self.workers]
        return scenarios.simulated(self.a.programs, self.cost, "--capacity", self.capacity, "--outside-us", step_us,
                                   "--request-us", request_us, *limits, *options)[0]

    def item_shares(self):
        """Options that draw each class as often as it is among the items, as in the run of the engine alone."""
        with open(self.items, encoding="utf-8") as f:
            kinds = [json.loads(line)["class"] for line in f]
        return [x for k in ("short", "long") for x in ("--share", f"{k}={kinds.count(k)}")]

    def bundle(self):
        """The bundle of the model: dragoman-sim takes one bundle, not a folder of bundles."""
        path, name = self.a.models, self.results["model"]["name"]
        if os.path.exists(os.path.join(path, "manifest.json")):
            return path
        for entry in sorted(os.listdir(path)):
            manifest = os.path.join(path, entry, "manifest.json")
            if record.read_if_there(manifest, {}).get("name") == name:
                return os.path.join(path, entry)
        raise Failure(f"no bundle named {name} in {path}")

    def replay(self, seed):
        """A real run at 70 %, and the same arrivals simulated. Cost and capacity are measured right before it, because a
        machine's speed changes. Returns the simulation and the reports of the closed loops and of the real run."""
        cost = self.measure_cost("2")
        with self.server(*PATIENT) as server:
            capacity = self.measure_capacity(server, seed)
        step_us, alone = self.outside(cost)
        rate, seconds = self.rate_seconds(0.7, 3)  # otherwise five requests decide the p99 of the long ones
        with self.server() as server:
            real = scenarios.steady(self.load, server, rate, seconds, seed, "--trace", self.trace)
        request_us = 1e3 * (scenarios.p(real, "short", "overhead_ms", "p50") or 0)
        say(f"capacity: {self.capacity:.1f} requests/s; outside the engine: {step_us:.0f} us a step, {request_us:.0f} a request")
        return self.simulated(step_us, request_us, "--trace", self.trace), (capacity, alone), real

    def simulator(self):
        """Simulate runs at 70 % again; then a device whose step costs the same up to 256 rows."""
        replays = [self.replay(200 + i) for i in range(self.a.repetitions)]
        runs = [simulation for simulation, _, _ in replays]
        self.clean("simulator, closed loops", *(r for _, closed, _ in replays for r in closed), refusals=False)
        self.clean("simulator, real runs", *(real for _, _, real in replays))
        self.results["simulator"] = runs
        for kind in runs[0]["classes"]:
            for rank in ("p50", "p99"):
                off = [r["classes"][kind]["latency_ms"][rank] / r["classes"][kind]["real_latency_ms"][rank] - 1 for r in runs]
                say(f"  simulated {rank} of {kind} ones: " + ", ".join(f"{x:+.1%}" for x in off))
                self.claim(f"simulated {rank} of {kind} ones at 70 %, off by", abs(statistics.median(off)), 0.2)
        gpu = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../sim/flat-256.json")
        runs = scenarios.simulated(self.a.programs, gpu, "--load", 0.7, "--batching", "all", "--rows", 256)
        by_name = {r["batching"]: r for r in runs}
        self.results["flat to 256 rows"] = runs
        self.claim("flat to 256 rows: throughput / static batches with finished rows dropped",
                   by_name["continuous"]["capacity_per_s"] / by_name["static-drop"]["capacity_per_s"], 1.5, False)

    def run(self):
        self.prepare()
        for name in ALL:
            if name in self.a.only and name != "static":
                say(f"== {name}")
                getattr(self, name)()
                self.write(self.a.work)  # a scenario that fails does not lose earlier results
        folder = self.a.work if self.a.quick or set(self.a.only) != set(ALL) else self.a.out
        path = self.write(folder)
        missed = [c for c in self.claims if c["holds"] is False]
        open_ones = [c for c in self.claims if c["holds"] is None]
        print(f"{len(self.claims) - len(missed) - len(open_ones)} of {len(self.claims)} claims hold, "
              f"{len(open_ones)} not measured: {path}")
        return 1 if missed and not self.a.quick else 0

    def write(self, folder):
        result = {"date": record.now(),
                  "machine": machine.describe(), "revision": self.a.revision, "quick": self.a.quick,
                  "repetitions": self.a.repetitions, "claims": self.claims, **self.results}
        return record.write(folder, f"serve-{machine.slug()}", {".json": result})


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("programs", "models", "work", "out"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("--quick", action="store_true")
    p.add_argument("--repetitions", type=int, default=0)
    p.add_argument("--seconds", type=float, default=0, help="of a capacity run, and at least of the others (20)")
    p.add_argument("--short", type=int, default=0, help="least short requests of a steady run (2000)")
    p.add_argument("--lines", default="", help="of saturated: sentences to translate, one a line, plain or .gz")
    p.add_argument("--only", default=",".join(ALL))
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    a.only = a.only.split(",")
    a.repetitions = a.repetitions or (1 if a.quick else 3)
    if set(a.only) - set(ALL):
        p.error(f"--only takes {', '.join(ALL)}")
    os.makedirs(a.work, exist_ok=True)
    try:
        return Bench(a).run()
    except Failure as e:
        say(f"bench-serve: {e}")
        return 2


if __name__ == "__main__":
    sys.exit(main())
