"""Alerts, dashboard and autoscaler ask for metrics that the server really has."""
import json
import os
import re

import yaml

from conftest import ROOT

DOCKER = os.path.join(ROOT, "docker")
# Labels that the queries select by are not metrics; up is Prometheus' own.
NAME = re.compile(r"\b((?:dragoman|process)_[a-z_]+)\b(?!\s*=)")


def asked_for():
    """Metric names in each file, with the file."""
    with open(os.path.join(DOCKER, "monitoring", "alerts.yml"), encoding="utf-8") as f:
        for rule in yaml.safe_load(f)["groups"][0]["rules"]:
            for name in NAME.findall(rule["expr"]):
                yield name, rule["alert"]
    with open(os.path.join(DOCKER, "monitoring", "grafana", "dragoman.json"), encoding="utf-8") as f:
        for panel in json.load(f)["panels"]:
            for target in panel["targets"]:
                for name in NAME.findall(target["expr"]):
                    yield name, "panel " + panel["title"]
    with open(os.path.join(DOCKER, "kubernetes", "autoscaler.yaml"), encoding="utf-8") as f:
        yield yaml.safe_load(f)["spec"]["metrics"][0]["pods"]["metric"]["name"], "autoscaler.yaml"


def test_queries_name_metrics_that_are_exported(server):
    server.translate("a")
    families = set(re.findall(r"^# TYPE (\S+)", server.get("/metrics").text, re.M))
    missing = {f"{name} ({where})" for name, where in asked_for()
               if name not in families and re.sub(r"_(bucket|sum|count)$", "", name) not in families}
    assert not missing
