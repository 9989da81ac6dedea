"""Alerts, dashboard and autoscaler ask for metrics that the server really has."""
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from conftest import CLI, ROOT, SERVER

DOCKER = os.path.join(ROOT, "docker")
# A label that a query selects by (followed by =) is not a metric; Prometheus' own `up` does not match.
NAME = re.compile(r"\b((?:dragoman|process)_[a-z_]+)\b(?!\s*=)")


def asked_for():
    """Yields each metric name, with the alert, panel or file that asks for it."""
    with open(os.path.join(DOCKER, "monitoring", "alerts.yml"), encoding="utf-8") as f:
        for rule in yaml.safe_load(f)["groups"][0]["rules"]:
            for name in NAME.findall(rule["expr"]):
                yield name, rule["alert"]
    with open(os.path.join(DOCKER, "monitoring", "grafana", "dragoman.json"), encoding="utf-8") as f:
        for panel in json.load(f)["panels"]:
            for target in panel.get("targets", []):
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


def test_the_dashboard_shows_every_metric(server):
    """Every metric of the server has a panel: a new metric needs one."""
    with open(os.path.join(DOCKER, "monitoring", "grafana", "dragoman.json"), encoding="utf-8") as f:
        shown = set(re.findall(r"\b(?:dragoman|process)_[a-z_]+", f.read()))
    families = set(re.findall(r"^# TYPE (\S+)", server.get("/metrics").text, re.M))
    assert families and {n for n in families if not shown & {n, n + "_bucket", n + "_sum"}} == set()


SELECTOR = re.compile(r"\b((?:dragoman|process)_[a-z_]+)\{([^}]*)\}")


def labels_of(text):
    """{metric: {label: values}} of a metrics page."""
    found = {}
    for name, labels in re.findall(r"^([a-z_]+)(?:\{(.*)\})? \S+$", text, re.M):
        for label, value in re.findall(r'([a-z]+)="((?:[^"\\]|\\.)*)"', labels):
            found.setdefault(name, {}).setdefault(label, set()).add(value)
    return found


def queries():
    with open(os.path.join(DOCKER, "monitoring", "alerts.yml"), encoding="utf-8") as f:
        yield from (rule["expr"] for rule in yaml.safe_load(f)["groups"][0]["rules"])
    with open(os.path.join(DOCKER, "monitoring", "grafana", "dragoman.json"), encoding="utf-8") as f:
        yield from (t["expr"] for panel in json.load(f)["panels"] for t in panel.get("targets", []))


def test_queries_select_by_labels_that_are_there(server):
    """Labels and values in braces are exported; so are the labels in `by (...)`. Prometheus adds instance and job."""
    server.translate("a")
    there, wrong = labels_of(server.get("/metrics").text), set()
    for query in queries():
        for name, selector in SELECTOR.findall(query):
            for label, value in re.findall(r'([a-z]+)="([^"]*)"', selector):
                if label not in ("instance", "job") and value not in there.get(name, {}).get(label, ()):
                    wrong.add("%s{%s=%r}" % (name, label, value))
        known = set().union({"instance", "job"}, *(there.get(name, {}) for name in NAME.findall(query)))
        for summed in re.findall(r"\bby \(([a-z, ]+)\)", query):
            wrong |= {"by (%s): %s" % (label, query) for label in summed.split(", ") if label not in known}
    assert wrong == set()


# Operators' files, checked with their own tools. scripts/deploy-check installs these; without one the test is skipped.

def tool(name):
    """Returns a checker's path: where scripts/deploy-check puts it, or in PATH."""
    own = os.path.join(ROOT, ".cache", "deploy-check", "bin", name)
    found = own if os.access(own, os.X_OK) else shutil.which(name)
    if not found:
        pytest.skip("%s is not installed (scripts/deploy-check brings it)" % name)
    return found


def check(name, *arguments, folder=DOCKER):
    done = subprocess.run([tool(name), *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout


MONITORING = os.path.join(DOCKER, "monitoring")


def test_prometheus_reads_its_configuration():
    check("promtool", "check", "config", "prometheus.yml", folder=MONITORING)


def test_the_job_for_kubernetes(tmp_path):
    """Pods of the Deployment get the job name that alerts and dashboard select, and the labels that the adapter asks for. They are
    named here, because Debian's Prometheus cannot ask a cluster for them."""
    with open(os.path.join(ROOT, "docs", "operations.md"), encoding="utf-8") as f:
        config = yaml.safe_load(re.search(r"```yaml\n(scrape_configs:.*?)```", f.read(), re.S).group(1))
    with open(os.path.join(DOCKER, "kubernetes", "deployment.yaml"), encoding="utf-8") as f:
        pod = yaml.safe_load(f)["spec"]["template"]["metadata"]
    meta = {"__meta_kubernetes_namespace": "ns", "__meta_kubernetes_pod_name": "dragoman-1"}
    for kind in ("label", "annotation"):
        meta.update({"__meta_kubernetes_pod_%s_%s" % (kind, re.sub(r"\W", "_", name)): value for name, value in pod[kind + "s"].items()})
    job = config["scrape_configs"][0]
    assert job.pop("kubernetes_sd_configs") == [{"role": "pod"}]
    job["static_configs"] = [{"targets": ["10.0.0.1"], "labels": meta}, {"targets": ["10.0.0.2:9100"], "labels": {}}]
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    done = subprocess.run([tool("promtool"), "check", "service-discovery", "--timeout=5s", "prometheus.yml", job["job_name"]], cwd=tmp_path,
                          capture_output=True, text=True)
    kept = [target["labels"] for target in json.loads(done.stdout) if target["labels"]]
    assert len(kept) == 1
    assert kept[0].items() >= {"__address__": "10.0.0.1:8080", "job": "dragoman", "namespace": "ns", "pod": "dragoman-1"}.items()


def test_alerts_fire_when_they_should():
    check("promtool", "check", "rules", "alerts.yml", folder=MONITORING)
    check("promtool", "test", "rules", "alerts_test.yml", folder=MONITORING)


def test_each_alert_has_its_case_and_its_row():
    with open(os.path.join(MONITORING, "alerts.yml"), encoding="utf-8") as f:
        alerts = {rule["alert"] for rule in yaml.safe_load(f)["groups"][0]["rules"]}
    with open(os.path.join(MONITORING, "alerts_test.yml"), encoding="utf-8") as f:
        fired = {case["alertname"] for test in yaml.safe_load(f)["tests"] for case in test["alert_rule_test"]
                 if case["exp_alerts"]}
    with open(os.path.join(ROOT, "docs", "operations.md"), encoding="utf-8") as f:
        rows = set(re.findall(r"^\| `(Dragoman\w+)` \|", f.read(), re.M))
    assert alerts == fired == rows


def test_the_dashboards_queries_can_be_read(tmp_path):
    """check.py fails if panels overlap or files do not fit together; it turns the queries into rules for promtool."""
    done = subprocess.run([sys.executable, "check.py"], cwd=MONITORING, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (tmp_path / "rules.yml").write_text(done.stdout)
    check("promtool", "check", "rules", str(tmp_path / "rules.yml"))


def test_the_metrics_page_is_what_prometheus_wants(server):
    server.translate("a")
    done = subprocess.run([tool("promtool"), "check", "metrics"], input=server.get("/metrics").text, text=True,
                          capture_output=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_compose_file():
    check("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml")


@pytest.mark.parametrize("name", sorted(n for n in os.listdir(os.path.join(DOCKER, "kubernetes"))
                                        if n not in ("kustomization.yaml", "prometheus-adapter.yaml")))
def test_kubernetes_manifests(name):
    check("kubernetes-validate", "--strict", os.path.join("kubernetes", name))


def test_what_orchestrators_ask_and_set_is_the_servers():
    """Probes and health checks use routes that exist; DRAGOMAN_ variables are settings."""
    routes = set(subprocess.run([SERVER, "--routes"], capture_output=True, text=True, check=True).stdout.split("\n"))
    text = subprocess.run([SERVER, "--help"], capture_output=True, text=True, check=True).stdout
    settings = {"DRAGOMAN_" + n.upper().replace("-", "_") for n in re.findall(r"^  --([a-z-]+) [A-Z]+ ", text, re.M)}
    files = ["Dockerfile", "Dockerfile.cuda", "compose.yaml", "healthcheck", os.path.join("kubernetes", "deployment.yaml")]
    asked, named = set(), set()
    for name in files:
        with open(os.path.join(DOCKER, name), encoding="utf-8") as f:
            lines = f.read()
        asked |= set(re.findall(r"httpGet: \{path: ([^,}]+)", lines) + re.findall(r"\$\{1:-(/[a-z]+)\}", lines))
        named |= set(re.findall(r"\bDRAGOMAN_[A-Z_]+", lines))
    assert asked == {"/readyz", "/livez"} and {"GET " + path for path in asked} <= routes
    assert {"DRAGOMAN_PORT", "DRAGOMAN_MODELS"} <= named <= settings


@pytest.mark.parametrize("name", ["Dockerfile", "Dockerfile.cuda"])
def test_dockerfiles(name):
    check("hadolint", "--config", "hadolint.yaml", name)


def test_both_images_are_made_alike():
    """Except for CUDA both have the same libraries, ports, user and health check."""
    lines = []
    for name in ("Dockerfile", "Dockerfile.cuda"):
        with open(os.path.join(DOCKER, name), encoding="utf-8") as f:
            runtime = f.read().split("AS runtime")[1]
        install = re.search(r"RUN apt-get update.*?/var/log/\*", runtime, re.S).group(0)
        lines.append([install] + re.findall(r"^(?:USER|EXPOSE|HEALTHCHECK|ENTRYPOINT|COPY --from=files).*", runtime, re.M))
    assert lines[0] == lines[1] and len(lines[0]) == 8


def test_the_image_has_the_libraries_that_the_programs_want():
    """The package of each library that a program links is installed in the image; libc6 and libgcc-s1 always are."""
    if not shutil.which("dpkg-query"):
        pytest.skip("dpkg-query is not installed")
    with open(os.path.join(DOCKER, "Dockerfile"), encoding="utf-8") as f:
        text = f.read()
    listed = set(re.findall(r"[a-z0-9.+-]+", re.search(r"--no-install-recommends (libcld2.*?)&& rm", text, re.S).group(1)))
    wanted = set()
    for program in (CLI, SERVER):
        needed = subprocess.run(["objdump", "-p", program], capture_output=True, text=True, check=True).stdout
        found = dict(re.findall(r"^\s+(\S+) => (\S+)", subprocess.run(["ldd", program], capture_output=True, text=True).stdout,
                                re.M))
        for library in re.findall(r"NEEDED\s+(\S+)", needed):
            path = os.path.realpath(found.get(library, "/"))
            owner = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True).stdout.split(":")[0]
            if owner:
                wanted.add(owner)
    wanted = {name for name in wanted if not re.match("lib(asan|ubsan|tsan)", name)}  # of sanitizer builds
    assert wanted - listed - {"libc6", "libgcc-s1"} == set()
