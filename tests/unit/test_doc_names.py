"""Everything that the documents name exists: paths, tests, options, make targets, environment variables, metrics and URL paths.

Names are read from `code` and from code blocks. An option in a command line must belong to its verb, an option in running text to any
of our programs. Names of other programs are listed here with their owners."""
import fnmatch
import functools
import glob
import os
import re
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", os.path.join(ROOT, "build", "release")), "bin")
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "ARCHITECTURE.md", "CHANGELOG.md", "trainer/README.md", "trainer/RECIPES.md", "weights/FORMAT.md",
             "tests/emu/README.md", "bench/gpu/README.md"]
DOCUMENTS += sorted(os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, "docs", "*.md")))
PROGRAMS = ("dragoman", "dragoman-server", "dragoman-train")
# {other program: its options}
OTHERS = {
    "apt-get": "-y", "certbot": "--deploy-hook", "cmake": "--preset --install --prefix", "ctest": "--test-dir", "docker": "--gpus --ulimit --read-only --stop-timeout",
    "dpkg": "--build", "git": "--get-regexp", "haproxy": "", "mpirun": "--bind-to", "nsys": "", "perf": "", "pip": "", "systemctl": "--now",
    "curl": "--data-urlencode --data-binary --unix-socket --compressed --retry", "marian": "--transformer-guided-alignment-layer", "sacrebleu": "--paired-bs",
}
# Paths of other services; the document says that we do not have them.
REFUSED = ("/v2/write", "/v3/style_rules")
# Folders that the reader makes, or that are not in the repository.
MADE = ("build/", "data/", "run/", ".work/", ".cache/", "bundles/", "corpus/", "captions/")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


def blocks_of(text):
    """(language, content) of each fenced block."""
    return re.findall(r"^ *```(\w*)\n(.*?)^ *```", text, re.M | re.S)


def spans_of(text):
    """Each `code` in running text."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S))


def commands_of(text):
    """Command lines of shell blocks, continued lines joined."""
    for language, content in blocks_of(text):
        if language in ("sh", "console"):
            joined = re.sub(r"\\\n", " ", content)
            yield from (line.removeprefix("$ ") for line in joined.splitlines() if language == "sh" or line.startswith("$ "))


@functools.cache
def tracked():
    said = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True)
    if said.returncode == 0 and said.stdout:
        return frozenset(said.stdout.splitlines())
    return frozenset(os.path.relpath(os.path.join(d, f), ROOT) for d, _, fs in os.walk(ROOT) for f in fs)  # in a source archive


def others():
    """All tracked files except this one, which has wrong names on purpose."""
    return tracked() - {"tests/unit/test_doc_names.py"}


@functools.cache
def folders():
    return frozenset(name[:end] for name in tracked() for end in range(len(name)) if name[end] == "/")


@functools.cache
def help_of(*command):
    return subprocess.run([os.path.join(BIN, command[0]), *command[1:], "--help"], capture_output=True, text=True, check=True).stdout


def options_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text))


@functools.cache
def verbs(program):
    return tuple(re.findall(r"^  ([a-z][a-z-]*) ", help_of(program), re.M)) if program != "dragoman-server" else ()


@functools.cache
def all_options():
    """Options from the programs' help, and from the sources of scripts, benchmarks and tests."""
    ours = {"--help", "--version", "--complete"}
    for program in PROGRAMS:
        ours |= options_in(help_of(program))
        for verb in verbs(program):
            ours |= options_in(help_of(program, verb))
    for name in others():
        if name.startswith(("bench/", "scripts/", "tests/")) and name.endswith((".py", ".c", ".sh")) or name.startswith("scripts/"):
            ours |= options_in(read(name))
            ours |= {"--" + word.replace("_", "-") for word in re.findall(r'\{"([a-z][a-z0-9_-]+)"', read(name))}
    return ours | {option for theirs in OTHERS.values() for option in theirs.split()}


@functools.cache
def old_names():
    """Former names of options and settings, which are still accepted."""
    return {"--" + word.replace("_", "-") for name in tracked() if name.endswith((".c", ".h")) and not name.startswith("tests/")
            for word in re.findall(r'\.old = "([\w-]+)"', read(name))}


def wrong_options(text):
    for command in commands_of(text):
        for part in re.split(r"[|;]|&&", command):
            words = part.split()
            while words and re.match(r"[A-Z_]+=|sudo$|time$|mpirun$|-n$|\d+$", words[0]):
                words.pop(0)
            program = os.path.basename(words[0]) if words else ""
            if program not in PROGRAMS:
                continue
            verb = [words[1]] if len(words) > 1 and words[1] in verbs(program) else []
            for option in sorted(options_in(part) - options_in(help_of(program, *verb)) - options_in(help_of(program)) - {"--version", "--help"}):
                yield f"{option} is no option of {program} {' '.join(verb)}".rstrip()
    for span in spans_of(text):
        for option in sorted(options_in(span) - all_options() - old_names()):
            yield f"nothing has the option {option}"


def expanded(path):
    """All paths that a path with {a,b} stands for."""
    found = re.search(r"\{([^{}]*,[^{}]*)\}", path)
    if not found:
        return [path]
    return [p for word in found.group(1).split(",") for p in expanded(path[:found.start()] + word + path[found.end():])]


def is_there(path, folder):
    """True if the path exists below the root or the document's folder. * stands for any name, test_x for test_x.c or test_x.py."""
    for candidate in (path, os.path.normpath(os.path.join(folder, path))):
        candidate = candidate.rstrip("/")
        if "*" in candidate:
            if fnmatch.filter(tracked(), candidate) or fnmatch.filter(tracked(), candidate + "/*"):
                return True
        elif candidate in tracked() or candidate in folders() or candidate + ".py" in tracked() or candidate + ".c" in tracked():
            return True
    return False


def wrong_paths(text, document):
    tops = {name.split("/")[0] for name in tracked() if "/" in name}
    words = [(w, True) for span in spans_of(text) for w in span.split()] + [(w, False) for c in commands_of(text) for w in c.split()]
    for word, in_text in words:
        word = word.strip("'\"();,:").removeprefix("./")
        if not re.fullmatch(r"[\w.{},*-]+(/[\w.{},*-]*)*", word) or word.startswith(MADE):
            continue
        if re.match(r"(text|application|image)/[a-z]+$", word) and not is_there(word, "."):
            continue  # a media type
        if "/" in word and word.split("/")[0] in tops:
            for path in expanded(word):
                if not is_there(path, os.path.dirname(document)):
                    yield f"{path} is not in the repository"
        elif in_text and re.fullmatch(r"test_\w+(\.(c|py))?", word):
            stem = word.split(".")[0]
            cuda = re.sub(r"^test_cuda_(\w+?)(_own)?$", r"test_\1", stem)  # tests/emu's programs
            if not any(re.search(rf"/({stem}|{cuda}|{cuda}_cuda)\.(c|py)$", name) for name in tracked()) and f"def {stem}(" not in text_of_tests():
                yield f"there is no test {word}"
        elif in_text and re.fullmatch(r"\w+\.(c|h|cu|cc)", word):
            if not any(os.path.basename(name) == word or word[0] == "_" and name.endswith(word) for name in tracked()):
                yield f"there is no source {word}"


@functools.cache
def text_of_tests():
    return "".join(read(name) for name in others() if name.startswith("tests/") and name.endswith(".py"))


@functools.cache
def sources():
    return "".join(read(name) for name in others() if name.endswith((".c", ".h", ".cu", ".cc", ".py", ".txt", ".mk", ".cfg", ".conf"))
                   or name.startswith(("scripts/", "docker/", "bench/run-", "bench/gpu/", ".ci/")) or name == "Makefile")


@functools.cache
def settings():
    said = subprocess.run([os.path.join(BIN, "dragoman-server"), "--print-config"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^(\w+) = ", said, re.M))


def wrong_targets(text):
    there = set(re.findall(r"^([a-z0-9-]+):", read("Makefile") + read("packaging", "targets.mk"), re.M))
    for code in spans_of(text) + list(commands_of(text)):
        for words in re.findall(r"(?:^|[\s;&])make((?: +[a-z][a-z0-9-]*)+)", code):
            for target in set(words.split()) - there:
                yield f"make has no target {target}"


def wrong_variables(text):
    for name in sorted(set(re.findall(r"\bDRAGOMAN_[A-Z][A-Z0-9_]*[A-Z0-9]\b", text))):
        if name.removeprefix("DRAGOMAN_").lower() not in settings() and not re.search(rf"\b{name}\b", sources()):
            yield f"nothing reads {name}"


@functools.cache
def metrics():
    """The table of operations.md, which a test of the API compares with /metrics."""
    return set(re.findall(r"^\| `((?:dragoman|process)_\w+)`", read("docs", "operations.md"), re.M))


def wrong_metrics(text):
    functions = set(read("library", "symbols.txt").split()) | set(re.findall(r"\bdragoman_\w+", read("include", "dragoman.h")))
    targets = set(re.findall(r"\bdragoman_(?:shared|static)\b", read("library", "CMakeLists.txt")))
    for name in sorted(set(re.findall(r"\b(?:dragoman|process)_[a-z_]+[a-z]\b", " ".join(spans_of(text)) + "".join(c for _, c in blocks_of(text))))):
        if re.sub(r"_(bucket|sum|count)$", "", name) not in metrics() | functions | targets:
            yield f"{name} is no metric and no function of the library"


@functools.cache
def routes():
    said = subprocess.run([os.path.join(BIN, "dragoman-server"), "--routes"], capture_output=True, text=True, check=True).stdout
    return tuple(line.split()[1] for line in said.splitlines())


def is_route(path):
    return any(re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(route)), path) for route in routes())


def wrong_urls(text):
    """Wrong paths in requests to our server, and API paths in running text; …/v2/x is the end of a path."""
    code = [c for c in commands_of(text)] + spans_of(text)
    asked = [p for c in code for p in re.findall(r"http://(?:127\.0\.0\.1:80\d\d|localhost)(/[^\s'\"?`#]*)", c)]
    named = [p for span in spans_of(text) for p in re.findall(r"^(?:(?:GET|POST|PUT|PATCH|DELETE) )?(/(?:v[123]|language|livez|readyz|health|metrics|status|docs|openapi\.yaml|web|imme|kiss|hcfy|deeplx|suggest|spec)(?:/[^\s'\"?`…]*)?)(?:\?\S*)?$", span)]
    for path in asked + named:
        path = re.sub(r"\$\([^)]*\)?|\$\w+|\$\{\w+\}", "x", path)
        assert path not in REFUSED or not is_route(path)
        if not is_route(path.rstrip(".,)")) and path not in REFUSED and path not in ("/v1", "/v2", "/v3", "/v1/", "/v2/", "/web/"):
            yield f"the server has no path {path}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_name_is_there(document):
    text = read(document)
    wrong = [w for find in (wrong_options, wrong_targets, wrong_variables, wrong_metrics, wrong_urls) for w in find(text)]
    assert sorted(set(wrong + list(wrong_paths(text, document)))) == []


def test_a_wrong_name_is_found():
    text = ("`server/nothing.c` `test_nothing` `nothing_at_all.c` `--nothing-such` `make nothing` `DRAGOMAN_NOTHING` `dragoman_nothing_total` `GET /v1/nothing`\n"
            "```sh\ndragoman translate --requests-per-minute 3\ncurl http://127.0.0.1:8080/nothing\n```\n")
    found = [list(f) for f in (wrong_options(text), wrong_targets(text), wrong_variables(text), wrong_metrics(text), wrong_urls(text), wrong_paths(text, "README.md"))]
    assert [len(f) for f in found] == [2, 1, 1, 1, 2, 3], found


def cells_of(text):
    for line in re.sub(r"^```.*?^```", "", text, flags=re.M | re.S).splitlines():
        if line.startswith("|"):
            yield from (cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_cell_of_a_table_is_a_paragraph(document):
    assert [cell for cell in cells_of(read(document)) if len(re.sub(r"\]\([^)]*\)", "]", cell)) > 350] == []
