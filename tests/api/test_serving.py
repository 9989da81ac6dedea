"""How requests share the server: the same answer in any company, equal sentences translated once, classes, fair shares, the
bound."""
import concurrent.futures
import random
import re
import time

import pytest

from conftest import NARROW, Server, http_post, long_text

WORDS = "the a man dog rides plays bicycle snow quickly and on in street red two".split()


def one_long():
    """A single sentence that keeps a NARROW server busy for as long as many short ones would."""
    return " ".join(["walks"] * 40) + "."


def ok(reply):
    assert reply.status_code == 200, reply.text
    return reply.json()["translations"]


def test_largest_beam_is_for_those_who_ask(models, server):
    """--max-beam changes no answer of requests without a beam, and leaves room for their longest sentences."""
    text = " ".join(WORDS[i % len(WORDS)] for i in range(700))
    with Server(models, "--batch-rows", "8", "--batch-sentences", "4", "--max-beam", "2", "--max-queue-tokens", "100000") as narrow:
        assert ok(narrow.translate(text, scores=True)) == ok(server.translate(text, scores=True))
        assert ok(narrow.translate("Two dogs.", beam_size=2)) == ok(server.translate("Two dogs.", beam_size=2))
        assert narrow.translate("Two dogs.", beam_size=3).status_code == 400


# The same answer in any company -------------------------------------------------------------------------------

def draw(rng, known):
    """A request: an array of texts, some of them asked for before."""
    texts = []
    for _ in range(rng.choice([1, 1, 1, 2, 7])):
        if known and rng.random() < 0.3:
            texts.append(rng.choice(known))
        else:
            texts.append(" ".join(rng.choices(WORDS, k=rng.choice([1, 2, 5, 9, 20, 60]))) + ".")
            known.append(texts[-1])
    beam = rng.choice([1, 2, 4, 7])
    return texts, {"beam_size": beam, "n_best": rng.randint(1, beam), "scores": True}


@pytest.mark.parametrize("flags", [
    [], ["--workers", "2", "--threads", "1"], ["--batch-rows", "24", "--max-beam", "8", "--batch-sentences", "5"],
    ["--batching", "fifo"], ["--batching", "static"]], ids=lambda f: "_".join(f).replace("--", "") or "default")
def test_random_load_the_same_bits_as_alone(models, flags):
    """Text, spans and every digit of every score are those of each text alone: in arrays, with mixed beams, in both classes, beside
    clients that leave or time out at random moments."""
    rng = random.Random(11)
    known = []
    jobs = [draw(rng, known) for _ in range(80)]
    with Server(models, "--max-queue-tokens", "1000000", *flags) as server:
        alone = [[ok(server.translate(text, **o))[0] for text in texts] for texts, o in jobs]

        def ask(i):
            own = random.Random(i)
            texts, o = jobs[i]
            time.sleep(own.random() * 0.02)
            if i % 8 == 7: # goes away
                body = dict(text=texts, source="en", target="de", **o)
                with server.connect() as s:
                    s.sendall(http_post("/v1/translate", body))
                    time.sleep(own.random() * 0.01)
                return None
            if i % 8 == 6: # too late, or just in time
                reply = server.translate(texts, timeout_ms=own.randint(1, 20), **o)
                return ok(reply) if reply.status_code != 504 else None
            return ok(server.translate(texts, priority=own.choice(["interactive", "bulk"]), **o))

        for _ in range(2):
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                loaded = list(pool.map(ask, range(len(jobs))))
            for got, expected in zip(loaded, alone):
                assert got is None or got == expected


# Equal sentences ----------------------------------------------------------------------------------------------

def begin_long(server, pool, **fields):
    """Sends a sentence that others wait for; on a machine that stalls it may end before they come, so callers repeat."""
    front = pool.submit(server.translate, one_long(), **fields)
    server.until(lambda: server.metric("dragoman_live_sentences") > 0 or front.done())
    return front


def test_equal_sentences_that_wait_are_translated_once(endless):
    text = "The same for everybody."
    with Server(endless, *NARROW) as server:
        alone = ok(server.translate(text))
        for _ in range(20):
            before = server.metric("dragoman_coalesced_sentences_total")
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                front = begin_long(server, pool, beam_size=4)
                same = [pool.submit(server.translate, text) for _ in range(8)]
                other = pool.submit(server.translate, text, beam_size=1)
                twice = pool.submit(server.translate, [text, text])
                late = pool.submit(server.translate, text, timeout_ms=20)
                for reply in same:
                    assert ok(reply.result()) == alone
                assert ok(twice.result()) == alone * 2
                assert ok(other.result())
                assert late.result().status_code in (200, 504)
                ok(front.result())
            assert server.metric("dragoman_queue_depth") == 0
            if server.metric("dragoman_coalesced_sentences_total") - before >= 9:
                break
        else:
            pytest.fail("equal sentences never waited together")


def test_one_of_many_leaves_the_others_stay(endless):
    """The first of several equal requests hangs up while all wait: the others are still answered."""
    text = "The same for everybody."
    with Server(endless, *NARROW) as server:
        alone = ok(server.translate(text))
        for _ in range(20):
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                front = begin_long(server, pool)
                depth = server.metric("dragoman_queue_depth")
                before = server.metric("dragoman_coalesced_sentences_total")
                with server.connect() as s:
                    s.sendall(http_post("/v1/translate", dict(text=text, source="en", target="de")))
                    server.until(lambda: server.metric("dragoman_queue_depth") != depth or front.done())
                    same = [pool.submit(server.translate, text) for _ in range(3)]
                    server.until(lambda: server.metric("dragoman_coalesced_sentences_total") >= before + 3 or front.done())
                    left_in_time = not front.done()
                for reply in same:
                    assert ok(reply.result()) == alone
                ok(front.result())
            if left_in_time:
                break
        else:
            pytest.fail("equal sentences never waited together")


# Classes and shares ------------------------------------------------------------------------------------------

def test_interactive_goes_before_bulk_which_goes_on(endless, busy):
    """A short interactive request overtakes a long bulk one, which goes on after it."""
    with Server(endless, *NARROW) as server, server.held(busy(60), priority="bulk"):
        ok(server.translate("Short too."))
        waiting = server.metric("dragoman_queue_depth")
        assert waiting > 0
        server.until(lambda: server.metric("dragoman_queue_depth") < waiting)


def test_a_large_request_does_not_block_small_ones(endless, busy):
    with Server(endless, *NARROW) as server, server.held(busy(60)):
        for i in range(3):
            ok(server.translate("Small number %d." % i))
            assert server.metric("dragoman_queue_depth") > 0


def test_bulk_does_not_keep_interactive_out(endless, busy):
    """As much bulk work waits as may: more of it is refused, an interactive request is taken."""
    with Server(endless, *NARROW, "--max-queue-tokens", "40") as server:
        with server.held(max(busy(60), long_text(60), key=len), priority="bulk"):  # larger than the bound, but no other such waits
            reply = server.translate(long_text(10), priority="bulk")  # larger, too
            assert reply.status_code == 503 and int(reply.headers["Retry-After"]) >= 1
            ok(server.translate("Somebody waits for this."))


def test_the_bound_is_in_seconds_of_work(endless, busy):
    """With a bound of half a second, requests that come all at once are accepted if they can start soon."""
    narrow = NARROW[:NARROW.index("--max-queue-tokens")]
    with Server(endless, *narrow, "--max-queue-seconds", "0.5") as server:
        text = busy(0.3)
        ok(server.translate(text)) # the server measures its speed
        with concurrent.futures.ThreadPoolExecutor(40) as pool:
            replies = list(pool.map(lambda i: server.translate(text.replace("sea", "sea %d" % i)), range(40)))
        refused = [r for r in replies if r.status_code == 503]
        assert {r.status_code for r in replies} == {200, 503}
        assert all(1 <= int(r.headers["Retry-After"]) <= 60 for r in refused)
        messages = {r.json()["error"]["message"] for r in refused}
        assert all(re.search(r"of work are waiting, .* limit of 0\.5|waited for .* limit of 0\.5", m) for m in messages), messages
