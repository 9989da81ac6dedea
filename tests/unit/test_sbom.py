"""The list of what the programs are made of, and the page of licences, held against the programs themselves."""
import hashlib
import json
import os
import re
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", os.path.join(ROOT, "build", "release")), "bin")
PROGRAMS = ("dragoman-server", "dragoman", "dragoman-train")


@pytest.fixture(scope="module")
def sbom():
    done = subprocess.run([os.path.join(ROOT, "packaging", "sbom"), BIN], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def properties(component, name):
    return [p["value"] for p in component["properties"] if p["name"] == name]


def test_every_library_that_is_loaded_is_listed(sbom):
    listed = {name for c in sbom["components"] if c["type"] == "library" for name in properties(c, "library")}
    for program in PROGRAMS:
        linker = subprocess.run(["ldd", os.path.join(BIN, program)], capture_output=True, text=True, check=True).stdout
        loaded = set(re.findall(r"^\s*(\S+) => /", linker, re.M))
        # A sanitizer's runtime is no part of what is delivered; it is listed all the same.
        assert len(loaded) > 10 and loaded <= listed, loaded - listed


def test_versions_and_digests_are_those_here(sbom):
    assert (sbom["bomFormat"], sbom["specVersion"]) == ("CycloneDX", "1.5")
    for component in sbom["components"]:
        if component["type"] == "application":
            with open(os.path.join(BIN, component["name"]), "rb") as f:
                assert component["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(f.read()).hexdigest()}]
            continue
        version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\n", component["name"]], capture_output=True,
                                 text=True, check=True).stdout.split()
        assert component["version"] in version and component["purl"].startswith("pkg:deb/debian/" + component["name"] + "@")


def test_references_lead_somewhere(sbom):
    refs = [c["bom-ref"] for c in sbom["components"]]
    assert len(refs) == len(set(refs)) and set(PROGRAMS) <= set(refs)
    for entry in sbom["dependencies"]:
        assert set(entry["dependsOn"]) <= set(refs) and entry["ref"] in refs + ["product"]
    server = next(d for d in sbom["dependencies"] if d["ref"] == "dragoman-server")["dependsOn"]
    assert {"deb:libmicrohttpd12", "deb:libgnutls30", "deb:libsqlite3-0"} <= set(server)
    assert "deb:libcurl4" not in server  # the server opens no outgoing connection


def test_the_page_of_licences_has_all_that_is_linked(sbom):
    with open(os.path.join(ROOT, "docs", "licences.md"), encoding="utf-8") as f:
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in f if line.startswith("| ")][1:]
    named = {package for row in rows for package in row[1].split(", ")}
    linked = {c["name"] for c in sbom["components"]
              if c["type"] == "library" and "directly" in properties(c, "dragoman:linked")}
    extra = {p for p in linked if re.match(r"lib(asan|ubsan|tsan)\d", p)}
    assert linked - extra == named
