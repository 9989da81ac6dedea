"""dragoman pull against stand-ins of each service: what is fetched, checked, kept in the manifest, and translated with."""
import json
import os
import re
import shutil
import subprocess
import time

import pytest
import requests

import stand_in
from conftest import BIN, DRAGOMAN

SENTENCE = "The dog sees a red bird."
GERMAN = "Der Hund sieht einen roten Vogel."  # the converters' answer, as in docs/models.md


def manifest(pull, name):
    return json.loads((pull.models / name / "manifest.json").read_text(encoding="utf-8"))


def test_firefox_from_remote_settings(hub, pull):
    records = hub.serve_firefox()
    told = pull("firefox/en-de", "--index", hub.url + hub.index)
    assert pull.installed() == ["firefox-en-de"] and pull.left() == []
    assert pull.translate("firefox-en-de", SENTENCE) == GERMAN
    assert "licence     not stated by the source" in told and f"installed   {pull.models}/firefox-en-de" in told
    # The licence is told before the download, a translation before the model counts as installed.
    assert told.index("licence") < told.index("converting") < told.index("translated  The house is small.") < told.index("installed")
    m = manifest(pull, "firefox-en-de")
    assert m["pairs"] == [["en", "de"]] and m["name"] == "firefox-en-de" and m["origin"]["source"] == "firefox/en-de"
    files = {f["url"]: f for f in m["origin"]["files"]}
    assert set(files) == {hub.url + "/cdn/" + r["attachment"]["location"] for r in records}
    for r in records:
        f = files[hub.url + "/cdn/" + r["attachment"]["location"]]
        assert (f["sha256"], f["size"], f["verified"]) == (r["attachment"]["hash"], r["attachment"]["size"], True)
    subprocess.run([DRAGOMAN, "inspect", str(pull.models / "firefox-en-de"), "--verify"], check=True, capture_output=True)


def publish_newer(hub):
    """Gives the index other files of the same content, and returns it."""
    index = json.loads(hub.files[hub.index])
    for r in index["data"]:  # other bytes for the same content
        packed = stand_in.zstd(stand_in.read("bergamot", r["name"])) + b"\x50\x2a\x4d\x18\0\0\0\0"  # a skippable frame
        r["attachment"].update(hash=stand_in.sha256(packed), size=len(packed))
        hub.files["/cdn/" + r["attachment"]["location"]] = packed
    hub.json(hub.index, index)
    return index


def test_what_is_the_same_is_not_fetched_again_and_what_is_newer_is(hub, pull):
    hub.serve_firefox()
    pull("firefox/en-de", "--index", hub.url + hub.index)
    hub.log.clear()
    assert "is installed and up to date" in pull("firefox/en-de", "--index", hub.url + hub.index)
    assert not any("/cdn/" in path for path, _ in hub.log)
    hub.log.clear()
    assert "is installed" in pull("firefox/en-de", "--if-missing", "--index", hub.url + hub.index)
    assert hub.log == []
    index = publish_newer(hub)
    assert "installed   " in pull("firefox/en-de", "--index", hub.url + hub.index)
    assert pull.installed() == ["firefox-en-de"]
    assert manifest(pull, "firefox-en-de")["origin"]["files"][0]["sha256"] == index["data"][0]["attachment"]["hash"]


def up_to_date(told):
    return "is installed and up to date" in told


def test_an_option_with_another_value_installs_again(hub, pull):
    """Even if the files are the same. An option that is not given stays as the installed model has it."""
    hub.serve_repository("someone/nllb", "m2m100/nllb")
    fetch = ("hf/someone/nllb", "--index", hub.url, "--name", "many")

    def has(pairs, type_):
        m = manifest(pull, "many")
        return m["pairs"] == pairs and ("quantised_from" in m["training"]) == (type_ == "int8") and m["origin"]["type"] == type_
    pull(*fetch, "--source-lang", "en", "--target-lang", "de")
    assert has([["en", "de"]], "int8")
    assert up_to_date(pull(*fetch)) and up_to_date(pull(*fetch, "--source-lang", "en", "--type", "int8"))
    assert not up_to_date(pull(*fetch, "--target-lang", "fr"))
    assert has([["en", "fr"]], "int8") and up_to_date(pull(*fetch, "--target-lang", "fr"))
    assert not up_to_date(pull(*fetch, "--type", "f32"))
    assert has([["en", "fr"]], "f32") and up_to_date(pull(*fetch))
    # Another model under this name takes over nothing.
    hub.serve_repository("someone/other", "m2m100/m2m")
    pull("hf/someone/other", "--index", hub.url, "--name", "many", "--source-lang", "de")
    m = manifest(pull, "many")
    assert m["origin"]["type"] == "int8" and "target_lang" not in m["origin"] and len(m["pairs"]) > 1


def test_a_newer_model_keeps_the_options(hub, pull):
    hub.serve_repository("someone/model", "huggingface/uneven")
    fetch = ("hf/someone/model", "--index", hub.url, "--name", "m")
    pull(*fetch, "--type", "f16", "--target-lang", "fr")
    answer = hub.serve_repository("someone/model", "huggingface/uneven",
                                  replaced={"config.json": stand_in.read("huggingface/uneven", "config.json") + b"\n"})
    assert not up_to_date(pull(*fetch))
    m = manifest(pull, "m")
    assert m["origin"]["type"] == "f16" and m["pairs"] == [["en", "fr"]] and "quantised_from" not in m["training"]
    assert all(answer["sha"] in f["url"] for f in m["origin"]["files"])


def test_a_manifest_without_options_says_nothing_about_them(hub, pull):
    """As an older pull wrote it: an option that is given installs again, once."""
    hub.serve_repository("someone/model", "huggingface/uneven")
    fetch = ("hf/someone/model", "--index", hub.url, "--name", "m")
    pull(*fetch)
    m = manifest(pull, "m")
    del m["origin"]["type"]
    (pull.models / "m" / "manifest.json").write_text(json.dumps(m), encoding="utf-8")
    assert up_to_date(pull(*fetch)) and not up_to_date(pull(*fetch, "--type", "int8")) and up_to_date(pull(*fetch, "--type", "int8"))


def test_a_hash_is_checked_though_the_model_is_installed(hub, pull):
    hub.serve_repository("someone/model", "huggingface/uneven")
    fetch = ("hf/someone/model", "--index", hub.url)
    pull(*fetch)
    assert "--sha256 is the hash of one file" in pull(*fetch, "--sha256", "0" * 64, ok=False)
    hub.serve_argos()
    fetch = ("argos/en-de", "--index", hub.url + "/argospm-index/main/index.json")
    pull(*fetch)
    digest = manifest(pull, "argos-en-de")["origin"]["files"][0]["sha256"]
    assert up_to_date(pull(*fetch, "--sha256", digest))
    assert "its sha256 is" in pull(*fetch, "--sha256", "0" * 64, ok=False) and "argos-en-de" in pull.installed()


def test_other_files_in_the_cache_stay(hub, pull):
    hub.serve_firefox()
    thesis = pull.cache / "student" / "thesis.txt"
    thesis.parent.mkdir(parents=True)
    thesis.write_text("years of work")
    pull("firefox/en-de", "--name", "student", "--cache", str(pull.cache), "--index", hub.url + hub.index)
    assert pull.installed() == ["student"] and pull.left() == ["thesis.txt"] and thesis.read_text() == "years of work"


def test_the_cache_may_be_the_directory_of_models(hub, pull):
    hub.serve_firefox()
    fetch = ("firefox/en-de", "--cache", str(pull.models), "--index", hub.url + hub.index)
    pull(*fetch)
    index = publish_newer(hub)
    pull(*fetch)
    assert manifest(pull, "firefox-en-de")["origin"]["files"][0]["sha256"] == index["data"][0]["attachment"]["hash"]
    assert sorted(p.name for p in pull.models.iterdir()) == [".pull.lock", "firefox-en-de"]
    assert pull.translate("firefox-en-de", SENTENCE) == GERMAN


def test_firefox_chooses_what_a_desktop_gets(hub, pull):
    records = hub.serve_firefox()
    more = []
    for size, version, who in (("base", "3.0", "env.appinfo.OS != 'Android'"), ("base-memory", "3.0", "env.appinfo.OS == 'Android'"),
                               ("base", "3.1a1", ""), ("base", "9.9", "env.version|versionCompare('99') >= 0")):
        for r in records:
            more.append({**r, "architecture": size, "version": version, "filter_expression": who,
                         "attachment": {**r["attachment"], "location": r["attachment"]["location"] + f"?{size}-{version}"}})
    hub.json(hub.index, {"data": more + records})
    for r in more:
        hub.files["/cdn/" + r["attachment"]["location"]] = hub.files["/cdn/" + r["attachment"]["location"].split("?")[0]]
    told = pull("firefox/en-de", "--index", hub.url + hub.index)
    assert "model       firefox/en-de:base\n" in told and "?base-3.0\n" in told and "9.9" not in told and "3.1a1" not in told
    pull("firefox/en-de:tiny", "firefox/EN-DE:base-memory", "--index", hub.url + hub.index)
    assert pull.installed() == ["firefox-EN-DE-base-memory", "firefox-en-de", "firefox-en-de-tiny"]
    listed = pull("--list", "firefox", "--index", hub.url + hub.index)
    assert [line.split()[0] for line in listed.splitlines()] == [
        "firefox/en-de:base", "firefox/en-de:base", "firefox/en-de:base-memory", "firefox/en-de:tiny"]
    message = pull("firefox/en-xx", "--index", hub.url + hub.index, ok=False)
    assert message == ("dragoman pull: firefox has no en-xx; `dragoman pull --list firefox` lists its models\n")


def test_firefox_from_the_registry(hub, pull):
    hub.serve_registry()
    pull("firefox/en-de:tiny", "--index", hub.url + "/db/models.json")
    assert pull.translate("firefox-en-de-tiny", SENTENCE) == GERMAN
    assert pull("--list", "firefox", "--index", hub.url + "/db/models.json").split()[0] == "firefox/en-de:tiny"
    # The index gives the hash of the gzip's content.
    index = json.loads(hub.files["/db/models.json"])
    index["models"]["en-de"][0]["files"]["model"]["uncompressedHash"] = "0" * 64
    hub.json("/db/models.json", index)
    assert "the unpacked file's sha256 is" in pull("firefox/en-de", "--index", hub.url + "/db/models.json", ok=False)
    assert pull.installed() == ["firefox-en-de-tiny"]


def test_argos(hub, pull):
    hub.serve_argos()
    index = hub.url + "/argospm-index/main/index.json"
    told = pull("argos/en_de", "--index", index)
    assert pull.installed() == ["argos-en_de"] and "translate-en_de-1_9" in told and "neither size nor hash" in told
    f = manifest(pull, "argos-en_de")["origin"]["files"][0]
    assert f["sha256"] == stand_in.sha256(hub.files["/v1/translate-en_de-1_9.argosmodel"]) and f["verified"] is False
    assert [line.split()[0] for line in pull("--list", "argos", "--index", index).splitlines()] == \
        ["argos/en-de", "argos/en-de", "argos/en-zt"]
    # The BCP 47 name of one of Argos' own codes.
    assert "zt-1_9.argosmodel: the server returns 404" in pull("argos/en-zh-Hant", "--index", index, ok=False)
    # A hash from the command line.
    pull("argos/en-de", "--index", index, "--sha256", f["sha256"].upper())
    assert manifest(pull, "argos-en-de")["origin"]["files"][0]["verified"] is True
    assert "its sha256 is" in pull("argos/en-de", "--index", index, "--sha256", "0" * 64, "--name", "other", ok=False)
    assert pull.installed() == ["argos-en-de", "argos-en_de"] and pull.left() == []


def test_the_hub(hub, pull):
    answer = hub.serve_repository("Helsinki-NLP/opus-mt-en-de", "huggingface/uneven")
    told = pull("opus-mt/en-de", "--index", hub.url + "/")
    assert "licence     apache-2.0" in told and "README.md" not in told
    m = manifest(pull, "opus-mt-en-de")
    assert m["licence"] == "apache-2.0" and m["pairs"] == [["en", "de"]] and all(f["verified"] for f in m["origin"]["files"])
    assert m["training"]["quantised_from"]
    assert any(path.startswith("/lfs/") for path, _ in hub.log)
    assert "is installed and up to date" in pull("opus-mt/en-de", env={"HF_ENDPOINT": hub.url})
    hub.serve_repository("someone/model", "huggingface/uneven", licence="cc-by-nc-4.0")
    told = pull("hf/someone/model@v1", "--index", hub.url, "--type", "f16")
    assert "NON-COMMERCIAL" in told and pull.installed() == ["hf-someone-model-v1", "opus-mt-en-de"]
    assert "quantised_from" not in manifest(pull, "hf-someone-model-v1")["training"]
    # A small file is verified by its git blob id.
    for s in answer["siblings"]:
        s["blobId"] = "1" * 40
    hub.json("/api/models/Helsinki-NLP/opus-mt-en-de?blobs=true", answer)
    assert "git's hash of it is" in pull("opus-mt/en-de", "--index", hub.url, "--name", "x", ok=False)


def test_the_hub_s_list_has_pages(hub, pull):
    first = "/api/models?author=Helsinki-NLP&search=opus-mt&limit=1000"
    hub.json(first, [{"id": "Helsinki-NLP/opus-mt-en-fr"}, {"id": "Helsinki-NLP/other"}])
    hub.headers[first] = {"Link": f'<{hub.url}/page2>; rel="next"'}
    hub.json("/page2", [{"id": "Helsinki-NLP/opus-mt-de-en"}])
    assert pull("--list", "opus-mt", "--index", hub.url) == "opus-mt/de-en\nopus-mt/en-fr\n"


@pytest.mark.parametrize("name,pack", [
    ("student.tar.gz", ["tar", "-czf"]), ("student.tgz", ["tar", "-czf"]), ("student.tar", ["tar", "-cf"])])
def test_an_archive_by_its_address(hub, pull, tmp_path, name, pack):
    subprocess.run([*pack, str(tmp_path / name), "-C", stand_in.DATA, "bergamot"], check=True)
    hub.files[f"/x/{name}?download=1"] = (tmp_path / name).read_bytes()
    pull(f"{hub.url}/x/{name}?download=1")
    assert pull.installed() == ["student"] and pull.translate("student", SENTENCE) == GERMAN


def test_files_on_disk(pull, tmp_path):
    """Without a network: every source's files, as a person may have them."""
    offline = {"env": {"HTTPS_PROXY": "http://127.0.0.1:9"}}
    (tmp_path / "translate-en_de.argosmodel").write_bytes(stand_in.argos_package())
    pull("--offline", str(tmp_path / "translate-en_de.argosmodel"), **offline)
    student = ["model.ende.intgemm.alphas.bin", "lex.50.50.ende.s2t.bin", "vocab.ende.spm"]
    for name in student:
        (tmp_path / (name + ".zst")).write_bytes(stand_in.zstd(stand_in.read("bergamot", name)))
    pull("--offline", *[str(tmp_path / (n + ".zst")) for n in student], **offline)
    pull("--offline", os.path.join(stand_in.DATA, "bergamot") + "/", "--name", "folder", **offline)
    pull("--offline", *[os.path.join(stand_in.DATA, "bergamot", n) for n in student], "--name", "plain", "--source-lang", "en",
         "--target-lang", "at", **offline)
    assert pull.installed() == ["en-de", "folder", "plain", "translate-en_de"]
    assert {pull.translate(n, SENTENCE) for n in ("en-de", "folder", "plain")} == {GERMAN}
    assert manifest(pull, "plain")["pairs"] == [["en", "at"]]
    assert manifest(pull, "en-de")["origin"]["files"][0]["file"] == student[0] + ".zst"
    # An existing bundle is one more kind of model.
    pull("--offline", os.path.join(stand_in.ROOT, "tests", "data", "en-de"), "--name", "bundle", **offline)
    assert "bundle" in pull.installed()
    (tmp_path / "nothing").mkdir()
    assert "expected a bundle, an Argos package" in pull("--offline", str(tmp_path / "nothing"), ok=False)


def test_a_bundle_s_options(pull, tmp_path):
    """It is quantised as any other model, and what the manifest records about it is true."""
    bundle = tmp_path / "eos"
    subprocess.run([DRAGOMAN, "convert", "marian", "--model", os.path.join(stand_in.DATA, "pymarian", "attention.npz"), "--vocab",
                    os.path.join(stand_in.DATA, "pymarian", "attention.spm"), "--source-lang", "en", "--target-lang", "de", "--out", str(bundle)],
                   check=True, capture_output=True)
    (bundle / "MODEL_CARD.md").write_text("a card")
    told = pull("--offline", str(bundle), "--source-lang", "fr", ok=False)
    assert 'the source language is "fr", but the bundle translates en-de' in told
    assert 'the target language is "es"' in pull("--offline", str(bundle), "--target-lang", "es", ok=False)
    assert "the type is float16, but the bundle's weights are float32" in pull("--offline", str(bundle), "--type", "f16", ok=False)
    assert pull.installed() == []
    pull("--offline", str(bundle), "--name", "whole", "--type", "f32", "--source-lang", "en")
    assert (pull.models / "whole" / "weights.dgw").read_bytes() == (bundle / "weights.dgw").read_bytes()
    assert manifest(pull, "whole")["origin"]["type"] == "f32"
    assert "in int8" in pull("--offline", str(bundle), "--name", "small")
    m = manifest(pull, "small")
    assert m["origin"]["type"] == "int8" and "quantised_from" in m["training"] and m["pairs"] == [["en", "de"]]
    assert (pull.models / "small" / "weights.dgw").stat().st_size < (bundle / "weights.dgw").stat().st_size / 2
    assert (pull.models / "small" / "MODEL_CARD.md").read_text() == "a card"
    assert pull.translate("small", SENTENCE) == GERMAN
    # int8 stays as it is.
    pull("--offline", str(pull.models / "small"), "--name", "again")
    assert (pull.models / "again" / "weights.dgw").read_bytes() == (pull.models / "small" / "weights.dgw").read_bytes()


def test_list_and_remove(hub, pull):
    hub.serve_firefox()
    pull("firefox/en-de", "--index", hub.url + hub.index)
    shutil.copytree(os.path.join(stand_in.ROOT, "tests", "data", "en-de"), pull.models / "mine")
    lines = pull(verb="list").splitlines()
    assert [line.split()[0] for line in lines] == ["firefox-en-de", "mine"]
    assert "en-de; firefox/en-de; licence: not stated" in lines[0] and "not from pull" in lines[1]
    one = json.loads(pull("--json", verb="list").splitlines()[0])
    assert one["pairs"] == [["en", "de"]] and one["origin"]["source"] == "firefox/en-de"
    assert "was not installed by `dragoman pull`" in pull("mine", verb="remove", ok=False)
    assert "has no model \"other\"" in pull("other", verb="remove", ok=False)
    assert "expected a plain name" in pull("../models/firefox-en-de", verb="remove", ok=False)
    assert pull("firefox-en-de", verb="remove") == f"removed {pull.models}/firefox-en-de\n"
    assert pull.installed() == ["mine"]


def test_a_foreign_bundle_stays(hub, pull):
    hub.serve_firefox()
    shutil.copytree(os.path.join(stand_in.ROOT, "tests", "data", "en-de"), pull.models / "firefox-en-de")
    before = (pull.models / "firefox-en-de" / "manifest.json").read_bytes()
    assert "was not installed by" in pull("firefox/en-de", "--index", hub.url + hub.index, ok=False)
    assert hub.log == [] and (pull.models / "firefox-en-de" / "manifest.json").read_bytes() == before


def test_where_models_are_found_by_themselves(hub, pull, tmp_path):
    """Without --models it installs where the command line looks, so that the next command translates with it."""
    hub.serve_firefox()
    env = {**pull.env, "DRAGOMAN_MODELS": str(pull.models)}

    def run(*args, text=None):
        done = subprocess.run([DRAGOMAN, *args], input=text, capture_output=True, text=True, timeout=120, env=env, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    pull.models.mkdir()
    run("pull", "firefox/en-de", "--index", hub.url + hub.index)
    assert pull.installed() == ["firefox-en-de"] and "firefox-en-de" in run("list")
    assert run("translate", "--source-lang", "en", "--target-lang", "de", text=SENTENCE + "\n") == GERMAN + "\n"
    run("remove", "firefox-en-de")
    assert pull.installed() == []


@pytest.mark.parametrize("args,told", [
    (["firefox/en-de", "--sha256", "xyz"], "--sha256 takes 64"), (["--list"], "at least one source"),
    (["--list", "a", "b"], "--list takes one"), (["a", "b", "--name", "x"], "--name is for one"),
    (["--offline", "x", "--index", "y"], "--offline uses no --index"), ([], "at least one source")])
def test_wrong_usage(pull, args, told):
    assert told in pull(*args, ok=False)


@pytest.mark.parametrize("args,told", [
    (["somewhere/en-de"], '"somewhere/en-de" is not a source'), (["http://localhost/x.zip"], "is not a source"),
    (["hf/only-owner"], "expected OWNER/REPO"), (["hf/a/../b"], "expected OWNER/REPO"), (["hf/a/b@"], "expected OWNER/REPO"),
    (["firefox/en-de", "--index", "http://localhost/x"], "expected https:// or a file"),
    (["--list", "hf"], '"hf" has no list')])
def test_what_is_no_source(pull, args, told):
    assert told in pull(*args, ok=False)


def test_only_the_command_line_opens_connections():
    """The server and the trainer link nothing that fetches: neither libcurl nor its TLS. The server links GnuTLS, which opens no connection
    by itself, for its own certificate."""
    def libraries(program):
        needed = subprocess.run(["readelf", "-d", os.path.join(BIN, program)], capture_output=True, text=True, check=True).stdout
        return {line.split("[")[1].rstrip("]") for line in needed.splitlines() if "(NEEDED)" in line}
    assert any(name.startswith("libcurl") for name in libraries("dragoman"))
    for program, tls in (("dragoman-server", ()), ("dragoman-train", ("libgnutls",))):
        assert not [n for n in libraries(program) if n.startswith(("libcurl", "libarchive", "libssl", *tls))], program
    loaded = subprocess.run(["ldd", os.path.join(BIN, "dragoman-server")], capture_output=True, text=True, check=True).stdout
    assert "libcurl" not in loaded and "libssl" not in loaded


@pytest.mark.skipif(os.path.realpath(BIN) != os.path.join(stand_in.ROOT, "build", "release", "bin"), reason="scripts/serve serves that build")
def test_one_command_from_nothing_to_a_translation(hub, pull, tmp_path):
    """What `PULL=... make serve` does, without make."""
    subprocess.run(["tar", "-czf", str(tmp_path / "student.tgz"), "-C", stand_in.DATA, "bergamot"], check=True)
    hub.files["/student.tgz"] = (tmp_path / "student.tgz").read_bytes()
    env = {**os.environ, **pull.env, "PULL": hub.url + "/student.tgz", "MODELS": str(pull.models), "PORT": "0"}
    for fetched in (1, 0):  # the second time it sends no request
        hub.log.clear()
        with subprocess.Popen(["scripts/serve"], cwd=stand_in.ROOT, env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              text=True) as server:
            try:
                port = next(m.group(1) for m in (re.search(r'event="?listening"? .*:(\d+)', line) for line in server.stderr) if m)
                while requests.get(f"http://127.0.0.1:{port}/readyz", timeout=60).status_code != 200:
                    time.sleep(0.1)
                answer = requests.post(f"http://127.0.0.1:{port}/v1/translate", timeout=60,
                                       json={"text": SENTENCE, "source": "en", "target": "de"}).json()
            finally:
                server.terminate()
                server.stderr.read()
        assert answer["translations"][0]["text"] == GERMAN and len(hub.log) == fetched
