"""Many concurrent requests for attention weights and alternatives, among translations and clients that hang up: every
answer is the one a quiet server gives, or says why not; and the server stops cleanly under this load. Worth a run on a
build with the thread sanitizer: the exit status is checked."""
import concurrent.futures
import itertools

import pytest

import bundle
import conftest

TEXTS = ["Two dogs play.", "A man rides a bicycle down the street.", "The sea is calm.", "A girl is smiling at a man."]
CLIENTS, ROUNDS = 8, 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return bundle.make(conftest.CLI, str(tmp_path_factory.mktemp("aside") / "en-de"), seed=4)


def questions():
    """Yields (path, body), all different."""
    for text, kind in itertools.product(TEXTS, ("encoder", "decoder", "cross")):
        yield "/v1/attention", {"text": text, "source": "en", "target": "de", "kind": kind}
    for text, count in itertools.product(TEXTS, (2, 4)):
        yield "/v1/alternatives", {"text": text, "target_prefix": "", "source": "en", "target": "de", "n": count}
    for text in TEXTS:
        yield "/v1/translate", {"text": text, "source": "en", "target": "de", "alignments": True}


def ask(server, question):
    path, body = question
    return server.post(path, body)


def hang_up(server, question):
    """Sends the question and closes the connection before the answer."""
    with server.connect() as s:
        s.sendall(conftest.http_post(*question))


def test_many_at_once(folder):
    asked = list(questions())
    with conftest.Server(folder, "--request-timeout", "300") as server:
        quiet = [ask(server, q) for q in asked]
        assert [r.status_code for r in quiet] == [200] * len(asked), [r.text for r in quiet if r.status_code != 200]

        def client(number):
            codes = set()
            for i in range(ROUNDS):
                at = (7 * number + 5 * i) % len(asked)
                if (number + i) % 4 == 3:
                    hang_up(server, asked[at])
                    continue
                reply = ask(server, asked[at])
                codes.add(reply.status_code)
                if reply.status_code == 200:
                    assert reply.json() == quiet[at].json(), asked[at]
                else:
                    assert reply.status_code == 503 and reply.json()["error"]["code"] == "overloaded", reply.text
            return codes

        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            codes = set().union(*pool.map(client, range(CLIENTS)))
        assert 200 in codes
        server.until(lambda: server.in_flight() == 0)
        assert [ask(server, q).json() for q in asked] == [r.json() for r in quiet]


def test_ended_in_the_middle(folder):
    """A stop under load leaves no client waiting: each gets an answer, a 503 or a closed connection."""
    asked = [q for q in questions() if q[0] != "/v1/translate"]
    with conftest.Server(folder, "--drain-timeout", "0") as server:
        with concurrent.futures.ThreadPoolExecutor(len(asked)) as pool:
            def one(question):
                with server.connect() as s:
                    s.sendall(conftest.http_post(*question, "Connection: close"))
                    return conftest.read_all(s)
            running = [pool.submit(one, q) for q in asked]
            server.until(lambda: any(f.done() for f in running))
            server.stop()
            answers = [f.result() if not f.exception() else b"" for f in running]
    for a in answers:
        assert a == b"" or a.startswith(b"HTTP/1.1 "), a[:100]
        assert a == b"" or a.split(b" ", 2)[1] in (b"200", b"503"), a[:100]
