"""--plan says how much memory the server may take: it does not take more, whatever is posted."""
import http.client
import json
import os
import re
import subprocess
import sys
import threading

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "api"))

from conftest import PATIENCE, SERVER, Server, sanitized  # noqa: E402
from conftest import endless  # noqa: E402,F401  (a fixture)

FLAGS = ["--threads", "1", "--workers", "1", "--max-connections", "400", "--batch-rows", "64"]
GROWS = "\ufb03" * 190000  # "ffi" to NFKC: letters that the model has, so that it is read, not copied
TEXT = "Two dogs walk along the long road to the sea. "


def planned_mb(models):
    """Returns the maximum that --plan prints."""
    done = subprocess.run([SERVER, "--models", models, *FLAGS, "--plan"], capture_output=True, text=True, timeout=PATIENCE)
    return float(re.search(r"at most +([0-9.]+)", done.stdout).group(1))


def pour(server, n, each, body):
    """Posts `each` times over each of n connections at once, and reads the replies. Returns how often each status came."""
    statuses, lock = {}, threading.Lock()

    def go():
        connection = http.client.HTTPConnection("127.0.0.1", server.port, PATIENCE)
        for _ in range(each):
            try:
                connection.request("POST", body[0], body[1], {"Content-Type": "application/json"})
                reply = connection.getresponse()
                reply.read()
                status = reply.status
            except (http.client.HTTPException, OSError):
                connection.close()
                status = 0  # refused while sending its body
            with lock:
                statuses[status] = statuses.get(status, 0) + 1
    threads = [threading.Thread(target=go) for _ in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(PATIENCE)
    return statuses


def body_of(text, **more):
    return json.dumps(dict({"text": text, "source": "en", "target": "de", "timeout_ms": 4000}, **more), ensure_ascii=False).encode()


LOADS = {
    "refused": (300, 4, ("/v1/translate", body_of([TEXT * 60] * 60))),
    "equal": (300, 1, ("/v1/translate", body_of(TEXT * 200))),
    "growing": (32, 2, ("/v1/translate", body_of(GROWS))),
    "wide": (200, 1, ("/v1/translate", body_of(TEXT * 40, beam_size=32, n_best=32))),
    "batches": (64, 1, ("/v1/batch", json.dumps({"items": [{"text": TEXT * 4, "source": "en", "target": "de"}] * 1000,
                                                 "timeout_ms": 4000}).encode())),
}


@pytest.mark.parametrize("name", LOADS)
def test_the_plan_holds(endless, name):  # noqa: F811
    plan = planned_mb(endless)
    n, each, body = LOADS[name]
    with Server(endless, *FLAGS, "--request-timeout", "300") as server:
        before = server.memory_mb("VmHWM")
        statuses = pour(server, n, each, body)
        peak = server.memory_mb("VmHWM")
        copied = name == "growing" and server.copies(GROWS)
    assert not copied
    assert statuses.get(500, 0) == 0
    print("%s: %.0f MB at the start, %.0f MB at most, %.0f MB planned; %s" % (name, before, peak, plan, statuses))
    assert peak < plan or sanitized()


@pytest.mark.skipif(sanitized(), reason="a sanitizer's memory says nothing")
def test_what_waits_is_counted(endless):  # noqa: F811
    """The heap that planned, waiting items of batches take is counted in the budget for texts."""
    items = [{"text": " ".join("Two dogs and %d cats walk to the sea." % (4 * i + k) for k in range(4)), "source": "en", "target": "de"}
             for i in range(1000)]
    body = ("/v1/batch", json.dumps({"items": items, "timeout_ms": 100000}).encode())
    with Server(endless, *FLAGS, "--max-queue-tokens", "1000000000") as server:
        values = lambda: dict(re.findall(r"^(\w+) (\S+)$", server.get("/metrics").text, re.M))  # noqa: E731
        assert server.translate(TEXT * 4).status_code == 200  # memory that stays allocated after first use: the engine's,
        assert server.post("/v1/batch", {"items": [{"nothing": TEXT * 5}] * 1000}).status_code == 200  # and that for reading a body
        before = values()
        threading.Thread(target=pour, args=(server, 1, 1, body), daemon=True).start()
        server.until(lambda: server.metric("dragoman_queue_depth") > 3500)
        after = values()
        took = float(after["process_resident_memory_bytes"]) - float(before["process_resident_memory_bytes"])
        counted = float(after["dragoman_text_memory_bytes"])
        print("%.1f MB of memory, counted as %.1f MB, %.1f MB at most" % (took / 1e6, counted / 1e6, float(after["dragoman_text_memory_limit_bytes"]) / 1e6))
        assert counted > took * 0.7  # the rest is the engine's, touched on first use and planned separately
        server.process.kill()
        server.process.wait()
        server.stop = lambda: 0
