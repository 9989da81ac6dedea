"""scripts/get-data against a mirror on disk: archives laid out as their publishers do, with
sentences made here."""
import gzip
import http.server
import io
import pathlib
import subprocess
import sys
import tarfile
import threading
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RAW = "raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/"
COUNTS = {"train": 29000, "val": 1014, "test_2016_flickr": 1000}


def sgm(lines):
    head = '<srcset setid="x" srclang="any">\n<doc docid="1">\n'
    return (head + "".join(f'<seg id="{i}">{s}</seg>\n' for i, s in enumerate(lines))
            + "</doc>\n</srcset>\n").encode()


def text(word, n):
    return "".join(f"{word} {i}\n" for i in range(n)).encode()


def tar(path, files):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as t:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))


@pytest.fixture
def mirror(tmp_path):
    m = tmp_path / "mirror"
    (m / RAW).mkdir(parents=True)
    for part, n in COUNTS.items():
        for s in ("en", "de"):
            (m / RAW / f"{part}.{s}.gz").write_bytes(gzip.compress(text(f"{part} {s}", n)))
    tar(m / "dl.fbaipublicfiles.com/flores101/dataset/flores101_dataset.tar.gz",
        {f"flores101_dataset/dev/{s}.dev": text(s, 997) for s in ("eng", "deu")})
    tar(m / "www.statmt.org/wmt14/dev.tgz",
        {f"dev/{'news-test' if y == 2008 else 'newstest'}{y}.{s}": text(f"{y} {s}", 3)
         for y in range(2008, 2013) for s in ("en", "de")})
    (m / "www.manythings.org/anki").mkdir(parents=True)
    with zipfile.ZipFile(m / "www.manythings.org/anki/deu-eng.zip", "w") as z:
        z.writestr("deu.txt", "Go.\tGeh.\tCC-BY 2.0 (France)\nHi!\tHallo!\tCC-BY 2.0 (France)\n")
    return m


def run(mirror, out, script=ROOT / "scripts/get-data"):
    return subprocess.run(
        [sys.executable, script, "--out", out, "--languages", "de", "--mirror", mirror.as_uri()],
        capture_output=True, text=True, timeout=60)


@pytest.fixture
def script(mirror, tmp_path):
    """The script with the checksums of the made-up test sets instead of the published ones."""
    import hashlib
    source = (ROOT / "scripts/get-data").read_text()
    sets = {
        "www.statmt.org/wmt13/test.tgz": (
            {f"test/newstest2013-src.{s}.sgm": sgm([f"dev {s} &amp; {i}" for i in range(3000)])
             for s in ("en", "de")}, "48eca5d02f637af44e85186847141f67"),
        "www.statmt.org/wmt14/test-full.tgz": (
            {f"test-full/newstest2014-deen-{k}.{s}.sgm": sgm([f"test {s} {i}" for i in range(3003)])
             for k, s in (("src", "en"), ("ref", "de"))}, "a8cd784e006feb32ac6f3d9ec7eb389a"),
    }
    for path, (files, published) in sets.items():
        tar(mirror / path, files)
        assert published in source
        source = source.replace(published, hashlib.md5((mirror / path).read_bytes()).hexdigest())
    changed = tmp_path / "get-data"
    changed.write_text(source)
    return changed


def read(path):
    return gzip.decompress(path.read_bytes()).decode().split("\n")[:-1]


def test_layout_is_the_recipes(mirror, script, tmp_path):
    out = tmp_path / "data"
    r = run(mirror, out, script)
    assert r.returncode == 0, r.stderr
    assert len(read(out / "multi30k/val.de.gz")) == 1014
    assert len(read(out / "test/multi30k_test_2016_flickr.en.gz")) == 1000
    assert read(out / "dev/newstest2013.en-de.de.gz")[7] == "dev de & 7"
    assert read(out / "test/newstest2014.en-de.en.gz")[3002] == "test en 3002"
    assert len(read(out / "dev/flores.de.gz")) == 997
    en, de, domain = (read(out / f"train/en-de.{s}.gz") for s in ("en", "de", "domain"))
    assert len(en) == len(de) == len(domain) == 29000 + 2 + 15
    assert (en[29001], de[29001], domain[29001]) == ("Hi!", "Hallo!", "everyday")
    assert (en[-1], de[-1], domain[-1]) == ("2012 en 2", "2012 de 2", "news")
    # Every file that the recipe names exists.
    import json
    recipe = json.loads((ROOT / "trainer/recipes/en-de-small.json").read_text())
    pair = recipe["data"]["pairs"][0]
    for files in pair["train"] + pair["dev"] + pair["test"]:
        for key in ("source", "target", "domains"):
            assert key not in files or (out / files[key]).exists(), files[key]
    for name in recipe["data"].get("held_out", []):
        assert (out / name).exists(), name


def test_second_call_fetches_nothing(mirror, script, tmp_path):
    out = tmp_path / "data"
    assert run(mirror, out, script).returncode == 0
    first = {p: p.read_bytes() for p in out.rglob("*.gz")}
    r = run(tmp_path / "gone", out, script)
    assert r.returncode == 0 and "fetching" not in r.stderr, r.stderr
    assert {p: p.read_bytes() for p in out.rglob("*.gz")} == first


def test_wrong_checksum_is_told_and_not_kept(mirror, script, tmp_path):
    r = run(mirror, tmp_path / "data")  # the script with the published checksums, but other contents
    assert r.returncode != 0
    assert "MD5 is" in r.stderr and "wmt14-test-full.tgz" in r.stderr
    assert not (tmp_path / "data/downloads/wmt14-test-full.tgz").exists()


def test_lines_missing_are_told(mirror, script, tmp_path):
    (mirror / RAW / "val.de.gz").write_bytes(gzip.compress(text("val de", 1013)))
    r = run(mirror, tmp_path / "data", script)
    assert r.returncode != 0
    assert "Multi30k val.de: 1014 lines on one side, 1013 on the other" in r.stderr


@pytest.mark.parametrize("file,kept", [
    (RAW + "val.de.gz", "multi30k-val.de.gz"), ("www.statmt.org/wmt14/dev.tgz", "wmt14-dev.tgz"),
    ("www.manythings.org/anki/deu-eng.zip", "tatoeba-de.zip")])
@pytest.mark.parametrize("damage", [lambda data: data[:len(data) // 2], lambda data: b"<html>" + data[6:],
                                    lambda data: data[:60] + bytes(b ^ 255 for b in data[60:80]) + data[80:]],
                         ids=["cut", "page", "changed"])
def test_an_archive_that_cannot_be_read_is_fetched_again(mirror, script, tmp_path, file, kept, damage):
    whole, out = (mirror / file).read_bytes(), tmp_path / "data"
    (mirror / file).write_bytes(damage(whole))
    r = run(mirror, out, script)
    assert r.returncode != 0 and "Traceback" not in r.stderr
    assert f"{kept} cannot be read" in r.stderr, r.stderr
    (mirror / file).write_bytes(whole)
    r = run(mirror, out, script)
    assert r.returncode == 0, r.stderr
    assert r.stderr.count("fetching") >= 1


class Short(http.server.BaseHTTPRequestHandler):
    """Promises more bytes than it sends; under /chunked it breaks off within a chunk."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        if self.path.startswith("/chunked"):
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", "100000")
        self.end_headers()
        self.wfile.write(b"64\r\nhalf" if self.path.startswith("/chunked") else gzip.compress(b"x\n"))
        self.close_connection = True

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("path,told", [("", "22 bytes came of 100000"), ("/chunked", "IncompleteRead")])
def test_a_download_that_breaks_off_is_not_kept(tmp_path, path, told):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Short) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        r = subprocess.run([sys.executable, ROOT / "scripts/get-data", "--out", tmp_path, "--languages", "de", "--mirror",
                            f"http://127.0.0.1:{server.server_port}{path}"], capture_output=True, text=True, timeout=60)
        server.shutdown()
    assert r.returncode != 0 and "Traceback" not in r.stderr
    assert told in r.stderr and "train.en.gz" in r.stderr
    assert not (tmp_path / "downloads/multi30k-train.en.gz").exists()


def test_no_network_is_one_sentence(tmp_path):
    r = run(tmp_path / "nothing", tmp_path / "data")
    assert r.returncode != 0
    assert "train.en.gz" in r.stderr and "Traceback" not in r.stderr


def test_unknown_corpus(tmp_path):
    r = subprocess.run([sys.executable, ROOT / "scripts/get-data", "--more", "opus"],
                       capture_output=True, text=True, cwd=tmp_path)
    assert r.returncode == 2
    assert "allowed are europarl, commoncrawl, news-commentary" in r.stderr
