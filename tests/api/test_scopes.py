"""Which key a route needs: docs/operations.md says it for each, and the server enforces it."""
import itertools
import os
import re
import subprocess

import pytest
import requests

from conftest import PATIENCE, ROOT, SERVER, Server
from test_keys import new_key

KINDS = ["nothing", "nothing; with `--keys-open probes` any key", "any key", "`admin`"]
ADMITS = {KINDS[0]: {"none", "translate", "admin"}, KINDS[2]: {"translate", "admin"}, KINDS[3]: {"admin"}, "work": {"translate"}}


def told():
    """Returns the document's table: path -> what it needs."""
    with open(os.path.join(ROOT, "docs", "operations.md"), encoding="utf-8") as f:
        rows = dict(re.findall(r"^\| (.*) \| (`/.*) \|$", f.read().partition("\n### Scopes\n")[2].partition("\n### ")[0], re.M))
    assert list(rows) == KINDS
    return {path: needs for needs, paths in rows.items() for path in re.findall(r"`(\S+)`", paths)}


@pytest.mark.parametrize("open_to_all", ["pages", "probes"])
def test_every_route_needs_what_the_document_says(models, tmp_path, open_to_all):
    path = str(tmp_path / "keys.db")
    secrets = {scope: new_key(path, "--scope", scope) for scope in ("translate", "admin")}
    routes = [line.split() for line in subprocess.run([SERVER, "--routes"], capture_output=True, text=True, check=True).stdout.splitlines()]
    needs, wrong = told(), []
    assert set(needs) <= {path for _, path in routes}
    with Server(models, "--keys", path, "--keys-open", open_to_all) as s:
        def refused():
            text = s.get("/metrics", headers={"X-API-Key": secrets["admin"]}).text
            return sum(int(n) for n in re.findall(r"^dragoman_key_refusals_total\{.*} (\d+)$", text, re.M))
        for (method, route), who in itertools.product(routes, ("none", "translate", "admin")):
            kind = needs.get(route, "work")
            if kind == KINDS[1]:
                kind = KINDS[0] if open_to_all == "pages" else KINDS[2]
            before = refused()
            requests.request(method, s.url(re.sub(r"\{\w+\}", "x", route)), timeout=PATIENCE, headers={"X-API-Key": secrets[who]} if who != "none" else {})
            if (refused() == before) != (who in ADMITS[kind]):
                wrong.append((method, route, who))
    assert not wrong, wrong
