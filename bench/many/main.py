#!/usr/bin/env python3
"""Ninety pairs from one process in 1 GB: what memory it takes, how long the first answer of a closed bundle takes, whether any
answer fails because bundles are opened and closed all the time.

  main.py --programs DIR --spm MODEL --work DIR --out bench/results --revision REV [--memory 1000000000] [--seconds 60]

Writes many-<cpu>.json. The bundles are random models of the size of Firefox's tiny ones (bundles.py).
"""
import argparse
import os
import random
import re
import statistics
import sys
import threading
import time

import requests

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), x) for x in ("", "serve")]

import bundles  # noqa: E402
import machine  # noqa: E402
import record  # noqa: E402
from server import Server  # noqa: E402

SENTENCES = ["The house is small, and the garden behind it is large.", "Where does the train to the sea leave?",
             "Nobody had told them that the shop closes at noon on Saturdays."]


def cpu_seconds(pid):
    """CPU seconds that a process's living threads have used, to the nanosecond; threads that have ended do not count."""
    total, tasks = 0, f"/proc/{pid}/task/"
    for task in os.listdir(tasks):
        try:
            total += int(machine.read(tasks + task + "/schedstat").split()[0])
        except OSError:
            pass
    return total / 1e9


def ask(session, server, pair, text):
    """(seconds, text); raises if the request fails."""
    begin = time.perf_counter()
    reply = session.post(f"http://127.0.0.1:{server.port}/v1/translate", json={"text": text, "source": pair[0], "target": pair[1]}, timeout=120)
    seconds = time.perf_counter() - begin
    if reply.status_code != 200:
        raise RuntimeError(f"{pair}: {reply.status_code} {reply.text}")
    return seconds, reply.json()["translations"][0]["text"]


def ms(values):
    values = sorted(1000 * v for v in values)
    return {"n": len(values), "median": round(statistics.median(values), 1), "p90": round(values[int(0.9 * (len(values) - 1))], 1),
            "most": round(values[-1], 1)}


def one_after_another(server, made, rounds):
    """Ask for all pairs in random order, each twice: the first answer opens the pair's bundle if it is closed, the second finds
    it open. Returns (seconds of answers that opened one, seconds of second answers, {(model, text): its answer}, how many
    copies of a model answered otherwise, mean CPU seconds of the server for an answer that opened a bundle)."""
    cold, warm, right, differ, cpu = [], [], {}, 0, 0.0
    with requests.Session() as session:
        for r in range(rounds):
            order = list(made)
            random.Random(r).shuffle(order)
            for pair in order:
                opened = server.counter('dragoman_model_opens_total{outcome="ok"}')
                used = cpu_seconds(server.pid)
                first, text = ask(session, server, pair, SENTENCES[0])
                used = cpu_seconds(server.pid) - used
                if server.counter('dragoman_model_opens_total{outcome="ok"}') > opened:
                    cold.append(first)
                    cpu += used
                warm.append(ask(session, server, pair, SENTENCES[0])[0])
                differ += right.setdefault((made[pair], SENTENCES[0]), text) != text
    return cold, warm, right, differ, cpu / max(1, len(cold))


def all_at_once(server, made, right, clients, seconds):
    """Run clients that ask for random pairs, each as soon as it has its last answer."""
    end, times, failed, lock = time.monotonic() + seconds, [], [], threading.Lock()

    def client(number):
        rng = random.Random(number)
        with requests.Session() as session:
            while time.monotonic() < end:
                pair, text = rng.choice(list(made)), rng.choice(SENTENCES)
                try:
                    took, answer = ask(session, server, pair, text)
                    with lock:
                        times.append(took)
                        if right.setdefault((made[pair], text), answer) != answer:
                            failed.append(f"{pair}: {answer!r} is another answer")
                except (RuntimeError, requests.RequestException) as e:
                    with lock:
                        failed.append(str(e))

    threads = [threading.Thread(target=client, args=(n,)) for n in range(clients)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return times, failed


def measure(a, made):
    flags = ["--model-memory", str(a.memory), "--workers", str(a.workers), *a.flag]
    begin = time.perf_counter()
    with Server(a.programs, os.path.join(a.work, "bundles"), flags, 300) as server:
        found = {"flags": flags, "ready_s": round(time.perf_counter() - begin, 2), "ready_mb": round(machine.resident_kb(server.pid) / 1e3 * 1.024, 1),
                 "open_at_start": int(server.counter("dragoman_models_open"))}
        with machine.Others() as others:
            used = machine.process_seconds(server.pid)
            begin = time.perf_counter()
            cold, warm, right, differ, cpu = one_after_another(server, made, a.rounds)
            used = (machine.process_seconds(server.pid) - used) / (time.perf_counter() - begin)
        found["first_answer_ms"], found["next_answer_ms"] = ms(cold), ms(warm)
        found["first_answer_cpu_ms"] = round(1000 * cpu, 1)
        times, failed = all_at_once(server, made, right, a.clients, a.seconds)
        opens, closes = server.counter('dragoman_model_opens_total{outcome="ok"}'), server.counter("dragoman_model_closes_total")
        bundle = server.counter("dragoman_model_memory_bytes") / server.counter("dragoman_models_open")
        most = machine.resident_kb(server.pid, "VmHWM") * 1024
        found["load"] = {"clients": a.clients, "seconds": a.seconds, "answers": len(times), "answer_ms": ms(times),
                         "opened": int(opens), "closed": int(closes)}
        found.update(failed=len(failed) + differ, why=failed[:3], bundle_mb=round(bundle / 1e6, 1), most_mb=round(most / 1e6, 1),
                     limit_mb=round((a.memory + bundle) / 1e6, 1), exit_status=server.stop(120), others_cores=round(others.cores - used, 2))
        print("".join(re.findall(r"^.*level=error.*\n", server.log_text(), re.M)), end="", file=sys.stderr)
    found["holds"] = {"memory": most <= a.memory + bundle, "first_answer": found["first_answer_ms"]["most"] <= 150,
                      "no_answer_failed": found["failed"] == 0 and found["exit_status"] == 0}
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--programs", required=True)
    p.add_argument("--spm", required=True, help="a SentencePiece model that is extended to 32,000 pieces")
    p.add_argument("--work", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--revision", default="unknown")
    p.add_argument("--memory", type=int, default=1000000000)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--clients", type=int, default=8)
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--flag", action="append", default=[], help="another of the server's")
    a = p.parse_args()
    made = bundles.make(a.programs, a.spm, a.work)
    found = measure(a, made)
    result = {"what": "90 bundles of tiny's size from one process", "date": record.today(),
              "revision": a.revision, "machine": machine.describe(), "bundles": len(made), **found}
    print(record.write(a.out, "many-" + machine.slug(), {".json": result}))
    for claim, holds in found["holds"].items():
        print(f"  {'ok  ' if holds else 'MISS'} {claim}")
    return 0 if all(found["holds"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
