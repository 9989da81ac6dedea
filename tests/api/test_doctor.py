"""dragoman doctor: the faults it reports are real, and a server runs where it reports none."""
import json
import os
import resource
import shutil
import socket
import subprocess

import pytest

from conftest import CLI, PATIENCE, ROOT, SERVER, Server, sanitized
from test_keys import make_first_version
from test_settings import Limited


BUNDLED = os.path.join(ROOT, "weights", "bundles")
ENV = {name: value for name, value in os.environ.items() if not name.startswith("DRAGOMAN_")}


def doctor(*arguments, env=None, **more):
    done = subprocess.run([CLI, "doctor", "--json", *arguments], capture_output=True, text=True, timeout=PATIENCE,
                          env={**ENV, **(env or {})}, **more)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def finding(report, subject):
    found = [f for f in report["findings"] if f["subject"] == subject]
    assert len(found) == 1, report
    return found[0]


@pytest.fixture
def port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def test_a_sound_machine_and_its_models(models, port):
    status, report = doctor("--models", models, "--port", port, "--connections", "16")
    assert status == 0 and report["result"] in ("ok", "warn")
    assert [f["subject"] for f in report["findings"]] == \
        ["processor", "cores", "memory", "descriptors", "gpu", "port"] + [bundle_name(models, n) for n in sorted(os.listdir(models))]
    for name in os.listdir(models):
        assert "checksums right" in finding(report, bundle_name(models, name))["message"]
    with Server(models) as server:
        backend = server.get("/v1/models").json()["models"][0]["device"]
    assert "kernels %s of" % backend in finding(report, "processor")["message"]


def bundle_name(models, folder):
    with open(os.path.join(models, folder, "manifest.json"), encoding="utf-8") as f:
        return json.load(f)["name"]


def test_text_says_the_same_as_json(models, port):
    done = subprocess.run([CLI, "doctor", "--models", models, "--port", port], capture_output=True, text=True, env=ENV)
    report = doctor("--models", models, "--port", port)[1]
    lines = done.stdout.splitlines()
    assert [line.split()[:2] for line in lines if line[:1] in "owf"] == \
        [[f["level"], f["subject"]] for f in report["findings"]]
    assert lines[-1] == {"ok": "Ready to serve.", "warn": "Will serve; see the warnings.",
                         "fail": "Will not serve: fix the failures."}[report["result"]]


def test_a_taken_port(models):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        status, report = doctor("--models", models, "--port", str(s.getsockname()[1]))
    found = finding(report, "port")
    assert status == 1 and report["result"] == found["level"] == "fail"
    assert "in use" in found["message"] and "--port" in found["advice"]


def test_too_few_descriptors(models, port):
    """A server lowers its default of 4096 connections, but not to fewer than 16, and not a number that was given."""
    flags, limit = ["--models", models, "--port", port], lambda n: lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))
    for n, level, told in ((300, "warn", "300 allowed, for 44 connections instead of 4096"), (272, "warn", "272 allowed, for 16 connections"),
                           (271, "fail", "271 allowed, 4096 connections need 4352")):
        status, report = doctor(*flags, preexec_fn=limit(n))
        found = finding(report, "descriptors")
        assert status == (level == "fail") and found["level"] == level and told in found["message"] and "ulimit" in found["advice"]
    with Limited(models, 272) as server:
        server.until(lambda: server.logged("fewer connections.* max_connections=16"))
    done = subprocess.run([SERVER, *flags], capture_output=True, text=True, preexec_fn=limit(271), timeout=PATIENCE)
    assert done.returncode == 1 and "271" in done.stderr
    for given in (["--connections", "45"], ["--max-connections", "45"]):
        status, report = doctor(*flags, *given, preexec_fn=limit(300))
        assert status == 1 and finding(report, "descriptors")["level"] == "fail"
    status, report = doctor(*flags, env={"DRAGOMAN_MAX_CONNECTIONS": "4096"}, preexec_fn=limit(300))
    assert status == 1 and finding(report, "descriptors")["level"] == "fail"
    status, report = doctor(*flags, "--connections", "44", preexec_fn=limit(300))
    assert status == 0 and finding(report, "descriptors")["message"] == "300 allowed, 44 connections need 300"


def test_the_environment_counts_as_it_does_for_the_server(models, port):
    env = {"DRAGOMAN_MODELS": models, "DRAGOMAN_PORT": port, "DRAGOMAN_MAX_CONNECTIONS": "7", "DRAGOMAN_ISA": "generic"}
    status, report = doctor(env=env)
    assert status == 0 and report["result"] == "warn"
    assert finding(report, "port")["message"] == "127.0.0.1:%s is free" % port
    assert "7 connections" in finding(report, "descriptors")["message"]
    assert finding(report, "processor")["level"] == "warn" and "DRAGOMAN_ISA" in finding(report, "processor")["advice"]
    status, report = doctor(env={**env, "DRAGOMAN_ISA": "sse9"})
    assert status == 1 and "sse9" in finding(report, "processor")["message"]


def test_the_device_is_the_servers(models, port):
    """The finding about the device is what the server says when it starts in the same environment."""
    nowhere = {"DRAGOMAN_CUDA_PLUGIN": "/nowhere.so"}
    flags = ["--models", models, "--port", port, "--connections", "16"]
    status, report = doctor(*flags, env={**nowhere, "DRAGOMAN_DEVICE": "cuda"})
    found = finding(report, "gpu")
    assert status == 1 and found["level"] == "fail" and "DRAGOMAN_DEVICE" in found["advice"]
    server = subprocess.run([SERVER, "--models", models, "--port", "0"], capture_output=True, text=True, timeout=PATIENCE,
                            env={**os.environ, **nowhere, "DRAGOMAN_DEVICE": "cuda"})
    assert server.returncode != 0 and found["message"] in server.stderr and "/nowhere.so" in found["message"]
    for wrong in ({"DRAGOMAN_DEVICE": "tpu"}, {"DRAGOMAN_PRECISION": "fp8"}):
        status, report = doctor(*flags, env=wrong)
        assert status == 1 and "expected" in finding(report, "gpu")["message"]
    status, report = doctor(*flags, env={**nowhere, "DRAGOMAN_DEVICE": "auto"})
    assert status == 0 and "not used: the CUDA plugin cannot be opened: /nowhere.so" in finding(report, "gpu")["message"]
    status, report = doctor(*flags, env={"DRAGOMAN_DEVICE": "cpu"})
    assert status == 0 and finding(report, "gpu")["message"] == "not used: the device is set to cpu"


def test_one_core(models, port):
    one = min(os.sched_getaffinity(0))
    report = doctor("--models", models, "--port", port, preexec_fn=lambda: os.sched_setaffinity(0, {one}))[1]
    assert finding(report, "cores")["message"].startswith("1")


def test_a_changed_byte_in_the_weights(models, port, tmp_path):
    bundle = tmp_path / "broken"
    shutil.copytree(os.path.join(models, sorted(os.listdir(models))[0]), bundle)
    weights = bundle / "weights.dgw"
    data = bytearray(weights.read_bytes())
    data[len(data) // 2] ^= 1
    weights.write_bytes(data)
    status, report = doctor("--models", str(bundle), "--port", port)
    found = finding(report, "model")
    assert status == 1 and found["level"] == "fail" and str(bundle) in found["message"]


def test_the_remedy_fits_the_fault(models, port, tmp_path):
    bundle = tmp_path / "bundle"
    shutil.copytree(os.path.join(models, sorted(os.listdir(models))[0]), bundle)
    weights = bundle / "weights.dgw"
    weights.write_bytes(weights.read_bytes()[:-1])
    assert finding(doctor("--models", str(bundle), "--port", port)[1], "model")["advice"].startswith("download the bundle again")
    weights.unlink()
    weights.symlink_to("weights.dgw")  # as a file without rights; root may read those
    assert finding(doctor("--models", str(bundle), "--port", port)[1], "model")["advice"].startswith("let the server's user read")


@pytest.mark.skipif(sanitized(), reason="sanitizers need more addresses")
def test_the_remedy_for_too_little_memory(port):
    """Limits from below what the program itself takes to what it takes with the model: at one of them, the model finds none."""
    for megabytes in range(48, 1024, 8):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2)
        done = subprocess.run([CLI, "doctor", "--json", "--models", BUNDLED, "--port", port], capture_output=True, text=True,
                              env=ENV, preexec_fn=limit)
        assert done.returncode != 0, "never was too little for the model alone"
        if "no memory for a buffer" in done.stdout:
            assert finding(json.loads(done.stdout), "model")["advice"].startswith("free memory, or raise")
            return


def test_settings_that_it_does_not_check_are_named(models, port):
    flags = ["--models", models, "--port", port, "--connections", "16"]
    status, report = doctor(*flags, env={"DRAGOMAN_MAX_TEXTS": "abc", "DRAGOMAN_TLS_CERTIFICATE": "/nowhere", "DRAGOMAN_ISA": "generic"})
    found = finding(report, "settings")
    assert status == 0 and found["message"] == "not checked here: DRAGOMAN_MAX_TEXTS, DRAGOMAN_TLS_CERTIFICATE"
    assert "--check-config" in found["advice"]


def test_no_models(port, tmp_path):
    for folder, words in ((tmp_path, "holds no bundle"), (tmp_path / "nowhere", "No such file")):
        status, report = doctor("--models", str(folder), "--port", port)
        assert status == 1 and words in finding(report, "models")["message"]


def test_a_folder_that_nobody_can_look_into(models, port, tmp_path):
    """Here for a link that leads to itself, since root may enter all; a server does not start then."""
    for name in os.listdir(models):
        (tmp_path / name).symlink_to(os.path.join(models, name))
    (tmp_path / "loop").symlink_to("loop")
    status, report = doctor("--models", str(tmp_path), "--port", port)
    said = finding(report, "models")["message"]
    assert status == 1 and str(tmp_path / "loop") in said
    done = subprocess.run([SERVER, "--models", str(tmp_path), "--check-config"], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1 and said in done.stderr


def test_wrong_usage():
    for arguments in (["--port", "70000"], ["--port", "x"], ["--nonsense"], ["extra"], ["--connections", "0"]):
        done = subprocess.run([CLI, "doctor", *arguments], capture_output=True, text=True)
        assert done.returncode == 2 and done.stderr and not done.stdout


def test_api_keys(models, port, tmp_path):
    path = tmp_path / "keys.db"
    flags = ["--models", models, "--port", port, "--connections", "16", "--keys", str(path)]
    status, report = doctor(*flags)
    assert status == 1 and str(path) in finding(report, "keys")["message"]
    keys = lambda *a: subprocess.run([CLI, "keys", *a, "--keys", str(path)], check=True, capture_output=True, text=True).stdout
    key = json.loads(keys("add", "--name", "x", "--json"))
    status, report = doctor(*flags)
    assert status == 0 and finding(report, "keys")["message"] == "1 of 1 keys valid"
    assert keys("usage").count("\n") == 1  # the check itself is not counted as usage
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + b"x" * 4096 + whole[12288:])
    status, report = doctor(*flags)
    assert status == 1 and "is damaged" in finding(report, "keys")["message"] and "put back a copy" in finding(report, "keys")["advice"]
    path.write_bytes(whole)
    keys("revoke", key["id"])
    status, report = doctor(*flags[:-2], env={"DRAGOMAN_KEYS": str(path)})
    assert status == 0 and finding(report, "keys")["level"] == "warn"


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_an_older_file_of_keys_stays_as_it_is(models, port, tmp_path, mode):
    """It may belong to an older server that runs, which would refuse the upgraded file."""
    path = tmp_path / "keys.db"
    make_first_version(path, mode)
    before = path.read_bytes()
    status, report = doctor("--models", models, "--port", port, "--connections", "16", "--keys", str(path))
    assert status == 0 and finding(report, "keys")["level"] == "ok"
    assert "earlier version" in finding(report, "keys")["message"]
    assert path.read_bytes() == before
