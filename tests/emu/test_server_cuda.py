"""dragoman-server on the emulated CUDA backend: the CPU's answers, and what it does when its device breaks."""
import os
import shutil
import subprocess
import sys
import threading
import time

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from conftest import CLI, PATIENCE, Server  # noqa: E402
import bundle  # noqa: E402

BUILD = os.environ.get("DRAGOMAN_BUILD", "build/release")
PLUGIN = os.path.abspath(os.path.join(BUILD, "tests", "libdragoman-cuda-emu.so"))
pytestmark = pytest.mark.skipif(not os.path.exists(PLUGIN), reason="the emulated plugin is not built")
TEXTS = ["This is a test.", "Two dogs play in the snow. A man looks on.", "Hello."]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    bundle.make(CLI, str(folder / "en-de"), seed=1)
    return str(folder)


def emulated(**more):
    return dict(DRAGOMAN_CUDA_PLUGIN=PLUGIN, **more)


def answers(server):
    found = server.post("/v1/translate", dict(text=TEXTS, source="en", target="de", beam_size=2))
    assert found.status_code == 200, found.text
    return [t["text"] for t in found.json()["translations"]]


def test_answers_are_the_cpus(models):
    with Server(models, "--device", "cpu") as server:
        want = answers(server)
    with Server(models, "--device", "cuda", env=emulated()) as server:
        server.until(lambda: server.logged(r'device=cuda:0/fp32/emulated-on-the-host'))
        assert server.get("/v1/models").json()["models"][0]["device"].startswith("cuda:0")
        assert answers(server) == want


def attention(server, **fields):
    reply = server.post("/v1/attention", dict(text=TEXTS[0], source="en", target="de", **fields))
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_attention_weights_are_the_cpus(models):
    kinds = ("encoder", "decoder", "cross")
    with Server(models, "--device", "cpu") as server:
        want = [attention(server, kind=kind) for kind in kinds]
    with Server(models, "--device", "cuda", env=emulated()) as server:
        for kind, theirs in zip(kinds, want):
            mine = attention(server, kind=kind)
            assert mine["target_tokens"] == theirs["target_tokens"]
            pairs = [(a, b) for x, y in zip(mine["layers"], theirs["layers"]) for h, g in zip(x["heads"], y["heads"])
                     for r, s in zip(h, g) for a, b in zip(r, s)]
            assert len(pairs) > 20 and all(abs(a - b) < 1e-5 for a, b in pairs)


def test_a_shortlist_is_left_aside(models, tmp_path):
    """On a GPU one product serves all rows of a step, so the answers are those of the full vocabulary. On a CPU the list changes them."""
    listed = str(tmp_path / "listed")
    shutil.copytree(os.path.join(models, "en-de"), listed)
    subprocess.run([os.path.join(BUILD, "bin", "random-shortlist"), listed, "3", "100"], check=True)

    def translate(model, device):
        done = subprocess.run([CLI, "translate", "--model", model, "--device", device], input="\n".join(TEXTS) + "\n", text=True,
                              capture_output=True, timeout=PATIENCE, env=dict(os.environ, **emulated()))
        assert done.returncode == 0, done.stderr
        return done.stdout

    whole = translate(os.path.join(models, "en-de"), "cpu")
    assert translate(listed, "cuda") == whole
    assert translate(listed, "cpu") != whole


def test_auto_says_why_not(models):
    with Server(models, "--device", "auto", env=emulated(DRAGOMAN_EMU_DEVICES="0")) as server:
        server.until(lambda: server.logged(r'"device is the CPU" reason=.*no CUDA device'))
        assert answers(server)


def test_cuda_by_name_is_an_error_without_a_device(models):
    server = Server(models, "--device", "cuda", env=emulated(DRAGOMAN_EMU_DEVICES="0"), ready=False)
    with pytest.raises(AssertionError):
        server.__enter__()
    assert server.process.wait(PATIENCE) == 1
    assert server.logged("cuda cannot be used: no CUDA device")


def test_a_device_that_hangs_ends_the_program(models):
    """Waiting for the device never ends: the program logs that and exits. A server's /livez says `stuck` before that."""
    began = time.monotonic()
    done = subprocess.run([CLI, "translate", "--model", os.path.join(models, "en-de"), "--device", "cuda"], input=TEXTS[0] + "\n", text=True,
                          capture_output=True, timeout=PATIENCE, env=dict(os.environ, **emulated(DRAGOMAN_EMU_HANG="30", DRAGOMAN_CUDA_PATIENCE="0.5")))
    assert done.returncode == 1 and "cuda_hung" in done.stderr, done.stderr
    assert not done.stdout and time.monotonic() - began > 0.5
    server = Server(models, "--device", "cuda", "--stuck-after", "0.5", env=emulated(DRAGOMAN_EMU_HANG="400", DRAGOMAN_CUDA_PATIENCE="4"), ready=False)
    server.__enter__()
    server.until(lambda: server.get("/readyz").status_code == 200)
    lives = set()

    def ask():
        try:
            for i in range(10000):
                server.translate(f"This is test {i}.")
        except Exception:  # the server has gone
            pass
    asking = threading.Thread(target=ask)
    asking.start()
    while server.process.poll() is None:
        try:
            lives.add(server.get("/livez").status_code)
        except Exception:
            break
        time.sleep(0.1)
    asking.join()
    assert server.process.wait(PATIENCE) == 1
    assert lives == {200, 503}
    assert server.logged("cuda_hung")


def test_a_broken_device_ends_the_server(models):
    """The device breaks some steps after the self-test. No answer may come from it: 503, then exit status 1."""
    statuses = []
    for waits in (150, 220, 300, 400):
        server = Server(models, "--device", "cuda", env=emulated(DRAGOMAN_EMU_FAIL=str(waits)), ready=False)
        try:
            server.__enter__()
            server.until(lambda: server.get("/readyz").status_code == 200)
        except AssertionError:
            continue  # it broke during the start, which is an error, too
        for _ in range(400):
            try:
                statuses.append(server.translate("This is a test.").status_code)
            except Exception:
                break
            if statuses[-1] != 200:
                break
        assert server.process.wait(PATIENCE) == 1
        assert server.logged('"device failed" worker=0 reason=".*launch failure')
        assert set(statuses) <= {200, 503}
        return
    pytest.fail("it never got so far as to serve")
