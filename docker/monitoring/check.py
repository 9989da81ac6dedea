#!/usr/bin/env python3
"""Print every query of the Grafana dashboard as a recording rule, so that promtool can parse them; fail if the
files for operators do not fit together. scripts/deploy-check runs it."""
import json
import os
import subprocess
import sys

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
DOCKER = os.path.dirname(HERE)
ROOT = os.path.dirname(DOCKER)


def load(*path):
    with open(os.path.join(DOCKER, *path), encoding="utf-8") as f:
        return yaml.safe_load(f)


def check(condition, message):
    if not condition:
        sys.exit(f"docker/monitoring/check.py: {message}")


def dashboard_rules():
    rules = []
    panels = load("monitoring", "grafana", "dragoman.json")["panels"]
    check(len({p["id"] for p in panels}) == len(panels), "two panels have one id")
    taken = set()
    for panel in panels:
        grid = panel["gridPos"]
        cells = {(x, y) for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])}
        check(grid["x"] + grid["w"] <= 24, f"panel {panel['title']} is wider than the dashboard")
        check(not cells & taken, f"panel {panel['title']} lies on another one")
        taken |= cells
        if panel["type"] == "row":  # a heading
            continue
        for target in panel["targets"]:
            # Grafana replaces these variables.
            query = target["expr"].replace("$__rate_interval", "1m").replace("$instance", ".*")
            check("$" not in query, f"panel {panel['title']} uses an unknown variable: {query}")
            rules.append({"record": f"panel:{panel['id']}:{target['refId']}", "expr": query})
    return {"groups": [{"name": "dashboard", "rules": rules}]}


def check_kubernetes():
    deployment = load("kubernetes", "deployment.yaml")
    pod = deployment["spec"]["template"]
    container = pod["spec"]["containers"][0]
    labels = pod["metadata"]["labels"].items()
    for name, selector in (
        ("deployment.yaml", deployment["spec"]["selector"]["matchLabels"]),
        ("service.yaml", load("kubernetes", "service.yaml")["spec"]["selector"]),
        ("disruption.yaml", load("kubernetes", "disruption.yaml")["spec"]["selector"]["matchLabels"]),
        ("network.yaml", load("kubernetes", "network.yaml")["spec"]["podSelector"]["matchLabels"]),
    ):
        check(selector.items() <= labels, f"{name} selects other pods than the Deployment makes")
    ports = {p["name"] for p in container["ports"]}
    check(load("kubernetes", "service.yaml")["spec"]["ports"][0]["targetPort"] in ports, "service.yaml names another port")
    scaler = load("kubernetes", "autoscaler.yaml")["spec"]
    check(scaler["scaleTargetRef"]["name"] == deployment["metadata"]["name"], "autoscaler.yaml scales something else")
    wanted = scaler["metrics"][0]["pods"]["metric"]["name"]
    rules = load("kubernetes", "prometheus-adapter.yaml")["rules"]["custom"]
    check(wanted in [r["name"]["matches"] for r in rules], f"prometheus-adapter.yaml has no rule for {wanted}")
    listed = set(load("kubernetes", "kustomization.yaml")["resources"])
    there = {f for f in os.listdir(os.path.join(DOCKER, "kubernetes")) if "kind" in load("kubernetes", f)} - {"kustomization.yaml"}
    check(listed == there, f"kustomization.yaml lists {sorted(listed)}, there are {sorted(there)}")
    drain = 30  # the default of --drain-timeout
    duck = int({e["name"]: e["value"] for e in container["env"]}["DRAGOMAN_LAME_DUCK"])
    check(pod["spec"]["terminationGracePeriodSeconds"] > duck + drain, "the pod is killed before it has drained")


def check_versions():
    version = subprocess.run([os.path.join(ROOT, "scripts", "version")], capture_output=True, text=True, check=True).stdout.strip()
    images = [load("compose.yaml")["services"]["dragoman"]["image"],
              load("kubernetes", "deployment.yaml")["spec"]["template"]["spec"]["containers"][0]["image"]]
    for image in images:
        check(image == f"dragoman:{version}", f"an image is {image}, the version is {version}")
    for name in ("Dockerfile", "Dockerfile.cuda"):
        with open(os.path.join(DOCKER, name), encoding="utf-8") as f:
            check(f"ARG VERSION={version}\n" in f.read(), f"docker/{name}'s VERSION is not {version}")


def check_compose():
    for name, service in load("compose.yaml")["services"].items():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("."):
                check(os.path.exists(os.path.join(DOCKER, source)), f"compose.yaml mounts {source} into {name}, which is not there")


def main():
    check_versions()
    check_compose()
    check_kubernetes()
    json.dump(dashboard_rules(), sys.stdout, indent=1)


main()
