"""dragoman-server on two emulated devices: one engine on each, and one queue for both. A device's memory is accessible only while
that device works (runtime.cc), so using a pointer of the other device ends the server."""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from conftest import CLI, PATIENCE, SERVER, Local, Server  # noqa: E402
import bundle  # noqa: E402

BUILD = os.environ.get("DRAGOMAN_BUILD", "build/release")
PLUGIN = os.path.abspath(os.path.join(BUILD, "tests", "libdragoman-cuda-emu.so"))
pytestmark = pytest.mark.skipif(not os.path.exists(PLUGIN), reason="the emulated plugin is not built")
TEXTS = ["Number %d walks to the sea." % i for i in range(8)]
SLOW = ["--max-queue-tokens", "1000000", "--request-timeout", "300"]  # no request is refused, however slow the emulation is
BOTH = r"cuda:0/fp32/emulated-on-the-host,cuda:1/fp32/emulated-on-the-host"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    bundle.make(CLI, str(folder / "en-de"), seed=1)
    return str(folder)


def emulated(n=2, **more):
    return dict(DRAGOMAN_CUDA_PLUGIN=PLUGIN, DRAGOMAN_EMU_DEVICES=str(n), **more)


def run(models, *flags, env=None):
    return subprocess.run([SERVER, "--models", models, "--port", "0", *flags], capture_output=True, text=True,
                          timeout=PATIENCE, env=dict(os.environ, **(env or emulated())))


def test_the_doctor_names_the_devices(models):
    def gpu(device, **more):
        done = subprocess.run([CLI, "doctor", "--json", "--models", models, "--port", "0"], capture_output=True, text=True,
                              timeout=PATIENCE, env=dict(os.environ, **emulated(3, DRAGOMAN_DEVICE=device, **more)))
        return next((f["level"], f["message"]) for f in json.loads(done.stdout)["findings"] if f["subject"] == "gpu")
    assert gpu("auto") == ("ok", "cuda:0")
    assert gpu("cuda:0,cuda:2") == ("ok", "cuda:0, cuda:2")
    level, message = gpu("cuda:3")
    assert level == "fail" and "cuda:3 is not there" in message
    old = "CUDA device 0 (emulated on the host) has compute capability 7.5: 8.0 or later is needed"
    assert gpu("cuda:1,cuda:0", DRAGOMAN_EMU_CAPABILITY="7.5,9.0") == ("fail", old)
    assert gpu("auto", DRAGOMAN_EMU_CAPABILITY="7.5,9.0") == ("ok", "cuda:1")
    assert gpu("auto", DRAGOMAN_EMU_CAPABILITY="7.5")[1] == "not used: " + old


def answer(server, text):
    found = server.translate(text, beam_size=2)
    assert found.status_code == 200, found.text
    return found.json()["translations"][0]["text"]


def answers(server, pool):
    return list(pool.map(lambda text: answer(server, text), TEXTS))


def steps(server):
    """({worker: its steps}, [device of each worker])"""
    found = re.findall(r'^dragoman_worker_steps_total\{worker="(\d+)",device="([^"]+)"\} (\d+)$', server.get("/metrics").text, re.M)
    return {int(w): int(n) for w, _, n in found}, [device for _, device, _ in found]


def until_each_worked(server, pool, want):
    """Ask for all texts at once until every worker has taken steps and all answers are right."""
    before, _ = steps(server)
    server.until(lambda: answers(server, pool) == want and all(n > before[w] for w, n in steps(server)[0].items()))


@pytest.fixture(scope="module")
def want(models):
    with Server(models, *SLOW, "--device", "cpu") as server, concurrent.futures.ThreadPoolExecutor(8) as pool:
        return answers(server, pool)


@pytest.mark.parametrize("devices", ["cuda:all", "cuda:0,cuda:1"])
def test_both_give_the_cpus_answers(models, want, devices):
    with Server(models, *SLOW, "--device", devices, env=emulated()) as server, concurrent.futures.ThreadPoolExecutor(8) as pool:
        server.until(lambda: server.logged(r'event="ready" .* device=%s workers=2 ' % BOTH))
        assert server.get("/v1/models").json()["models"][0]["device"] == BOTH
        text = server.get("/metrics").text
        assert len(re.findall(r'^dragoman_model_info\{.*device="cuda:[01]/', text, re.M)) == 2
        for given in [answers(server, pool) for _ in range(3)]:
            assert given == want
        until_each_worked(server, pool, want)


def test_workers_are_spread(models, want):
    with Server(models, *SLOW, "--device", "cuda:1,cuda:0", "--workers", "2", env=emulated()) as server, \
            concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert [d[:6] for d in steps(server)[1]] == ["cuda:1", "cuda:0", "cuda:1", "cuda:0"]
        until_each_worked(server, pool, want)


def test_one_that_is_not_the_first(models, want):
    with Server(models, *SLOW, "--device", "cuda:1", env=emulated()) as server, concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert [d[:6] for d in steps(server)[1]] == ["cuda:1"]
        assert answers(server, pool) == want


def test_models_are_exchanged_on_both(tmp_path):
    """A reload works on all devices, on another thread, while the workers step on theirs."""
    folder = tmp_path / "models"
    folder.mkdir()
    bundle.make(CLI, str(folder / "en-de"), seed=1)
    with Local(str(folder), *SLOW, "--device", "cuda:all", env=emulated()) as server, concurrent.futures.ThreadPoolExecutor(8) as pool:
        bundle.make(CLI, str(tmp_path / "next"), seed=4)
        (folder / "en-de").rename(tmp_path / "old")
        (tmp_path / "next").rename(folder / "en-de")
        busy = [pool.submit(answer, server, text) for text in TEXTS]
        done = server.reload({})
        assert done.status_code == 200 and done.json()["opened"] == 1, done.text
        assert all(b.result() for b in busy)
        with Server(str(folder), *SLOW, "--device", "cpu") as cpu:
            want = answers(cpu, pool)
        until_each_worked(server, pool, want)


def test_a_broken_device_ends_the_server(models, want):
    """Device 1 breaks while both serve: answers so far are right, later requests are refused, the exit status is 1."""
    for waits in (150, 300, 600):
        server = Server(models, *SLOW, "--device", "cuda:all", env=emulated(DRAGOMAN_EMU_FAIL=str(waits), DRAGOMAN_EMU_FAIL_DEVICE="1"),
                        ready=False)
        try:
            server.__enter__()
            server.until(lambda: server.get("/readyz").status_code == 200)
        except AssertionError:
            continue  # it broke during the start, which is an error, too
        seen = set()

        def ask(i, server=server, seen=seen):
            try:
                found = server.translate(TEXTS[i], beam_size=2)
            except Exception:
                return False
            seen.add(found.status_code)
            if found.status_code == 200:
                assert found.json()["translations"][0]["text"] == want[i]
            return found.status_code == 200

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            while all(pool.map(ask, range(len(TEXTS)))):
                pass
        assert server.process.wait(PATIENCE) == 1
        assert server.logged('"device failed" worker=1 reason="cuda:1/.*launch failure')
        assert not server.logged('"device failed" worker=0')
        assert seen <= {200, 503}
        return
    pytest.fail("it never got so far as to serve")


@pytest.mark.parametrize("devices,status,said", [
    ("cuda:0,cuda:2", 1, "cuda:0,cuda:2 cannot be used: cuda:2 is not there: there are 2 CUDA devices, from 0 on"),
    ("cuda:1,cuda:1", 2, 'device "cuda:1,cuda:1" names cuda:1 twice'),
    ("cuda:0,cpu", 2, 'device "cuda:0,cpu": expected auto, cpu, cuda, cuda:N, several of these'),
    ("cuda:0,", 2, 'device "cuda:0,": expected'),
])
def test_a_list_that_is_wrong(models, devices, status, said):
    for flags in (["--device", devices], ["--device", devices, "--plan"], ["--device", devices, "--check-config"]):
        done = run(models, *flags)
        assert done.returncode == status and said in done.stderr, done.stderr


def test_settings_show_them(models, tmp_path):
    done = run(models, "--print-config", env=emulated(DRAGOMAN_DEVICE="cuda:0,cuda:1"))
    assert re.search(r'^device = "cuda:0,cuda:1" +# environment DRAGOMAN_DEVICE$', done.stdout, re.M)
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"device": "cuda:all"}))
    done = run(models, "--config", str(path), "--check-config")
    assert done.returncode == 0, done.stderr
    assert re.search(r'^device = "cuda:all" +# file ', done.stdout, re.M)


def test_the_plan_has_each_devices_memory(models):
    done = run(models, "--device", "cuda:all", "--workers", "2", "--plan")
    assert done.returncode == 0, done.stderr
    own = re.findall(r"^Device: cuda:(\d)/fp32/emulated-on-the-host\nIts own memory: parameters (\S+) MB \+ engines 2 x (\S+) MB "
                     r"= (\S+) MB, (\S+) MB are free\.$", done.stdout, re.M)
    assert [o[0] for o in own] == ["0", "1"]
    for _, parameters, engine, whole, free in own:
        assert float(parameters) > 0 and float(engine) > 0 and float(free) > float(whole)
        assert abs(float(parameters) + 2 * float(engine) - float(whole)) < 0.3
    most = int(float(own[0][3]) * 1e6)  # slightly too little memory does not fit, twice as much does
    for memory, status in ((most - 200000, 1), (2 * most, 0)):
        done = run(models, "--device", "cuda:all", "--workers", "2", "--plan", env=emulated(DRAGOMAN_EMU_MEMORY=str(memory)))
        assert done.returncode == status and ("it does not fit" in done.stdout) == (status == 1), done.stdout
    done = run(models, "--device", "cuda:all", "--workers", "2", env=emulated(DRAGOMAN_EMU_MEMORY=str(most // 2)))
    assert done.returncode == 1 and re.search(r"no memory (for matrix products )?on cuda:0", done.stderr), done.stderr


def test_other_programs_want_one(models):
    done = subprocess.run([CLI, "translate", "--model", os.path.join(models, "en-de"), "--device", "cuda:all"], input="One.\n",
                          capture_output=True, text=True, timeout=PATIENCE, env=dict(os.environ, **emulated()))
    assert done.returncode != 0 and "2 devices are named where one is expected" in done.stderr
