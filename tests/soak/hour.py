#!/usr/bin/env python3
"""A server with the bundled model at 80 % of what it can do, for an hour: clients that hang up, a reload that exchanges the
bundle each minute, and bodies that are oversized, malformed and hostile. No answer is wrong, none is lost, memory,
descriptors and threads do not grow, and latency at the end is as at the beginning.

  hour.py --programs DIR --models DIR [--minutes 60] [--share 0.8] [--out FILE]

Every answer is compared with the one given to the same text alone. Exit status 1 when something failed, 2 when nothing
could be run.
"""
import argparse
import itertools
import json
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "bench", "serve")]

import machine  # noqa: E402
import soak  # noqa: E402
from scenarios import bad  # noqa: E402
from server import Load, Server, learn, say  # noqa: E402

OPTIONS = ["--workers", "1", "--compute-threads", "1", "--cache-bytes", "0", "--max-connections", "2000", "--access-log", "0",
           "--body-timeout", "5"]
PAIR = '"source":"en","target":"de"'
UNREAD_SECONDS = 5  # a stream that nobody reads stays open for so long
VANISH_SECONDS = 0.3  # at most this long after they begin to send; about half of them leave before their answer
MOST_KB_A_MINUTE = 64  # growth of memory after the first quarter
MOST_P99 = 1.5  # p99 of the last third relative to the first, if no other program ran


def post(path, body, *headers):
    head = [f"POST {path} HTTP/1.1", "Host: h", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def text(t, **more):
    return post("/v1/translate", json.dumps({"text": t, "source": "en", "target": "de", **more}).encode())


# (what, bytes of the request, right statuses)
HOSTILE = [
    ("not JSON", post("/v1/translate", b"{\"text\":"), {400}),
    ("a body of 8 MB", post("/v1/translate", b"x" * (8 << 20)), {413}),
    ("a body said to be of 1 TB", b"POST /v1/translate HTTP/1.1\r\nHost: h\r\nContent-Length: 1099511627776\r\n\r\n", {413}),
    ("characters that the model lacks", text("\ufdfa" * 60000), {200, 413, 503}),
    ("a word without an end", text("a" * 60000, timeout_ms=2000), {200, 413, 503, 504}),
    ("a prefix that loops", text("Hi there.", target_prefix="((((((((("), {200, 503}),
    ("an unknown field", text("Hi.", colour="red"), {400}),
    ("a beam of 32", text("The dog plays in the snow.", beam_size=32, n_best=32), {200, 400, 503}),
    ("nesting", post("/v1/translate", b"[" * 20000), {400}),
    ("no such path", b"GET /nothing HTTP/1.1\r\nHost: h\r\n\r\n", {404}),
    ("two hosts", b"GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", {400}),
    ("not HTTP", bytes(range(256)) + b"\r\n\r\n", {400, None}),
    ("a deadline that is over", text("The old house. " * 200, timeout_ms=1), {200, 413, 503, 504}),
    ("a stream that nobody reads", text("The dog plays. " * 30, stream=True), {200, 503}),
    ("half a request", b"POST /v1/translate HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n{\"text\"", {408}),
]


class Hostile(threading.Thread):
    """Sends one bad request after another; notes those with a wrong answer."""

    def __init__(self, port, pause_s):
        super().__init__(daemon=True)
        self.port, self.pause_s, self.sent, self.wrong, self.over = port, pause_s, 0, [], threading.Event()
        self.patience_s = 20

    def ask(self, what, request, right):
        with socket.create_connection(("127.0.0.1", self.port), timeout=self.patience_s) as s:
            try:
                s.sendall(request)
                if what == "a stream that nobody reads":
                    self.over.wait(UNREAD_SECONDS)
                line = s.recv(4096).split(b"\r\n", 1)[0].split()
                status = int(line[1]) if len(line) > 1 else None
            except (BrokenPipeError, ConnectionResetError):
                status = 413 if 413 in right else None  # refused, and closed, before we had sent it all
            except TimeoutError:
                status = "no answer"
        if status not in right:
            self.wrong.append(f"{what}: {status}")

    def run(self):
        for what, request, right in itertools.cycle(HOSTILE):
            if self.over.wait(self.pause_s):
                return
            try:
                self.ask(what, request, right)
            except OSError as e:
                self.wrong.append(f"{what}: {e}")
            self.sent += 1


class Hour(soak.Checks):
    def __init__(self, a, work):
        super().__init__(a, work)
        self.minutes = []
        self.models = os.path.join(work, "models")
        self.bundle = os.path.join(self.models, "en-de-fr")
        shutil.copytree(os.path.join(a.models, "en-de-fr"), self.bundle)
        self.turn = 0

    def items(self):
        rng, path = random.Random(3), os.path.join(self.work, "raw.jsonl")
        with open(path, "w", encoding="utf-8") as f:
            for i in range(200):
                kind, n = ("long", rng.randint(25, 40)) if i % 10 == 0 else ("short", rng.randint(3, 9))
                body = {"text": " ".join(rng.choices(soak.WORDS, k=n)) + ".", "source": "en", "target": "fr" if i % 3 else "de"}
                f.write(json.dumps({"class": kind, "body": body}) + "\n")
        return path

    def exchange(self, server):
        """Puts the same model under another version in the bundle's place, and sends SIGHUP."""
        self.turn += 1
        following = os.path.join(self.work, "next")
        shutil.copytree(self.bundle, following)
        subprocess.run([os.path.join(self.a.programs, "dragoman"), "seal", following, "--set", f"description=number {self.turn}"],
                       check=True, capture_output=True)
        os.rename(self.bundle, os.path.join(self.work, "last"))
        os.rename(following, self.bundle)
        shutil.rmtree(os.path.join(self.work, "last"))
        server.process.send_signal(signal.SIGHUP)

    def minute(self, server, load, rate, seed):
        self.exchange(server)
        r = load(server, "run", "--phase", f"{rate}:{self.a.minute_seconds}", "--vanish", f"0.05:{VANISH_SECONDS}",
                 "--connections", 500, "--seed", seed, "--grace", 30)
        short = r["phases"][0]["classes"]["short"]["latency_ms"]
        row = {"requests": r["requests"], "ok": r["ok"], "refused": r["refused"], "bad": bad(r),
               "p50_ms": short["p50"], "p99_ms": short["p99"], "others": r["cpus"]["others"],
               "resident_kb": machine.resident_kb(server.pid), "fds": len(os.listdir(f"/proc/{server.pid}/fd")),
               "threads": len(os.listdir(f"/proc/{server.pid}/task"))}
        self.minutes.append(row)
        say(f"  {len(self.minutes):3} {json.dumps(row)}")

    def judge(self, hostile, reloads):
        m = self.minutes
        asked = sum(x["requests"] for x in m)
        wrong = [x["bad"] for x in m if x["bad"]]
        self.check(f"{asked} requests: wrong or lost", not wrong, wrong or 0)
        refused = sum(x["refused"] for x in m)
        self.check("refused below 2 %", refused < 0.02 * asked, refused)
        self.check(f"{hostile.sent} hostile requests answered as they should be", not hostile.wrong, hostile.wrong[:5])
        self.check("reloads", reloads == self.turn, f"{reloads} of {self.turn}")
        late = list(enumerate(m))[len(m) // 4:]
        if len(late) > 3:
            slope = statistics.median((b["resident_kb"] - a["resident_kb"]) / (j - i)
                                      for (i, a), (j, b) in itertools.combinations(late, 2))
            self.check(f"memory: slope below {MOST_KB_A_MINUTE} kB a minute", slope < MOST_KB_A_MINUTE,
                       f"{slope:.1f} kB, resident {m[-1]['resident_kb']} kB")
        third = max(1, len(m) // 3)
        for what in ("fds", "threads"):  # connections abandoned by their clients live for some seconds
            first, last = (statistics.median(x[what] for x in part) for part in (m[:third], m[-third:]))
            self.check(f"{what}: as many at the end", last <= first + 40, f"{first:.0f}, {last:.0f}")
        first, last = (statistics.median(x["p99_ms"] for x in part) for part in (m[:third], m[-third:]))
        busy = statistics.median(x["others"] for x in m) > 0.1
        self.check("p99 at the end as at the beginning", busy or last < MOST_P99 * first,
                   f"{first:.0f} ms, {last:.0f} ms{', not judged: other programs ran' if busy else ''}")

    def run(self):
        with Server(self.a.programs, self.models, OPTIONS) as server:
            path = os.path.join(self.work, "items.jsonl")
            learn(self.a.programs, server, self.items(), path)
            load = Load(self.a.programs, path)
            mix = ("--share", "short=9", "--share", "long=1")
            r = load(server, "closed", "--concurrency", 16, "--seconds", 10, "--warm-up", 3, *mix)
            capacity = r["throughput"]["answers_per_s"]
            rate = self.a.share * capacity
            say(f"== {self.a.minutes} minutes at {rate:.1f} of {capacity:.1f} requests a second")
            hostile = Hostile(server.port, self.a.pause)
            hostile.start()
            for i in range(self.a.minutes):
                self.minute(server, load, rate, i + 1)
            hostile.over.set()
            hostile.join(60)
            reloads = server.log_text().count('event="reloaded"')
            status = server.stop()
            self.check("exit status", status == 0, status)
            self.judge(hostile, reloads)
        if self.a.out:
            with open(self.a.out, "w", encoding="utf-8") as f:
                json.dump({"machine": machine.describe(), "capacity": capacity, "rate": rate, "hostile": hostile.sent,
                           "minutes": self.minutes, "failed": self.failed}, f, indent=1)
                f.write("\n")
        return self.status()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--programs", required=True, help="where dragoman, dragoman-server and dragoman-load are")
    p.add_argument("--models", required=True, help="a folder with the bundle en-de-fr")
    p.add_argument("--minutes", type=int, default=60)
    p.add_argument("--minute-seconds", type=float, default=60, help="shorter ones show that it works")
    p.add_argument("--share", type=float, default=0.8, help="of the capacity that is measured first")
    p.add_argument("--pause", type=float, default=2, help="seconds between two hostile requests")
    p.add_argument("--out", help="write the figures there, as JSON")
    return soak.run(Hour, p.parse_args())


if __name__ == "__main__":
    sys.exit(main())
