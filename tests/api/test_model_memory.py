"""Bundles opened on demand (--model-memory): every answer is right, whatever else is opened and closed meanwhile."""
import concurrent.futures
import json
import random
import re
import shutil
import subprocess
import threading
import time

import pytest
import requests

import bundle
from conftest import CLI, NARROW, PATIENCE, Local, Server, long_text, run_server, sanitized

LANGUAGES = ["de", "fr", "es", "it", "nl", "pt", "pl", "sv"]
TEXTS = ["Hello.", "The dog runs. The cat sleeps.", "Greetings to all, 42 times, from here and from there."]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Sixteen bundles of two models, under other names and pairs: en to eight languages, and back."""
    folder = tmp_path_factory.mktemp("many")
    made = [bundle.make(CLI, str(folder / ".made" / str(seed)), "en", "de", seed=seed, D=64, F=128) for seed in (1, 2)]
    for i, language in enumerate(LANGUAGES):
        for k, pair in enumerate((("en", language), (language, "en"))):
            path = shutil.copytree(made[k], folder / "-".join(pair))
            manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
            manifest["pairs"] = [pair]
            manifest["check"]["pair"] = pair
            manifest["decoding"] = dict(manifest["decoding"], length_penalty=0.1 * i)
            (path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
            subprocess.run([CLI, "seal", str(path), "--set", "name=" + "-".join(pair)], check=True, capture_output=True)
    return folder


def pairs():
    return [("en", x) for x in LANGUAGES] + [(x, "en") for x in LANGUAGES]


def opened(server):
    return {m["name"] for m in server.get("/v1/models").json()["models"] if m["open"]}


def ask(server, source, target, texts=TEXTS, **more):
    return server.post("/v1/translate", dict(text=texts, source=source, target=target, **more))


FLAGS = ["--workers", "2", "--max-queue-tokens", "1000000", "--request-timeout", "300"]


@pytest.fixture(scope="module")
def right(many):
    """Returns each pair's answer with all bundles open, and the bytes that one bundle takes."""
    with Server(str(many), *FLAGS) as server:
        assert len(opened(server)) == 16 and server.metric("dragoman_model_opens_total", outcome="ok") == 16
        answers = {p: ask(server, *p).json()["translations"] for p in pairs()}
        answers.update({(a, b): ask(server, a, b).json()["translations"] for a in LANGUAGES[:3] for b in LANGUAGES[:3] if a != b})
        return answers, int(server.metric("dragoman_model_memory_bytes") / 16)


def test_what_fits_is_opened_at_start_and_the_rest_when_it_is_needed(many, right):
    answers, each = right
    with Server(str(many), *FLAGS, "--model-memory", str(each * 4 + each // 2)) as server:
        assert opened(server) == {"de-en", "en-de", "en-es", "en-fr"}  # the first by name
        server.until(lambda: server.logged(r'event="bundles open on first use" closed=12'))
        models = server.get("/v1/models").json()["models"]
        assert len(models) == 16 and all(m["bytes"] > 0 and ("device" in m) == m["open"] for m in models)
        assert {l["code"] for l in server.get("/v1/languages").json()["languages"]} == {"en", *LANGUAGES}
        assert len(opened(server)) == 4  # listing models opens none
        for name in ("en-fr", "en-es", "en-de"):
            assert ask(server, *name.split("-")).status_code == 200
        assert ask(server, "sv", "en").json()["translations"] == answers["sv", "en"]
        assert opened(server) == {"en-de", "en-es", "en-fr", "sv-en"}  # de-en was idle longest
        assert server.metric("dragoman_model_closes_total") == 1 == server.metric("dragoman_models_open") - 3
        assert server.metric("dragoman_model_memory_bytes") <= server.metric("dragoman_model_memory_max_bytes")
        assert server.logged(r'event="model" name=sv-en .*read_seconds=')
        assert ask(server, "sv", "en", beam_size=99).status_code == 400  # and a wrong request opens nothing
        assert ask(server, "en", "pl", n_best=9, beam_size=2).status_code == 400 and "en-pl" not in opened(server)


def test_every_bundle_shows_in_the_metrics_whether_open_or_closed(many, right):
    """What servers have can be compared although they open other bundles; only an open one has a device."""
    answers, each = right
    assert answers
    with Server(str(many), *FLAGS, "--model-memory", str(each + each // 2)) as server:
        served = sorted((m["name"], m["version"]) for m in server.get("/v1/models").json()["models"])
        assert len(served) == 16
        for pair in (("en", "fr"), ("pl", "en")):
            assert ask(server, *pair).status_code == 200
            server.until(lambda: opened(server) == {"-".join(pair)})
            lines = re.findall(r"^dragoman_model_info{(.*)} 1$", server.get("/metrics").text, re.M)
            shown = [dict(re.findall(r'(\w+)="([^"]*)"', line)) for line in lines]
            assert sorted((labels["model"], labels["version"]) for labels in shown) == served
            assert [labels["model"] for labels in shown if "device" in labels] == ["-".join(pair)]
            assert {labels["type"] for labels in shown} == {"float32"}


def test_steps_do_not_fall_when_a_bundle_is_closed(many, right):
    answers, each = right
    assert answers
    with Server(str(many), "--workers", "1", "--model-memory", str(each + each // 2)) as server:
        steps = [0]
        for pair in (("en", "fr"), ("en", "de"), ("de", "en")):  # each closes the one before
            assert ask(server, *pair, texts=["Hello." if steps[1:] else long_text(20)]).status_code == 200
            found = re.findall(r'^dragoman_worker_steps_total{worker="0",device="[^"]+"} (\S+)$', server.get("/metrics").text, re.M)
            assert len(found) == 1 and float(found[0]) > steps[-1], (pair, steps, found)
            steps.append(float(found[0]))
        assert server.metric("dragoman_model_closes_total") >= 2
        assert steps[-1] == server.metric("dragoman_decode_steps_total")


@pytest.mark.parametrize("room", [1, 3])
def test_every_answer_is_right_while_bundles_come_and_go(many, right, room):
    """Single requests, pivots, batches, streams and clients that leave, with room for one bundle, or for three."""
    answers, each = right
    with Server(str(many), *FLAGS, "--model-memory", str(each * room + each // 2)) as server:
        for p in pairs():
            ask(server, *p)
        before, most, wrong, end = server.memory_mb(), [0], [], time.monotonic() + 4

        def client(number):
            rng = random.Random(number)
            with requests.Session() as session:
                while time.monotonic() < end:
                    pair = rng.choice(list(answers))
                    body = dict(text=TEXTS, source=pair[0], target=pair[1])
                    kind = rng.randrange(4)
                    if kind == 0:
                        items = [dict(text=TEXTS[0], source=a, target=b, id=str(i)) for i, (a, b) in enumerate(rng.sample(list(answers), 3))]
                        r = session.post(server.url("/v1/batch"), json={"items": items}, timeout=PATIENCE)
                        got = [(i["source"], i["target"], i.get("text")) for i in r.json()["items"]] if r.status_code == 200 else r.text
                        want = [(i["source"], i["target"], answers[i["source"], i["target"]][0]["text"]) for i in items]
                    elif kind == 1:
                        try:
                            session.post(server.url("/v1/translate"), json=body, timeout=0.01)
                        except requests.RequestException:
                            pass
                        continue
                    else:
                        r = session.post(server.url("/v1/translate"), json=body, timeout=PATIENCE)
                        got, want = r.json().get("translations", r.text), answers[pair]
                    if got != want:
                        wrong.append((pair, r.status_code, got))
                    most[0] = max(most[0], server.memory_mb())

        clients = [threading.Thread(target=client, args=(n,)) for n in range(6)]
        for c in clients:
            c.start()
        for c in clients:
            c.join()
        assert wrong == []
        assert server.metric("dragoman_model_closes_total") > 10
        server.until(lambda: server.metric("dragoman_model_waiting_requests") == 0)
        assert sanitized() or most[0] < before + 20  # one bundle and six requests; a leak grows with each opening
        server.until(lambda: server.metric("dragoman_models_open") <= room)


def test_a_pivot_over_the_limit_leaves_one_bundle_open(many, right):
    """Both bundles are in use during the request; one is closed as soon as it ends, although nobody asks for another."""
    answers, each = right
    with Server(str(many), *FLAGS, "--model-memory", str(each + each // 2)) as server:
        for _ in range(3):
            assert ask(server, "de", "fr").json()["translations"] == answers["de", "fr"]
            server.until(lambda: len(opened(server)) == 1)


def test_one_opening_for_all_who_wait(many, right):
    answers, each = right
    with Server(str(many), *FLAGS, "--model-memory", str(each + each // 2)) as server:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda _: ask(server, "en", "sv").json()["translations"], range(8)))
        assert replies == [answers["en", "sv"]] * 8
        assert server.metric("dragoman_model_opens_total", outcome="ok") == 2


def test_a_request_waits_for_one_in_use_up_to_its_deadline(many, right, endless, busy, tmp_path):
    """A bundle in use is never closed: a request that needs its room waits, gets 504 at its deadline, and an answer once there is room."""
    folder = tmp_path / "two"
    shutil.copytree(endless, folder / "endless")  # en-de
    shutil.copytree(many / "en-fr", folder / "en-fr")
    with Server(str(folder), *FLAGS, *NARROW, "--model-memory", "1") as server:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            with server.held(busy(60)):
                late = ask(server, "en", "fr", timeout_ms=100)
                assert late.status_code == 504, late.text
                waits = pool.submit(ask, server, "en", "fr")
                server.until(lambda: server.metric("dragoman_model_waiting_requests") == 1)
            assert waits.result().json()["translations"] == right[0]["en", "fr"]


@pytest.mark.parametrize("how", ["gone", "changed", "damaged"])
def test_a_closed_bundle_that_cannot_be_opened(many, right, tmp_path, how):
    """Requests for it fail and others do not; a reload, or its files restored, repairs it."""
    folder = tmp_path / "served"
    for name in ("en-de", "en-fr"):
        shutil.copytree(many / name, folder / name)
    with Local(str(folder), *FLAGS, "--model-memory", "1") as server:
        assert opened(server) == {"en-de"}
        weights = folder / "en-fr" / "weights.dgw"
        if how == "gone":
            weights.rename(folder / "weights")
        elif how == "changed":
            subprocess.run([CLI, "seal", str(folder / "en-fr"), "--set", "name=other"], check=True, capture_output=True)
        else:
            data = bytearray(weights.read_bytes())
            data[len(data) // 2] ^= 1
            weights.write_bytes(data)
        reply = ask(server, "en", "fr")
        assert reply.status_code == 500 and str(folder) not in reply.text, reply.text
        assert ask(server, "en", "de").json()["translations"] == right[0]["en", "de"]
        server.until(lambda: server.logged(r'level=error event="bundle cannot be opened" name=en-fr message=.*%s' % re.escape(str(folder))))
        assert server.metric("dragoman_model_opens_total", outcome="failed") >= 1
        if how == "changed":
            assert server.reload().json()["opened"] == 1
        else:
            shutil.copyfile(many / "en-fr" / "weights.dgw", weights)
        server.until(lambda: ask(server, "en", "fr").status_code == 200)


def test_a_reload_looks_at_what_has_no_room(many, right, tmp_path):
    folder = tmp_path / "served"
    for name in ("en-de", "en-fr", "en-es"):
        shutil.copytree(many / name, folder / name)
    with Local(str(folder), *FLAGS, "--model-memory", "1") as server:
        shutil.copytree(many / "en-it", folder / "en-it")
        reply = server.reload().json()
        assert (reply["opened"], reply["kept"]) == (1, 3)
        assert ask(server, "en", "it").json()["translations"] == right[0]["en", "it"]
        manifest = folder / "en-es" / "manifest.json"
        manifest.write_text(manifest.read_text(encoding="utf-8").replace('"pairs"', '"description": "x", "pairs"'), encoding="utf-8")
        reply = server.reload()
        assert reply.status_code == 422 and "changed after it was sealed" in reply.text
        assert ask(server, "en", "it").status_code == 200
    done = run_server("--models", str(folder), "--model-memory", "1", "--check-config")
    assert done.returncode == 1 and "changed after it was sealed" in done.stderr


def test_which_bundle_answers_does_not_depend_on_what_is_open(tmp_path):
    """A direct bundle goes before a pivot, and the larger of several serves a hop of a pivot, closed or not."""
    for name, pair, seed, width in (("a-small", ("de", "en"), 1, 32), ("b-large", ("de", "en"), 2, 64), ("c-small", ("en", "fr"), 3, 32),
                                    ("d-large", ("en", "fr"), 4, 64), ("e-direct", ("es", "fr"), 5, 32), ("f-first", ("es", "en"), 6, 64)):
        bundle.make(CLI, str(tmp_path / name), *pair, seed=seed, D=width)
    with Server(str(tmp_path), *FLAGS, "--model-memory", "1") as server:
        versions = {m["name"]: m["version"] for m in server.get("/v1/models").json()["models"]}
        named = lambda reply: [n for v in reply.headers["X-Model-Version"].split(", ") for n in versions if versions[n] == v]
        for _ in range(2):
            assert opened(server) != {"b-large", "d-large"}
            assert named(ask(server, "de", "en")) == ["a-small"]  # without a pivot, the first by name
            assert named(ask(server, "de", "fr")) == ["b-large", "d-large"]
            assert opened(server) <= {"b-large", "d-large"}
            assert named(ask(server, "es", "fr")) == ["e-direct"]
            assert named(ask(server, "es", "en")) == ["f-first"]


def test_a_stop_while_requests_wait(many):
    with Server(str(many), *FLAGS, "--model-memory", "1") as server:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            def one(pair):
                try:
                    return ask(server, *pair).status_code
                except requests.ConnectionError:
                    return 0
            replies = [pool.submit(one, p) for p in pairs()]
            time.sleep(0.05)
            server.stop()
            assert {r.result() for r in replies} <= {0, 200, 503}


def test_the_plan_counts_it(many, right):
    each = right[1]
    plan = lambda *flags: run_server("--models", str(many), *FLAGS, "--plan", *flags).stdout
    most = lambda text: float(re.search(r"at most\s+([\d.]+)", text)[1])
    whole, bounded = plan(), plan("--model-memory", str(2 * each))
    assert "--model-memory" not in whole and "limit of open bundles, --model-memory %d" % (2 * each) in bounded
    assert most(bounded) < most(whole) - 10 * each / 1e6
