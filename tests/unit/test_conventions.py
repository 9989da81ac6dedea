"""Files that a repository host reads: templates, the CI file, how to report a vulnerability."""
import glob
import os
import re

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


def test_the_workflow_calls_what_a_change_must_pass():
    workflow = yaml.safe_load(read(".github", "workflows", "ci.yml"))
    steps = [s.get("run", "") for job in workflow["jobs"].values() for s in job["steps"]]
    assert steps[-1] == ".ci/run" and os.access(os.path.join(ROOT, ".ci", "run"), os.X_OK)
    assert workflow["permissions"] == {"contents": "read"}


def test_issue_forms_are_forms():
    forms = glob.glob(os.path.join(ROOT, ".github", "ISSUE_TEMPLATE", "*.yml"))
    assert len(forms) >= 3
    for path in forms:
        form = yaml.safe_load(read(path))
        if os.path.basename(path) == "config.yml":
            continue
        assert form["name"] and form["description"]
        for item in form["body"]:
            assert item["type"] in ("markdown", "textarea", "input", "dropdown", "checkboxes")
            assert ("value" if item["type"] == "markdown" else "label") in item["attributes"]


def test_commands_that_templates_name_are_there():
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile") + read("packaging", "targets.mk"), re.M))
    named = re.findall(r"`make ([a-z-]+)`", read(".github", "pull_request_template.md") + read("CONTRIBUTING.md"))
    assert named and set(named) <= targets


def test_packages_name_the_issues_as_contact():
    """Debian's tools need a maintainer's address; ours uses .invalid, which can belong to nobody (RFC 2606)."""
    control, changelog, copyright = (read("packaging", "debian", name) for name in ("control", "changelog", "copyright"))
    address = re.search(r"^Maintainer: .* <(\S+)>$", control, re.M).group(1)
    assert address.endswith(".invalid") and "issues" in address
    assert re.findall(r"^ -- .* <(\S+)>  ", changelog, re.M) == [address]
    assert re.search(r"^Upstream-Contact: .*issues", copyright, re.M)


def test_vulnerabilities_have_a_way():
    assert "Report a vulnerability" in read("SECURITY.md") and ".invalid" not in read("SECURITY.md")
