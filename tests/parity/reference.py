#!/usr/bin/env python3
"""Judges Dragoman against CTranslate2 on a real model: the figures that the reference model must reach.

  tests/parity/reference.py --shared ../shared --build build/release [--http http://127.0.0.1:8080]

Needs shared/reference (model and expected outputs) and PyPI sacrebleu. Without --http a server is
started on the converted bundle. Prints one line a figure; the exit status is 1 when one is missed.
"""
import argparse
import gzip
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

LIMIT = "256"  # the peer's limit was 256 pieces


class Judge:
    def __init__(self):
        self.missed = 0

    def say(self, figure, value, wanted, good):
        self.missed += not good
        print(f"{'pass' if good else 'FAIL'}  {figure:<52} {value:<28} {wanted}", flush=True)

    def note(self, figure, value):
        print(f"      {figure:<52} {value}", flush=True)


class Program:
    def __init__(self, build, bundle):
        self.path, self.bundle = os.path.join(build, "bin", "dragoman"), bundle

    def run(self, args, text=""):
        done = subprocess.run([self.path] + args, input=text.encode(), capture_output=True)
        if done.returncode:
            sys.exit(f"{self.path} {' '.join(args)}: {done.stderr.decode()}")
        return done.stdout.decode()

    def translate(self, lines, *options):
        out = self.run(["translate", "--model", self.bundle, "--json", *options], "".join(x + "\n" for x in lines))
        answers = [json.loads(x) for x in out.splitlines()]
        if len(answers) != len(lines):
            sys.exit(f"translate {options}: {len(lines)} lines in, {len(answers)} out")
        return answers

    def score(self, sources, targets):
        """Parsed `score` results of each pair, with token log-probabilities; both sides are lists of pieces."""
        with tempfile.TemporaryDirectory() as d:
            paths = [os.path.join(d, "source"), os.path.join(d, "target")]
            for path, lists in zip(paths, (sources, targets)):
                with open(path, "w", encoding="utf-8") as f:
                    f.write("".join(" ".join(x) + "\n" for x in lists))
            out = self.run(["score", "--model", self.bundle, "--source", paths[0], "--target", paths[1], "--pieces",
                            "--json"])
        return [json.loads(x) for x in out.splitlines()]


def convert(build, reference, out):
    vocab, spm = os.path.join(reference, "vocab.yml"), os.path.join(reference, "joint.spm")
    subprocess.run([os.path.join(build, "bin", "dragoman"), "convert", "marian", "--model",
                    os.path.join(reference, "model.npz"), "--vocab", vocab, "--vocab", vocab, "--spm", spm, "--spm", spm,
                    "--source-lang", "en", "--target-lang", "de", "--positions", "halves", "--out", out],
                   check=True, stdout=subprocess.DEVNULL)


def pieces_of(hypothesis):
    pieces = hypothesis["tokens" if "tokens" in hypothesis else "pieces"]  # the program's key, or the reference's
    return pieces.split() if isinstance(pieces, str) else pieces


def share(n, of):
    return f"{n} of {of} ({100 * n / of:.2f} %)"


def judge_forced(judge, program, cases):
    answers = program.score([c["source_pieces"] for c in cases], [c["forced"]["pieces"][:-1] for c in cases])
    worst_token = worst_sum = 0.0
    for case, answer in zip(cases, answers):
        if [t["token"] for t in answer["tokens"]] != case["forced"]["pieces"]:
            sys.exit(f"score: other pieces than asked for: {answer['tokens']}")
        theirs = case["forced"]["logprobs"]
        ours = [t["logprob"] for t in answer["tokens"]]
        worst_token = max(worst_token, max(abs(a - b) for a, b in zip(ours, theirs)))
        worst_sum = max(worst_sum, abs(sum(ours) - sum(theirs)), abs(answer["score"] - sum(ours)))
    judge.say("forced log-probability, worst token", f"{worst_token:.2e}", "<= 1e-4", worst_token <= 1e-4)
    judge.say("forced log-probability, worst sentence", f"{worst_sum:.2e}", "<= 1e-3", worst_sum <= 1e-3)


def first_difference(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def judge_greedy(judge, program, cases):
    answers = program.translate([" ".join(c["source_pieces"]) for c in cases], "--pieces", "--beam", "1",
                                "--max-length", LIMIT)
    other = [(c, pieces_of(a)) for c, a in zip(cases, answers) if pieces_of(a) != c["greedy"]["pieces"]]
    same = len(cases) - len(other)
    judge.say("greedy identical", share(same, len(cases)), ">= 99.5 %", same >= 0.995 * len(cases))
    widest = 0.0
    if other:
        sources = [c["source_pieces"] for c, _ in other]
        ours = program.score(sources, [mine for _, mine in other])
        theirs = program.score(sources, [c["greedy"]["pieces"] for c, _ in other])
        for (case, mine), a, b in zip(other, ours, theirs):
            i = first_difference(mine, case["greedy"]["pieces"])
            widest = max(widest, abs(a["tokens"][i]["logprob"] - b["tokens"][i]["logprob"]))
    judge.say("greedy, gap of the two best at a first difference", f"{widest:.2e}", "< 1e-4", widest < 1e-4)


def judge_beam(judge, program, cases):
    answers = program.translate([" ".join(c["source_pieces"]) for c in cases], "--pieces", "--beam", "4", "--n-best",
                                "4", "--penalty", "none", "--max-length", LIMIT)
    good = same = lists = better = 0
    for case, answer in zip(cases, answers):
        ours, theirs = answer["n_best"], case["beam4"]
        good += ours[0]["score"] >= theirs[0]["score"] - 1e-3
        better += ours[0]["score"] > theirs[0]["score"] + 1e-3
        same += pieces_of(ours[0]) == theirs[0]["pieces"]
        lists += [pieces_of(h) for h in ours] == [h["pieces"] for h in theirs]
    n = len(cases)
    judge.say("beam 4, no penalty: best score >= peer's - 1e-3", share(good, n), ">= 99.5 %", good >= 0.995 * n)
    judge.say("beam 4, no penalty: best identical", share(same, n), ">= 98 %", same >= 0.98 * n)
    judge.note("beam 4, no penalty: best score above the peer's", share(better, n))
    judge.note("beam 4, no penalty: all four identical", share(lists, n))


def judge_bleu(judge, program, cases):
    import sacrebleu
    texts = [a["text"] for a in program.translate([c["source"] for c in cases], "--beam", "4", "--alpha", "0.6")]
    metric = sacrebleu.BLEU()
    bleu = metric.corpus_score(texts, [[c["target"] for c in cases]]).score
    judge.say("BLEU, beam 4, alpha 0.6", f"{bleu:.2f}", "35.2 +- 0.3", abs(bleu - 35.2) <= 0.3)
    judge.note("", str(metric.get_signature()))
    neighbour = sum(c.get("gnmt06", {}).get("text") == t for c, t in zip(cases, texts))
    judge.note("same text as the PyTorch search", share(neighbour, len(cases)))
    return texts


class Server:
    """dragoman-server on a free port until the block ends; does nothing when a URL was given."""

    def __init__(self, build, bundle, url):
        self.args, self.url, self.process = (build, bundle), url, None

    def __enter__(self):
        if self.url:
            return self.url.rstrip("/")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.process = subprocess.Popen([os.path.join(self.args[0], "bin", "dragoman-server"), "--models", self.args[1],
                                         "--host", "127.0.0.1", "--port", str(port)], stderr=subprocess.DEVNULL)
        url = f"http://127.0.0.1:{port}"
        for _ in range(300):
            try:
                urllib.request.urlopen(url + "/readyz", timeout=5)
                return url
            except OSError:
                if self.process.poll() is not None:
                    sys.exit(f"the server ended with status {self.process.returncode}")
                time.sleep(0.1)
        sys.exit("the server did not become ready within 30 s")

    def __exit__(self, *_):
        if self.process:
            self.process.terminate()
            self.process.wait(60)


def translate_http(url, texts):
    body = json.dumps({"text": texts, "source": "en", "target": "de"}).encode()
    request = urllib.request.Request(url + "/v1/translate", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as reply:
        return [t["text"] for t in json.load(reply)["translations"]]


def judge_http(judge, url, cases, texts):
    got = []
    for i in range(0, len(cases), 50):
        got += translate_http(url, [c["source"] for c in cases[i:i + 50]])
    # Some of them one at a time: neighbours in a batch must not matter.
    alone = [translate_http(url, [c["source"]])[0] for c in cases[::25]]
    same = sum(a == b for a, b in zip(got, texts))
    judge.say("HTTP gives the command line's text", share(same, len(cases)), "all", same == len(cases))
    agree = sum(x == y for x, y in zip(alone, texts[::25]))
    judge.say("HTTP, one text a request", share(agree, len(alone)), "all", agree == len(alone))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--shared", default="../shared")
    p.add_argument("--build", default="build/release")
    p.add_argument("--http", help="a server with the same model; without it one is started")
    p.add_argument("--bundle", help="the model if it is converted already")
    a = p.parse_args()
    reference = os.path.join(a.shared, "reference")
    with gzip.open(os.path.join(reference, "expected.jsonl.gz"), "rt", encoding="utf-8") as f:
        cases = [json.loads(x) for x in f]
    judge = Judge()
    with tempfile.TemporaryDirectory() as d:
        bundle = a.bundle or os.path.join(d, "reference")
        if not a.bundle:
            convert(a.build, reference, bundle)
        program = Program(a.build, bundle)
        judge_forced(judge, program, cases)
        judge_greedy(judge, program, cases)
        judge_beam(judge, program, cases)
        texts = judge_bleu(judge, program, cases)
        with Server(a.build, bundle, a.http) as url:
            judge_http(judge, url, cases, texts)
    sys.exit(1 if judge.missed else 0)


main()
