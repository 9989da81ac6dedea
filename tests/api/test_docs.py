"""The commands in the documents, run against a real server with the bundled model; what they print is what the documents show.

A ```console block holds commands ("$ ", continued after a backslash or a pipe, or up to EOF) and what each prints. They run in a copy of the repository's
root, with the built programs. Output matches when it is the same but for:
  - "…" in the document stands for anything;
  - a number shown with n decimals matches one that rounds to it, or is 0.000005 off: sums in fp32 have another order, and so other last digits,
    on another processor;
  - JSON may be laid out in any way.
Blocks of other kinds are not run. `python3 tests/api/test_docs.py --update FILE...` writes what the commands print now into the
documents, where it no longer matches."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import pytest

import option_list
from conftest import BIN, BUNDLES, PATIENCE, ROOT, SERVER, Local

TRAIN = os.path.join(BIN, "dragoman-train")
ADDRESS = "http://127.0.0.1:8080"  # as the documents write it
DOCUMENTS = ["README.md"] + sorted(os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, "docs", "*.md")))
NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"


class Step:
    """A command of a console block; first and last are the lines of its output in the document."""

    def __init__(self, line, command):
        self.line, self.command, self.first, self.last = line, command, line + 1, line

    def goes_on(self):
        if "<<'EOF'" in self.command:
            return not self.command.endswith("\nEOF")
        return self.command.endswith(("\\", "|"))

    def __repr__(self):
        return "line %d: %s" % (self.line + 1, self.command.split("\n")[0])


def steps(text):
    """The commands of all console blocks, in order."""
    found, inside = [], False
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        line = lines[i]
        if line.startswith("```"):
            inside = not inside and line == "```console"
        elif inside and line.startswith("$ "):
            step = Step(i, line[2:])
            while step.goes_on():
                i += 1
                step.command += "\n" + lines[i]
            step.first = step.last = i + 1
            found.append(step)
        elif inside and found:
            step.last = i + 1
        i += 1
    return found


def shown(step, text):
    return "\n".join(text.split("\n")[step.first:step.last])


def number_matches(wanted, got):
    if "." not in wanted or "e" in wanted.lower():
        return wanted == got
    return abs(float(got) - float(wanted)) <= 0.5 * 10.0 ** -len(wanted.split(".")[1]) + 5e-6


class Number(str):
    """A JSON number as it was written."""


def json_matches(wanted, got):
    if isinstance(wanted, Number) and isinstance(got, Number):
        return number_matches(wanted, got)
    if type(wanted) is not type(got):
        return False
    if isinstance(wanted, dict):
        return list(wanted) == list(got) and all(json_matches(wanted[k], got[k]) for k in wanted)
    if isinstance(wanted, list):
        return len(wanted) == len(got) and all(map(json_matches, wanted, got))
    return text_matches(wanted, got) if isinstance(wanted, str) else wanted == got


def text_matches(wanted, got):
    pattern, numbers = "", []
    for part in re.split("(…|%s)" % NUMBER, wanted):
        if part == "…":
            pattern += "(?s:.*?)"
        elif re.fullmatch(NUMBER, part):
            numbers.append(part)
            pattern += "(%s)" % NUMBER
        else:
            pattern += re.escape(part)
    found = re.fullmatch(pattern, got)
    return bool(found) and all(map(number_matches, numbers, found.groups()))


def read_json(text):
    try:
        value = json.loads(text, parse_float=Number, parse_int=Number)
    except ValueError:
        return None
    return value if isinstance(value, (dict, list)) else None


def matches(wanted, got):
    wanted, got = wanted.strip(), got.strip()
    a, b = read_json(wanted), read_json(got)
    return json_matches(a, b) if a is not None and b is not None else text_matches(wanted, got)


class Shell:
    """Runs commands in a copy of the repository's root, as a reader would, with the server that the documents assume."""

    def __init__(self, folder, server):
        self.folder, self.server = folder, server
        for name in os.listdir(ROOT):
            if name not in ("build", ".git"):
                os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        os.makedirs(os.path.join(folder, "build", "release"))
        os.symlink(BIN, os.path.join(folder, "build", "release", "bin"))

    def run(self, step):
        command = step.command.replace(ADDRESS, self.server.url("")).replace("/run/dragoman/socket", self.server.socket_path)
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.folder, text=True, timeout=5 * PATIENCE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=dict(os.environ, LC_ALL="C.UTF-8"))
        return done.returncode, done.stdout.replace(self.server.url(""), ADDRESS).replace("\r\n", "\n")


def read(document):
    with open(os.path.join(ROOT, document), encoding="utf-8") as f:
        return f.read()


def start():
    """Starts a server with one worker: two would finish a stream's sentences in either order."""
    return Local(BUNDLES, "--workers", "1", "--documents", os.path.join(tempfile.mkdtemp(), "documents.db"),
                 "--collections", os.path.join(tempfile.mkdtemp(), "collections.db"),
                 "--suggestions", os.path.join(tempfile.mkdtemp(), "suggestions.db"))


@pytest.fixture(scope="module")
def bundled():
    with start() as server:
        yield server


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_print_what_the_document_shows(document, bundled, tmp_path):
    text, shell, wrong = read(document), Shell(str(tmp_path), bundled), []
    for step in steps(text):
        status, got = shell.run(step)
        if not matches(shown(step, text), got):
            wrong.append("%s\n--- shown\n%s\n--- printed, status %d\n%s" % (step, shown(step, text), status, got))
    assert not wrong, "\n".join(wrong)


def anchors(text):
    """Returns the anchors of a document's headings."""
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.M)}


def test_links_lead_somewhere():
    wrong = []
    others = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "weights/FORMAT.md", "trainer/README.md", "trainer/RECIPES.md"]
    for document in DOCUMENTS + others + sorted(glob.glob("*/*/*/MODEL_CARD.md", root_dir=ROOT)):
        text = re.sub(r"^```.*?^```", "", read(document), flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:|…", link):
                continue
            path, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document
            if not os.path.exists(os.path.join(ROOT, target)) or (anchor and anchor not in anchors(read(target))):
                wrong.append("%s: %s" % (document, link))
    assert wrong == []


def test_every_route_has_its_commands_in_a_document():
    there = subprocess.run([SERVER, "--routes"], capture_output=True, text=True, check=True).stdout.split("\n")
    text = "".join(read("docs/%s.md" % name) for name in ("api", "formats", "glossaries", "moving"))
    sections = re.split(r"^## ", text, flags=re.M)[1:]
    described = {}
    for section in sections:
        heading = re.match(r"`((?:GET|POST|PUT|PATCH|DELETE) \S+)`\n", section)
        if heading:
            described[heading.group(1)] = [s.command for s in steps(section)]
    assert sorted(described) == sorted(filter(None, there))
    for route, commands in described.items():
        wanted = r"(?:%s|http://localhost)%s(?=[\s'\"?]|$)" % (
            re.escape(ADDRESS), re.sub(r"\\\{\w+\\\}", r"(?:[\\w.]+|\\$\\(cat id\\))", re.escape(route.split()[1])))
        assert any(re.search(wanted, c) for c in commands), route


def test_every_setting_is_in_the_operations_document():
    there = [(name, o.default) for name, o in option_list.of(SERVER).items() if o.argument]
    rows = re.findall(r"^\| `--([a-z-]+)` \| (\S*) \|", read("docs/operations.md"), re.M)
    assert sorted(rows) == sorted(there)


def test_every_field_of_a_recipe_is_explained():
    """RECIPES.md gives each field's name, its default and whether it may change when a run is resumed."""
    out = subprocess.run([TRAIN, "recipe", "base"], capture_output=True, text=True, check=True).stdout
    fields, recipe = {}, json.loads(out)
    for key, value in recipe.items():
        if key != "data":
            fields |= {f"{key}.{k}": v for k, v in value.items()} if isinstance(value, dict) else {key: value}
    described = json.loads(subprocess.run([TRAIN, "recipe", "base", "--describe"], capture_output=True, text=True, check=True).stdout)
    changeable = {field["name"] for field in described if field["resumable"]}
    assert {field["name"] for field in described if field["type"] != "other" or "." in field["name"]} == set(fields)
    explained, section = {}, ""
    text = read("trainer/RECIPES.md")
    ranges = set(text.partition("\n## Ranges\n")[2].splitlines())
    for line in text.split("\n"):
        heading = re.match(r"## (.*)", line)
        if heading:
            section = "".join(x + "." for x in re.findall(r"`(\w+)`", heading.group(1))[:1])
        cells = [c.strip() for c in line.strip("|").split("|")]
        names = re.findall(r"`([\w.]+)`", cells[0])
        if not line.startswith("| `") or section == "data." or line in ranges:
            continue
        first = names[0] if "." in names[0] else section + names[0]
        prefix = first.rpartition(".")[0]
        default = cells[2] if cells[1] in ("", "↻") and len(cells) > 3 else cells[1]
        values = [v.strip("`") for v in default.split(", ")] if default else [""] * len(names)
        for name, value in zip([first] + [f"{prefix}.{n.lstrip('.')}".lstrip(".") for n in names[1:]], values, strict=True):
            explained[name] = (value, cells[1] == "↻")
    assert sorted(explained) == sorted(fields)
    for name, (value, may_change) in explained.items():
        assert may_change == (name in changeable), name
        wanted = fields[name]
        assert value == wanted or (value == "" and wanted == "") or (value and json.loads(value) == wanted), name


def test_every_range_of_a_recipe_is_told():
    """RECIPES.md's last table equals the ranges of --describe, and values outside them are refused."""
    described = json.loads(subprocess.run([TRAIN, "recipe", "base", "--describe"], capture_output=True, text=True, check=True).stdout)
    told = dict(re.findall(r"^\| `([\w.]+)` \| (.*) \|$", read("trainer/RECIPES.md").partition("\n## Ranges\n")[2], re.M))
    allowed = {}
    for field in described:
        if field["type"] in ("integer", "number"):
            allowed[field["name"]] = f"{field['minimum']} to {field['maximum']}"
        elif "enum" in field:
            allowed[field["name"]] = ", ".join(f"`{word}`" for word in field["enum"])
    assert told == allowed and len(told) > 70
    for name, text in told.items():
        values = [json.loads(v) + d for v, d in zip(text.split(" to "), (-1, 1))] if " to " in text else ["no-such-word"]
        for given in values:
            done = subprocess.run([TRAIN, "recipe", "base", "--set", f"{name}={given}"], capture_output=True, text=True)
            assert done.returncode == 2 and name in done.stderr, (name, given, done.stderr)


def test_every_metric_is_in_the_operations_document(bundled):
    there = re.findall(r"^# TYPE (\S+)", bundled.get("/metrics").text, re.M)
    rows = re.findall(r"^\| `((?:dragoman|process)_\w+)", read("docs/operations.md"), re.M)
    assert sorted(rows) == sorted(there)


def test_what_matches():
    """The comparison itself works."""
    assert matches("a 1.25 b", "a 1.2497 b") and not matches("a 1.25 b", "a 1.256 b")
    assert matches('{"a": [1, 0.5]}', '{"a":[1,0.4999]}')
    assert not matches('{"a": 1}', '{"a": 2}') and not matches('{"a": 1}', '{"a": 1, "b": 2}')
    assert not matches('{"a": "x"}', '{"a": "y"}') and matches('{"a": "x…"}', '{"a": "xyz"}')
    assert matches("x … z", "x y\ny z") and not matches("x … z", "x y")
    assert not matches("3 lines", "4 lines") and not matches("", "something")
    assert [s.command for s in steps("```console\n$ a \\\n  b\nout\n$ c\n```\n```sh\n$ d\n```\n")] == ["a \\\n  b", "c"]


# ---- --update ----

VOLATILE = [(r"(?m)^Date: .*", "Date: …"), (r"dur=[\d.]+", "dur=…"), (r"cpu/\w+", "cpu/…"), (r"ts=\S+", "ts=…")]


def lay_out(value, indent=0, width=120):
    """JSON on as few lines as fit."""
    flat = json.dumps(value, ensure_ascii=False)
    if indent + len(flat) <= width or not isinstance(value, (dict, list)) or not value:
        return flat
    names = [json.dumps(k) + ": " for k in value] if isinstance(value, dict) else [""] * len(value)
    values = list(value.values()) if isinstance(value, dict) else value
    out, pad = "", " " * (indent + 1)
    for name, v in zip(names, values):
        item = name + lay_out(v, indent + 1 + len(name), width)
        column = len(pad) + len(out) - out.rfind("\n") - 1
        fits = "\n" not in item and column + len(item) + 3 <= width
        out += item if not out else ", " + item if fits else ",\n" + pad + item
    return ("{%s}" if isinstance(value, dict) else "[%s]") % out


def update(document, server):
    text = read(document)
    lines = text.split("\n")
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(folder, server)
        replaced = [(step, shell.run(step)[1].rstrip("\n")) for step in steps(text)]
    for step, got in reversed(replaced):
        if not matches(shown(step, text), got):
            value = read_json(got) and json.loads(got, parse_float=lambda s: round(float(s), 2))
            got = lay_out(value) if value else got
            for pattern, mask in VOLATILE:
                got = re.sub(pattern, mask, got)
            lines[step.first:step.last] = got.split("\n") if got else []
            print("%s %s" % (document, step))
    with open(os.path.join(ROOT, document), "w", encoding="utf-8") as f:
        f.write("\n".join(lines))


if __name__ == "__main__":
    if sys.argv[1:2] != ["--update"]:
        sys.exit(__doc__)
    with start() as running:
        for name in sys.argv[2:] or DOCUMENTS:
            update(name, running)
