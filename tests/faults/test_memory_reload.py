"""Each allocation of a reload fails once, over HTTP and by SIGHUP: the old models keep serving, refusals have a message, and the next
reload succeeds.

FAULTS_STEPS: how many places are tried (a few); `make faults` tries all."""
import collections
import os
import re
import shutil
import signal
import sys
import time

import pytest
import requests

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "api")]

import bundle  # noqa: E402
from conftest import CLI, PATIENCE, Local, models, sanitized  # noqa: E402,F401  (models: a fixture)
from faults import control  # noqa: E402,F401  (control: a fixture)

STEPS = int(os.environ.get("FAULTS_STEPS", "5"))  # 0: all
pytestmark = pytest.mark.skipif(sanitized(), reason="a sanitizer has an allocator of its own")


class Served:
    """A folder of bundles, one of which is exchanged for another each time."""

    def __init__(self, models, folder):  # noqa: F811
        self.folder, self.turn = folder, 0
        shutil.copytree(models, folder / "served")
        for seed in (21, 22):
            bundle.make(CLI, str(folder / ("de-fr-%d" % seed)), "de", "fr", seed=seed)

    def exchange(self):
        self.turn += 1
        shutil.copytree(self.folder / ("de-fr-%d" % (21 + self.turn % 2)), self.folder / "next")
        os.rename(self.folder / "served" / "de-fr", self.folder / "old")
        os.rename(self.folder / "next", self.folder / "served" / "de-fr")
        shutil.rmtree(self.folder / "old")


def versions(server):
    return {m["source"]: m["version"] for m in server.get("/v1/models").json()["models"]}


def reloads(server):
    """Returns how many reloads succeeded and failed, from /metrics."""
    text = ""
    while "dragoman_model_reloads_total" not in text:  # this request may be the one that gets no memory
        try:
            text = server.get("/metrics").text
        except requests.RequestException:
            pass
    return [int(re.search(r'^dragoman_model_reloads_total\{outcome="%s"\} (\d+)' % o, text, re.M)[1]) for o in ("ok", "failed")]


def by_http(server):
    """Reloads over HTTP. Returns None if that succeeded, else what was said."""
    try:
        reply = server.reload()
    except requests.RequestException:
        return "closed"
    if reply.status_code == 200:
        return None
    assert reply.status_code in (500, 503) and "memory" in reply.text.lower() and reply.headers["X-Request-Id"], reply.text
    return str(reply.status_code)


def by_signal(server):
    before, begin = reloads(server), len(server.log)
    server.process.send_signal(signal.SIGHUP)
    end = time.monotonic() + PATIENCE
    while (now := reloads(server)) == before:
        assert time.monotonic() < end
        time.sleep(0.005)
    if now[0] > before[0]:
        return None
    assert server.process.poll() is None
    server.until(lambda: re.search("reload failed.*memory", "".join(server.log[begin:]), re.I))
    return "failed"


@pytest.mark.parametrize("how", [by_http, by_signal])
def test_reload(models, control, tmp_path, how):  # noqa: F811
    served, wrong, ways = Served(models, tmp_path), [], collections.Counter()
    with Local(str(tmp_path / "served"), env=control.env()) as server:
        want = server.translate("Hello.").json()
        for _ in range(2):
            served.exchange()
            assert how(server) is None
        control.record = 1
        served.exchange()
        assert how(server) is None
        control.record = 0
        places = control.places()
        ways["places"] = len(places)
        for n, (place, _, _) in enumerate(places if not STEPS else places[::max(1, len(places) // STEPS)]):
            if n == 20:
                live = control.live
            before, begin = versions(server), len(server.log)
            served.exchange()
            control.trace = 1
            control.fail_place(place)
            try:
                said = how(server)
            except AssertionError as e:
                said = "unclear"
                wrong.append("%s\n%s" % (e, "".join(server.log[begin:])[:3000]))
            failed = control.quiet()
            control.trace = 0
            assert server.process.poll() is None, "".join(server.log[begin:])
            ways["not reached" if not failed else said or "done all the same"] += 1
            now = versions(server)
            # If it was the reply that got no memory, the reload is done.
            done = any('event="reloaded"' in line for line in server.log[begin:])
            if said in ("503", "500", "failed") and now != before and not done:
                wrong.append("%s: %s is served instead of %s" % (said, now, before))
            if server.translate("Hello.").json() != want:
                wrong.append("another answer\n" + "".join(server.log[begin:])[:3000])
            if how(server) is not None or (said is not None and versions(server) == before):
                wrong.append("the next reload fails, or changes nothing:\n" + "".join(server.log[begin:])[:3000])
        print(dict(ways))
        if n > 60:
            assert control.live < live + 60, "%d blocks more" % (control.live - live)
    assert not wrong, "%d of %s:\n%s" % (len(wrong), dict(ways), "\n".join(wrong[:5]))
    assert ways["503"] + ways["failed"] > 1
