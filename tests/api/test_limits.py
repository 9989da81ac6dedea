"""Ranges and defaults in --help, the manual, docs/operations.md and openapi.yaml equal the tables of fields (dragoman-server
--describe), and the server enforces them."""
import json
import os
import re
import subprocess

import pytest
import yaml

import conftest
import option_list

DESCRIBED = json.loads(subprocess.run([conftest.SERVER, "--describe"], capture_output=True, text=True, check=True).stdout)
SETTINGS = {field["name"]: field for field in DESCRIBED["settings"]}
REQUEST = {field["name"]: field for field in DESCRIBED["request"]}
UNBOUNDED = 1e15  # a bound from here on is never reached in practice and not documented


def read(*path):
    with open(os.path.join(conftest.ROOT, *path), encoding="utf-8") as f:
        return f.read()


def test_help_tells_each_setting_s_default_and_range():
    options = option_list.of(conftest.SERVER)
    assert {name.replace("-", "_") for name, o in options.items() if o.argument} == set(SETTINGS)
    for name, field in SETTINGS.items():
        shown = options[name.replace("_", "-")]
        assert shown.default == field["default"]
        maximum = field.get("maximum", UNBOUNDED)
        bounds = (field["minimum"], maximum) if maximum < UNBOUNDED else (None, None)
        assert (shown.minimum, shown.maximum) == bounds, name
        assert all(word in shown.text for word in field.get("enum", [])), name


def test_the_manual_tells_them_too(tmp_path):
    page = subprocess.run([os.path.join(conftest.ROOT, "packaging", "manpage"),
                           os.path.join(conftest.ROOT, "packaging", "man", "dragoman-server.1.in"), conftest.BIN, "0", "day"],
                          capture_output=True, text=True, check=True).stdout.replace("\\-", "-")
    for name, field in SETTINGS.items():
        (entry,) = re.findall(r"^\.It Fl -%s Ar .*\n((?:(?!\.).*\n)*)" % name.replace("_", "-"), page, re.M)
        text = " ".join(entry.split())
        if field["default"]:
            assert f"[{field['default']}" in text, name
        if field.get("maximum", UNBOUNDED) < UNBOUNDED:
            assert f"{field['minimum']:.15g} to {field['maximum']:.15g}]" in text, name


def test_what_is_outside_a_setting_s_range_is_refused():
    for name, field in SETTINGS.items():
        flag = "--" + name.replace("_", "-")
        wrong = [field["minimum"] - 1, field["maximum"] + 1] if "maximum" in field else ["no-such-word"] if "enum" in field else []
        for value in wrong:
            done = subprocess.run([conftest.SERVER, "--print-config", flag, str(value)], capture_output=True, text=True)
            assert done.returncode == 2 and done.stderr.startswith(f'dragoman-server: {flag} is "{value}", must be'), done.stderr


def schema(name):
    """Returns the schema of a request's field in openapi.yaml."""
    schemas = yaml.safe_load(read("openapi.yaml"))["components"]["schemas"]
    found = {"properties": {"sampling": schemas["Sampling"], "beam_size": schemas["BeamSize"],
                            "length_penalty": schemas["LengthPenalty"], "n_best": schemas["NBest"]}}
    for part in name.split("."):
        found = found["properties"][part]
    return found


@pytest.mark.parametrize("name", REQUEST)
def test_openapi_tells_each_search_option_s_range(name):
    field, told = REQUEST[name], schema(name)
    assert told["type"] == field["type"] and told["minimum"] == field["minimum"]
    # Integers without a bound of their own end at the largest 64-bit one.
    assert told.get("maximum") in ([field["maximum"]] if field["maximum"] < UNBOUNDED else [None, 2**63 - 1])
    assert str(told.get("default", "")) == field.get("default", "")


@pytest.mark.parametrize("name", REQUEST)
def test_the_server_holds_it(server, name):
    field = REQUEST[name]

    def ask(value):
        fields = {name: value} if "." not in name else {"sampling": {name.split(".")[1]: value}}
        if name == "n_best":
            fields["beam_size"] = 32
        return server.translate("Hello.", **fields)

    for value in [field["minimum"]] + [field["maximum"]] * (field["maximum"] < UNBOUNDED):
        assert ask(value).status_code == 200, value
    for value in [field["minimum"] - 1] + [field["maximum"] + 1] * (field["maximum"] < UNBOUNDED):
        reply = ask(value)
        assert reply.status_code == 400 and reply.json()["error"]["field"] == name, reply.text
