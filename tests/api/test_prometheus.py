"""A real Prometheus, configured as ours is, scrapes a real server: every panel of the dashboard gets data, every rule can be evaluated."""
import json
import os
import re
import shutil
import subprocess
import threading

import pytest
import requests

from conftest import PATIENCE, ROOT, Local

MONITORING = os.path.join(ROOT, "docker", "monitoring")


class Prometheus:
    """Prometheus with docker/monitoring's configuration, except for the target and the interval. It takes a free port and logs it."""

    def __init__(self, folder, target):
        with open(os.path.join(MONITORING, "prometheus.yml"), encoding="utf-8") as f:
            text = f.read()
        assert "dragoman:8080" in text and "10s" in text and "[alerts.yml]" in text
        text = text.replace("dragoman:8080", target).replace("10s", "1s")
        (folder / "prometheus.yml").write_text(text.replace("[alerts.yml]", "[%s]" % os.path.join(MONITORING, "alerts.yml")))
        self.command = ["prometheus", "--config.file=%s" % (folder / "prometheus.yml"), "--storage.tsdb.path=%s" % (folder / "data"),
                        "--web.listen-address=127.0.0.1:0"]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        self.log, self.address, listening = [], None, threading.Event()

        def read():
            for line in self.process.stderr:
                self.log.append(line)
                found = re.search(r'msg="Listening on" address=(127\.0\.0\.1:\d+)', line)
                if found:
                    self.address = found.group(1)
                    listening.set()
            listening.set()
        self.reader = threading.Thread(target=read, daemon=True)
        self.reader.start()
        assert listening.wait(PATIENCE) and self.address, "".join(self.log)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)

    def get(self, path, **parameters):
        reply = requests.get("http://%s/api/v1/%s" % (self.address, path), params=parameters, timeout=PATIENCE)
        return reply.json()["data"] if reply.status_code == 200 else None


def panels():
    with open(os.path.join(MONITORING, "grafana", "dragoman.json"), encoding="utf-8") as f:
        for panel in json.load(f)["panels"]:
            for target in panel.get("targets", []):
                # Grafana would fill these in; the interval is long, so that it has two scrapes on any machine.
                yield panel["title"], target["expr"].replace("$__rate_interval", "1h").replace("$instance", ".*")


def test_every_panel_and_every_rule_gets_what_it_asks_for(models, tmp_path):
    if not shutil.which("prometheus"):
        pytest.skip("prometheus is not installed (scripts/deps monitoring)")
    with Local(models) as server, Prometheus(tmp_path, "127.0.0.1:%d" % server.port) as prometheus:
        assert server.translate("Hello.").status_code == 200
        assert server.translate("Hello.", stream=True).status_code == 200
        assert server.post("/v1/batch", {"items": [{"text": "a", "source": "en", "target": "de"}]}).status_code == 200
        assert server.reload({}).status_code == 200

        empty = set(panels())

        def filled():
            empty.difference_update([p for p in empty if (prometheus.get("query", query=p[1]) or {}).get("result")])
            return not empty
        try:
            server.until(filled)
        except AssertionError:
            assert sorted(empty) == []
            raise

        def rules():
            groups = (prometheus.get("rules") or {}).get("groups") or [{"rules": []}]
            return groups[0]["rules"]
        server.until(lambda: rules() and all(rule["health"] != "unknown" for rule in rules()))
        assert {rule["name"]: rule["lastError"] for rule in rules() if rule["health"] != "ok"} == {}
        assert [rule["name"] for rule in rules() if rule["state"] == "firing"] == []
