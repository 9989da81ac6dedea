"""dragoman pull when connections, servers, archives or disks fail. Nothing incomplete or wrong is installed, and what was there before
stays."""
import contextlib
import fcntl
import gzip
import io
import json
import os
import pathlib
import resource
import signal
import socket
import socketserver
import subprocess
import sys
import tarfile
import threading

import pytest

import stand_in
from conftest import DRAGOMAN

MODEL = "model.ende.intgemm.alphas.bin.zst"


def model_path(hub):
    record = [r for r in json.loads(hub.files[hub.index])["data"] if r["fileType"] == "model"][0]
    return "/cdn/" + record["attachment"]["location"]


def asked_for(hub, path):
    return [asked for p, asked in hub.log if p == path]


@pytest.fixture
def firefox(hub):
    hub.serve_firefox()
    return ["firefox/en-de", "--index", hub.url + hub.index]


def test_a_cut_connection_goes_on_where_it_was(hub, pull, firefox):
    path = model_path(hub)
    hub.faults[path] = {"cut": 70000, "times": 2}
    pull(*firefox)
    assert asked_for(hub, path) == [None, "bytes=70000-", "bytes=140000-"]
    assert pull.installed() == ["firefox-en-de"]


def test_the_next_run_goes_on_too(hub, pull, firefox):
    path = model_path(hub)
    hub.faults[path] = {"cut": 20000}
    assert "transfer closed" in pull(*firefox, ok=False)
    assert len(asked_for(hub, path)) == 5 and pull.installed() == []
    have = len(asked_for(hub, path)) * 20000
    assert MODEL + ".part" in pull.left()
    hub.faults.clear()
    hub.log.clear()
    pull(*firefox)
    assert asked_for(hub, path) == [f"bytes={have}-"] and pull.left() == []


def test_the_next_run_takes_what_is_finished(hub, pull, firefox):
    """Of several files all that arrived before the fault, unless its hash is another one: a newer version, a damaged disk."""
    pull.models.mkdir()
    with open(pull.models / ".pull.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        pull(*firefox, ok=False)
    cdn = [path for path, _ in hub.log if path.startswith("/cdn/")]
    assert len(cdn) == 3 and len(pull.left()) == 3
    model = pull.cache / "dragoman" / ".download-firefox-en-de" / MODEL
    data = model.read_bytes()
    model.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    hub.log.clear()
    pull(*firefox)
    assert [path for path, _ in hub.log if path.startswith("/cdn/")] == [model_path(hub)] and pull.left() == []


def test_a_missing_file_costs_no_other(hub, pull):
    """On the hub, where small files have git's hash."""
    hub.serve_repository("someone/model", "huggingface/uneven")
    fetch, missing = ("hf/someone/model", "--index", hub.url), next(path for path in hub.files if path.endswith("/vocab.json"))
    data = hub.files.pop(missing)
    assert "not found" in pull(*fetch, ok=False) and pull.left()
    done = {p.name for p in pull.cache.rglob("*") if p.is_file()}
    hub.files[missing] = data
    hub.log.clear()
    pull(*fetch)
    fetched = {path.split("/")[-1] for path, _ in hub.log if "/resolve/" in path}
    assert "vocab.json" in fetched and not fetched & done


def test_models_that_cannot_be_written_are_told_before_the_download(hub, pull, firefox):
    pull.models.write_text("no directory")
    assert str(pull.models) in pull(*firefox, ok=False)
    assert not any(path.startswith("/cdn/") for path, _ in hub.log) and not pull.cache.exists()


def test_what_an_earlier_run_left_of_another_file_is_dropped(hub, pull, firefox):
    folder = pull.cache / "dragoman" / ".download-firefox-en-de"
    folder.mkdir(parents=True)
    (folder / (MODEL + ".part")).write_bytes(b"x" * 1000)
    pull(*firefox)
    assert asked_for(hub, model_path(hub)) == ["bytes=1000-", None]


def test_416_begins_again(hub, pull, firefox):
    path = model_path(hub)
    hub.faults[path] = {"cut": 1000, "416": True, "times": 2}
    pull(*firefox)
    assert asked_for(hub, path) == [None, "bytes=1000-", None]


def test_416_for_ever_is_an_error(hub, pull, firefox):
    hub.faults[model_path(hub)] = {"status": 416}
    assert "the server returns 416" in pull(*firefox, ok=False)


def test_a_server_without_ranges_sends_the_whole_again(hub, pull, firefox):
    path = model_path(hub)
    hub.faults[path] = {"cut": 90000, "no_range": True, "times": 2}
    pull(*firefox)
    assert asked_for(hub, path)[:2] == [None, "bytes=90000-"] and pull.installed() == ["firefox-en-de"]


def test_another_version_in_between_is_noticed_without_a_hash(hub, pull):
    """Two halves of two versions: If-Range and the ETag keep them apart."""
    hub.serve_argos()
    path, index = "/v1/translate-en_de-1_9.argosmodel", hub.url + "/argospm-index/main/index.json"
    hub.faults[path] = {"cut": 50000}
    pull("argos/en-de", "--index", index, ok=False)
    hub.faults.clear()
    hub.files[path] = stand_in.argos_package()
    hub.headers[path] = {"ETag": '"two"'}
    hub.log.clear()
    pull("argos/en-de", "--index", index)
    assert asked_for(hub, path) == ["bytes=250000-"]
    made = json.loads((pull.models / "argos-en-de" / "manifest.json").read_text())
    assert made["origin"]["files"][0]["sha256"] == stand_in.sha256(hub.files[path])


@pytest.mark.parametrize("status,told", [(404, "404 (not found)"), (403, "returns 403")])
def test_a_refusal_is_told_at_once(hub, pull, firefox, status, told):
    path = model_path(hub)
    hub.faults[path] = {"status": status}
    message = pull(*firefox, ok=False)
    assert told in message and hub.url + path in message and len(asked_for(hub, path)) == 1


def test_an_overloaded_server_is_asked_again(hub, pull, firefox):
    path = model_path(hub)
    hub.faults[path] = {"status": 503, "times": 2}
    hub.faults[hub.index] = {"status": 500, "times": 1}
    pull(*firefox)
    assert len(asked_for(hub, path)) == 3


def change(hub, **more):
    index = json.loads(hub.files[hub.index])
    for r in index["data"]:
        if r["fileType"] == "model":
            r["attachment"].update({k: v for k, v in more.items() if k in r["attachment"]})
            r.update({k: v for k, v in more.items() if k in r})
    hub.json(hub.index, index)


@pytest.mark.parametrize("wrong,told", [
    ({"hash": "0" * 64}, "its sha256 is"), ({"size": 160001}, "bytes there, 160001 are expected"),
    ({"size": 100}, "bytes there, 100 are expected"), ({"decompressedHash": "1" * 64}, "the unpacked file's sha256 is"),
    ({"decompressedSize": 159999}, "the unpacked size exceeds the limit"),
    ({"decompressedSize": 160001}, "the unpacked size is not the expected 160001 bytes"), ({"hash": "short"}, "lacks the size or hash"),
    ({"filename": "../../etc/passwd"}, "expected a plain name"), ({"filename": ".hidden"}, "expected a plain name"),
    ({"filename": "\x1b[2J"}, 'a file "?[2J", expected a plain name')])
def test_what_is_not_as_the_index_says(hub, pull, firefox, wrong, told):
    change(hub, **wrong)
    assert told in pull(*firefox, ok=False)
    assert pull.installed() == [] and MODEL not in os.listdir(pull.models if pull.models.exists() else ".")
    assert not [n for n in pull.left() if n == MODEL + ".part"]


def test_more_than_was_announced(hub, pull, firefox):
    """The server sends more than the index announced."""
    path = model_path(hub)
    hub.files[path] += b"x" * 1000
    assert "bytes there" in pull(*firefox, ok=False)


@pytest.mark.parametrize("to,told", [("http://localhost:1/x", "is not https"), ("file:///etc/passwd", "is not https"),
                                     ("ftp://localhost/x", "is not https")])
def test_redirects_stay_with_https(hub, pull, firefox, to, told):
    hub.redirects[model_path(hub)] = to
    assert told in pull(*firefox, ok=False)


def test_redirects_end(hub, pull, firefox):
    hub.redirects[model_path(hub)] = hub.url + model_path(hub)
    assert "more than 5 redirects" in pull(*firefox, ok=False)
    assert len(asked_for(hub, model_path(hub))) == 6


def test_a_slow_drip_is_given_up(hub, pull, firefox):
    hub.faults[model_path(hub)] = {"drip": 0.1}
    message = pull(*firefox, "--stall-timeout", "1", ok=False)
    assert "too slow" in message.lower() and pull.installed() == []


def test_an_authority_that_nobody_knows(hub, pull, firefox):
    message = pull(*firefox, env={"CURL_CA_BUNDLE": "/etc/ssl/certs/ca-certificates.crt"}, ok=False)
    assert "certificate" in message and hub.log == []


def test_cacert_wins_over_the_variable(hub, pull, firefox, authority):
    pull(*firefox, "--cacert", authority[0], env={"CURL_CA_BUNDLE": "/nowhere"})


def test_a_full_disk(hub, pull, firefox):
    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
    message = pull(*firefox, ok=False, preexec_fn=small)
    assert "cannot write" in message and "File too large" in message and pull.installed() == []
    assert pull.left() == ["lex.50.50.ende.s2t.bin.zst", "vocab.ende.spm.zst.part"]
    pull(*firefox)  # resumes once there is room
    assert [a for _, a in hub.log if a] == ["bytes=100000-"]


def small_disk(size, folder, *command):
    """Returns the command, run where `folder` is a file system of `size` bytes of its own, in a mount namespace."""
    return ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size="$1" none "$2" && shift 2 && exec "$@"', "sh", str(size), str(folder), *command]


@pytest.mark.skipif(subprocess.run(small_disk(4096, "/mnt", "true"), capture_output=True).returncode != 0,
                    reason="the kernel gives no mount namespace, or there is no /mnt")
@pytest.mark.parametrize("where,told", [("cache", "cannot write"), ("models", "No space left on device")])
def test_no_space_left(pull, firefox, where, told):
    """A file system that is really full, during the download, and during unpacking, conversion and installation."""
    pull.models.mkdir()
    pull.cache.mkdir()
    folder = pull.cache if where == "cache" else pull.models
    done = subprocess.run(small_disk(131072, folder, DRAGOMAN, "pull", *firefox, "--models", str(pull.models)), env=pull.env, capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 1 and told in done.stderr and "No space left on device" in done.stderr, done.stderr
    assert "installed" not in done.stdout and pull.installed() == []
    pull(*firefox)
    assert pull.installed() == ["firefox-en-de"]


def test_a_disk_that_is_full_when_it_converts(pull):
    message = pull("--offline", os.path.join(stand_in.DATA, "bergamot"), ok=False,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000)))
    assert "File too large" in message and [p.name for p in pull.models.iterdir()] == [".pull.lock"]


# Archives.


def tar(*members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as t:
        for info, data in members:
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))
    return out.getvalue()


def member(name, data=b"x", **more):
    info = tarfile.TarInfo(name)
    for key, value in more.items():
        setattr(info, key, value)
    return info, data


@pytest.mark.parametrize("name,data,told", [
    ("a.tar.gz", tar(member("../outside")), "would leave its folder"),
    ("a.tar.gz", tar(member("model/../../outside")), "would leave its folder"),
    ("a.tar.gz", tar(member("/tmp/outside")), "would leave its folder"),
    ("a.tar.gz", tar(member("x", b"", type=tarfile.SYMTYPE, linkname="/etc/passwd")), "neither a file nor a folder"),
    ("a.tar.gz", tar(member("x"), member("y", b"", type=tarfile.LNKTYPE, linkname="x")), "neither a file nor a folder"),
    ("a.tar.gz", tar(member("x", b"", type=tarfile.FIFOTYPE)), "neither a file nor a folder"),
    ("a.tar.gz", tar(member("x"), member("x")), "two entries have that name"),
    ("a.tar.gz", b"not an archive", "cannot be unpacked"),
    ("a.zip", stand_in.zip_of({"../outside": b"x"}), "would leave its folder"),
    ("a.argosmodel", stand_in.zip_of({"d/metadata.json": b"{}", "..\\outside": b"x"}), "would leave its folder"),
    ("a.tar.gz", tar(member("README", b"nothing here")), "no model that can be converted")],
    ids=lambda v: v if isinstance(v, str) and len(v) < 40 else "")
def test_archives_that_are_refused(hub, pull, tmp_path, name, data, told):
    hub.files["/" + name] = data
    message = pull(hub.url + "/" + name, ok=False)
    assert told in message, message
    assert pull.installed() == [] and not (pull.models / "outside").exists() and not (tmp_path / "outside").exists()
    assert [p.name for p in pull.models.iterdir()] == [".pull.lock"]


@pytest.mark.parametrize("name,data", [
    ("bomb.tar.gz", gzip.compress(tarfile.TarInfo.tobuf(member("x", size=1 << 30)[0]) + bytes(64 << 20))),
    ("bomb.zip", stand_in.zip_of({"x": bytes(64 << 20)}, deflate=True))], ids=["tar", "zip"])
def test_bombs(hub, pull, name, data):
    hub.files["/" + name] = data
    assert "the unpacked size exceeds the limit" in pull(hub.url + "/" + name, ok=False)
    assert [p.name for p in pull.models.iterdir()] == [".pull.lock"]


def test_a_bomb_in_the_place_of_a_model(hub, pull, firefox):
    packed = stand_in.zstd(b"", repeat=4000)  # half a gigabyte out of 16 kB
    hub.files[model_path(hub)] = packed
    change(hub, hash=stand_in.sha256(packed), size=len(packed))
    assert "the unpacked size exceeds" in pull(*firefox, ok=False)
    assert pull.installed() == []


def test_a_model_that_is_none_does_not_count(hub, pull, firefox):
    """A file that is no model, but matches every hash, is refused; what was installed before stays."""
    pull(*firefox)
    packed = stand_in.zstd(b"not a model" * 1000)
    hub.files[model_path(hub)] = packed
    change(hub, hash=stand_in.sha256(packed), size=len(packed), decompressedHash=stand_in.sha256(b"not a model" * 1000),
           decompressedSize=11000)
    assert "dragoman pull: " in pull(*firefox, ok=False)
    assert pull.installed() == ["firefox-en-de"] and pull.translate("firefox-en-de", "The dog sees a red bird.").startswith("Der Hund")


# The process that converts.


def test_the_network_is_gone_while_converting(pull):
    """If the kernel gives a network namespace, it is used; if not, the run says so."""
    allowed = subprocess.run([sys.executable, "-c", "import ctypes; c = ctypes.CDLL(None); "
                              "print(c.unshare(0x40000000) == 0 or c.unshare(0x50000000) == 0)"],
                             capture_output=True, text=True).stdout.strip() == "True"
    told = pull("--offline", os.path.join(stand_in.DATA, "bergamot"))
    assert ("no network namespace" in told) != allowed


def test_a_killed_conversion_leaves_nothing(pull):
    """As the kernel kills a process when memory is out, here as soon as it writes files."""
    command = [DRAGOMAN, "pull", "--offline", os.path.join(stand_in.DATA, "m2m100", "nllb"), "--models", str(pull.models)]
    killed = False
    while not killed:
        process = subprocess.Popen(command, env=pull.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        children = pathlib.Path("/proc/%d/task/%d/children" % (process.pid, process.pid))
        while process.poll() is None and not any(pull.models.glob(".pull-bundle*")):
            pass
        with contextlib.suppress(OSError, ValueError):  # it may have ended by now
            os.kill(int(children.read_text()), signal.SIGKILL)
        killed = "killed by signal 9" in process.communicate()[1]
        if not killed:
            pull("nllb", verb="remove")
    assert [p.name for p in pull.models.iterdir()] == [".pull.lock"]


def test_two_pulls_at_once(pull, firefox):
    pull.models.mkdir()
    with open(pull.models / ".pull.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another pull installs into" in pull(*firefox, ok=False)
    pull(*firefox)


# Proxy and terminal.


class Proxy(socketserver.ThreadingTCPServer):
    """A CONNECT proxy that notes the requests."""
    daemon_threads = True

    def __init__(self):
        asked = self.asked = []

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                line = self.rfile.readline().decode()
                asked.append(line)
                while self.rfile.readline() not in (b"\r\n", b""):
                    pass
                host, port = line.split()[1].split(":")
                with socket.create_connection((host, int(port))) as there:
                    self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

                    def copy(a, b):
                        try:
                            while data := a.recv(65536):
                                b.sendall(data)
                        except OSError:
                            pass
                    t = threading.Thread(target=copy, args=(there, self.connection), daemon=True)
                    t.start()
                    copy(self.connection, there)
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def test_a_proxy(hub, pull, firefox):
    with Proxy() as proxy:
        variables = {"HTTPS_PROXY": f"http://127.0.0.1:{proxy.server_address[1]}"}
        pull(*firefox, env=variables)
        assert proxy.asked and all(a.startswith("CONNECT localhost:") for a in proxy.asked)
        n = len(proxy.asked)
        pull(*firefox, env={**variables, "NO_PROXY": "localhost"})
        assert len(proxy.asked) == n
        proxy.shutdown()


def test_progress_where_there_is_a_terminal_and_where_there_is_none(hub, pull, firefox):
    def run(*more, stderr):
        return subprocess.run([DRAGOMAN, "pull", *firefox, "--models", str(pull.models), *more], env=pull.env, stdout=subprocess.DEVNULL,
                              stderr=stderr, timeout=120, check=True)
    plain = run(stderr=subprocess.PIPE).stderr.decode()
    assert "\r" not in plain and f"{MODEL}: 160 kB in " in plain
    assert run("--name", "quiet", "--quiet", stderr=subprocess.PIPE).stderr == b""
    hub.faults[model_path(hub)] = {"cut": 155000, "times": 1}  # half a second passes before the next try
    ours, theirs = os.openpty()
    run("--name", "terminal", stderr=theirs)
    os.set_blocking(ours, False)
    shown = os.read(ours, 1 << 16).decode()
    assert "\r\033[K" + MODEL[:32] + " [" in shown and "% of 160 kB" in shown and "B/s" in shown
