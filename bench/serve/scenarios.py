"""The scenarios: each loads a server and returns its figures. 80 % of the requests are short, 20 % long; every answer is
compared with the one that the sentence got alone."""
import re
import time

from server import Server, run_json

SHARES = ("--share", "short=0.8", "--share", "long=0.2")


def misstated(report):
    """True if Server-Timing reported a longer wait than the request took."""
    kinds = [kind for phase in report["phases"] for kind in phase["classes"].values() if kind.get("latency_ms")]
    return any(kind.get("queue_ms", {}).get("max", 0) > kind["latency_ms"]["max"] + 1 for kind in kinds)


def bad(report):
    """Counts of outcomes that no load excuses. Refusals are valid answers; "unsent" requests never reached the server, because
    the generator had no connection left."""
    found = {k: report[k] for k in ("wrong", "lost", "unanswered") if report[k]}
    if misstated(report):
        found["misstated"] = 1
    return found


def brief(report):
    """A report without lag_ms and empty objects, and with rounded numbers."""
    def short(x):
        if isinstance(x, dict):
            return {k: short(v) for k, v in x.items() if v != {} and k not in ("lag_ms",)}
        if isinstance(x, list):
            return [short(v) for v in x]
        return round(x, 3) if isinstance(x, float) else x
    return short(report)


def p(report, kind, figure="latency_ms", rank="p99", phase=0):
    return report["phases"][phase]["classes"][kind].get(figure, {}).get(rank)


def capacity(load, server, seconds, seed):
    """The server's maximum with 64 requests at a time. The warm-up is as long as long requests let short ones overtake
    them: without it, only short ones would count."""
    warm_up = min(6, seconds)
    report = load(server, "closed", "--concurrency", 64, "--seconds", seconds + warm_up, "--warm-up", warm_up,
                  "--seed", seed, *SHARES)
    return brief(report)


def steady(load, server, rate, seconds, seed, *options):
    return brief(load(server, "run", "--phase", f"{rate}:{seconds}", "--seed", seed, *SHARES, *options))


def read_trace(path):
    with open(path, encoding="utf-8") as f:
        names = f.readline().rstrip("\n").split("\t")
        return [dict(zip(names, line.rstrip("\n").split("\t"))) for line in f]


def settled_after(requests):
    """The due time from which on no request is refused and at most one in twenty is slow. requests: (due, refused, slow). A few
    long requests are always slower than the slowest one of a short calm phase."""
    slow = count = 0
    settled = 0.0
    for due, refused, is_slow in sorted(requests, reverse=True):
        count += 1
        slow += is_slow
        if refused or (is_slow and slow > 0.05 * count and slow > 2):
            settled = max(settled, due)
    return settled


def overload(load, server, cap, seconds, seed, trace):
    """Calm, ten times the capacity, calm again: how long until everything is as before."""
    phases = [(0.1 * cap, seconds), (10 * cap, seconds), (0.1 * cap, 4 * seconds + 4)]
    options = [x for rate, length in phases for x in ("--phase", f"{rate}:{length}")]
    report = load(server, "run", *options, "--seed", seed, "--connections", 4000, "--trace", trace, *SHARES)
    calm, after = {}, []
    for row in read_trace(trace):
        ms = (int(row["done_ns"]) - int(row["due_ns"])) / 1e6
        if row["phase"] == "0" and row["outcome"] == "ok":
            calm[row["class"]] = max(calm.get(row["class"], 0.0), ms)
        if row["phase"] == "2":
            slow = ms > 1.5 * calm.get(row["class"], 0.0) + 20
            after.append((int(row["due_ns"]) / 1e9 - 2 * seconds, row["outcome"] != "ok", slow))
    settled = settled_after(after)
    return {**brief(report), "settled_after_s": round(settled, 3)}


def hostile(load, server, rate, seconds, seed, idle, slow):
    """Clients that send nothing, that send slowly and that vanish, beside ordinary ones."""
    return brief(load(server, "run", "--phase", f"{rate}:{seconds}", "--seed", seed, "--idle", idle, "--slow", slow,
                      "--vanish", "0.1:0.3", "--connections", 4000, *SHARES))


def terminate(load, server, rate, seconds, seed):
    """SIGTERM half-way through the run: the server's exit status, and how long it took to end."""
    report = load(server, "run", "--phase", f"{rate}:{seconds}", "--seed", seed, "--term",
                  f"{server.pid}@{seconds / 2}", "--grace", 40, *SHARES)
    at = time.monotonic()
    status = server.wait(60)
    return {**brief(report), "exit_status": status, "exit_after_run_s": round(time.monotonic() - at, 2)}


def overhead(programs, load, models, seconds):
    """Time outside queue and engine, with a model of almost no cost, one request after another."""
    with Server(programs, models, ["--threads", "1"]) as server:
        return brief(load(server, "closed", "--concurrency", 1, "--seconds", seconds, "--only", "short"))


def simulated(programs, cost, *options):
    return run_json([f"{programs}/dragoman-sim", "run", "--json", "--cost", cost, *SHARES, *options])


def step_rows(server):
    """The first model's limit on rows that advance in one step; 0: no limit."""
    return int(float(re.search(r"^dragoman_step_rows\{[^}]*\} (\S+)", server.get("/metrics"), re.M).group(1)))
