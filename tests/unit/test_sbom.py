"""The list of the programs' components and the page of licences match the programs themselves."""
import hashlib
import json
import os
import re
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", os.path.join(ROOT, "build", "release")), "bin")
PARTS = {name: os.path.join(BIN, name) for name in ("dragoman-server", "dragoman", "dragoman-train")}
PARTS["libdragoman.so"] = os.path.join(BIN, "..", "lib", "libdragoman.so")


@pytest.fixture(scope="module")
def sbom():
    done = subprocess.run([os.path.join(ROOT, "packaging", "sbom"), BIN], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def properties(component, name):
    return [p["value"] for p in component["properties"] if p["name"] == name]


def packages(sbom):
    return [c for c in sbom["components"] if c["bom-ref"] not in PARTS]


def test_every_library_that_is_loaded_is_listed(sbom):
    listed = {name for c in packages(sbom) for name in properties(c, "library")}
    for path in PARTS.values():
        linker = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
        loaded = set(re.findall(r"^\s*(\S+) => /", linker, re.M))
        # A sanitizer's runtime is not delivered, but it is listed as well.
        assert len(loaded) > 5 and loaded <= listed, loaded - listed


def test_versions_and_digests_are_those_here(sbom):
    assert (sbom["bomFormat"], sbom["specVersion"]) == ("CycloneDX", "1.5")
    for name, path in PARTS.items():
        component, = [c for c in sbom["components"] if c["name"] == name]
        assert component["type"] == ("library" if ".so" in name else "application")
        with open(path, "rb") as f:
            assert component["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(f.read()).hexdigest()}]
    for component in packages(sbom):
        version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\n", component["name"]], capture_output=True,
                                 text=True, check=True).stdout.split()
        assert component["version"] in version and component["purl"].startswith("pkg:deb/debian/" + component["name"] + "@")


def test_references_lead_somewhere(sbom):
    refs = [c["bom-ref"] for c in sbom["components"]]
    assert len(refs) == len(set(refs)) and set(PARTS) <= set(refs)
    for entry in sbom["dependencies"]:
        assert set(entry["dependsOn"]) <= set(refs) and entry["ref"] in refs + ["product"]
    assert next(d for d in sbom["dependencies"] if d["ref"] == "product")["dependsOn"] == list(PARTS)
    library = next(d for d in sbom["dependencies"] if d["ref"] == "libdragoman.so")["dependsOn"]
    assert "deb:libc6" in library and "deb:libmicrohttpd12" not in library
    server = next(d for d in sbom["dependencies"] if d["ref"] == "dragoman-server")["dependsOn"]
    assert {"deb:libmicrohttpd12", "deb:libgnutls30", "deb:libsqlite3-0"} <= set(server)
    assert "deb:libcurl4" not in server  # the server opens no outgoing connection


def test_the_page_of_licences_has_all_that_is_linked(sbom):
    with open(os.path.join(ROOT, "docs", "licences.md"), encoding="utf-8") as f:
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in f if line.startswith("| ")][1:]
    named = {package for row in rows for package in row[1].split(", ")}
    linked = {c["name"] for c in packages(sbom) if "directly" in properties(c, "dragoman:linked")}
    extra = {p for p in linked if re.match(r"lib(asan|ubsan|tsan)\d", p)}
    assert linked - extra == named
