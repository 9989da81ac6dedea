"""One client that sends as much as it can, over many connections, beside one that asks now and then. The addresses
127.0.0.2, 127.0.0.3, ... stand for clients on other machines."""
import http.client
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "api"))

from conftest import PATIENCE, Server  # noqa: E402
from conftest import endless  # noqa: E402,F401  (a fixture)

SECONDS = 8


class Client:
    def __init__(self, server, address):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, PATIENCE, source_address=(address, 0))

    def ask(self, text, **more):
        """Returns status and seconds."""
        start = time.monotonic()
        self.connection.request("POST", "/v1/translate", json.dumps(dict(text=text, source="en", target="de", **more)),
                                {"Content-Type": "application/json"})
        reply = self.connection.getresponse()
        reply.read()
        return reply.status, time.monotonic() - start


def flood(server, address, n, stop, count, **more):
    def go_on(number):
        client = Client(server, address)
        for i in range(10 ** 6):
            if stop.is_set():
                return
            status, _ = client.ask("Number %d of %d walks along the long road to the sea." % (i, number), **more)
            count[status] = count.get(status, 0) + 1
            if status == 503:
                time.sleep(0.05)
    threads = [threading.Thread(target=go_on, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    return threads


def polite(server, address, seconds):
    """Returns (status, seconds) of each request of a client that asks now and then."""
    client = Client(server, address)
    said, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        said.append(client.ask("A short question, the %dth." % len(said)))
        time.sleep(0.1)
    return said


def check(endless, flooders, **more):  # noqa: F811
    with Server(endless, "--threads", "1", "--workers", "1", "--max-queue-seconds", "1") as server:
        Client(server, "127.0.0.4").ask("Something to learn its speed from.")
        stop, count = threading.Event(), {}
        threads = [t for address, n in flooders.items() for t in flood(server, address, n, stop, count, **more)]
        time.sleep(2)
        said = polite(server, "127.0.0.3", SECONDS)
        stop.set()
        for t in threads:
            t.join(PATIENCE)
    refused = sum(status != 200 for status, _ in said)
    took = sorted(t for status, t in said if status == 200)
    print("the polite one: %d of %d refused, p50 %.2f s, slowest %.2f s; the others: %s" %
          (refused, len(said), took[len(took) // 2], took[-1], count))
    assert count.get(503, 0) > 0, "the machine is too fast for this load"
    assert refused == 0


def test_one_client_with_many_connections_refuses_no_other(endless):  # noqa: F811
    check(endless, {"127.0.0.2": 64}, beam_size=8)


def test_a_wide_search_buys_no_more(endless):  # noqa: F811
    check(endless, {"127.0.0.2": 24, "127.0.0.5": 24}, beam_size=16)


def test_an_address_has_a_rate_where_there_are_no_keys(endless):  # noqa: F811
    with Server(endless, "--address-requests-per-minute", "20") as server:
        client = Client(server, "127.0.0.2")
        statuses = [client.ask("12")[0] for _ in range(30)]
        assert statuses[:20] == [200] * 20 and 429 in statuses[20:]
        assert Client(server, "127.0.0.3").ask("12")[0] == 200
        assert all(server.translate("12").status_code == 200 for _ in range(40))  # this machine may be a proxy
        assert all(server.get("/livez").status_code == 200 for _ in range(40))
