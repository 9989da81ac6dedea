"""A private dragoman-server on a free port of 127.0.0.1, and the programs that load it."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import machine


class Failure(Exception):
    """Something does not work without which the benchmark makes no sense."""


class Server:
    """with Server(programs, models, ["--batch-rows", "64"]) as s: ... s.port. under: the words of a program that runs it."""

    def __init__(self, programs, models, options=(), start_seconds=120, under=()):
        self.log = tempfile.TemporaryFile()
        command = [*under, os.path.join(programs, "dragoman-server"), "--models", models, "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        self.pid = self.process.pid
        end = time.monotonic() + start_seconds
        try:
            self.port = self._wait(r"listening\"? address=127\.0\.0\.1:(\d+)", end)
            self.workers = self._wait(r"\bworkers=(\d+)", end)
            self.compute_threads = self._wait(r" (?:compute_)?threads=(\d+)", end)
        except Failure:
            self.kill()
            raise

    def _wait(self, pattern, end):
        while True:
            found = re.search(pattern, self.log_text())
            if found:
                return int(found.group(1))
            if self.process.poll() is not None or time.monotonic() > end:
                raise Failure(f"the server does not start:\n{self.log_text()}")
            time.sleep(0.02)

    def log_text(self):
        return os.pread(self.log.fileno(), 1 << 22, 0).decode("utf-8", "replace")

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as reply:
            return reply.read().decode("utf-8")

    def counter(self, name):
        """The value of a metric, named with its labels if it has any."""
        return float(re.search(rf"^{re.escape(name)} (\S+)$", self.get("/metrics"), re.M).group(1))

    def status(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as reply:
                return reply.status
        except urllib.error.HTTPError as e:
            return e.code

    def wait(self, seconds=60):
        """The exit status of a server that was told to stop; None if it does not end in time."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, seconds=60):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.wait(seconds)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.stop() is None:
            self.kill()
        self.log.close()


def run_json(command):
    done = subprocess.run([str(x) for x in command], capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, command))}\n{done.stderr}")
    return json.loads(done.stdout)


class Load:
    """Runs dragoman-load against a server; adds the cores used by the server, the load generator and others to its report."""

    def __init__(self, programs, items):
        self.program, self.items = os.path.join(programs, "dragoman-load"), items

    def __call__(self, server, verb, *options):
        command = [self.program, verb, "--port", server.port, "--items", self.items, *options]
        busy, own, at = machine.busy_seconds(), machine.process_seconds(server.pid), time.monotonic()
        report = run_json(command)
        wall = time.monotonic() - at
        busy = machine.busy_seconds() - busy
        try:
            own = machine.process_seconds(server.pid) - own
        except (OSError, IndexError):
            own = 0  # the run has ended the server
        report["cpus"] = {"server": round(own / wall, 3), "generator": round(report["generator"]["cpus"], 3),
                          "others": round(max(0.0, busy - own - report["generator"]["cpu_s"]) / wall, 3)}
        return report


def learn(programs, server, source, target):
    """Ask for each item of the file `source` alone, one after another, and write the items with their answers to `target`."""
    Load(programs, source)(server, "learn", "--out", target)


def say(text):
    print(text, file=sys.stderr, flush=True)
