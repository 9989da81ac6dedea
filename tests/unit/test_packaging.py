"""The installed files fit the programs: manual pages, completion, configuration, systemd unit."""
import configparser
import functools
import json
import os
import re
import shlex
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", os.path.join(ROOT, "build", "release")), "bin")
PROGRAMS = ["dragoman", "dragoman-server", "dragoman-train"]


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=True, **more).stdout


@functools.cache
def verbs(program):
    return re.findall(r"^  ([a-z][a-z-]*) ", run(os.path.join(BIN, program), "--help"), re.M)


@functools.cache
def flags(*command):
    text = run(os.path.join(BIN, command[0]), *command[1:], "--help")
    return set(re.findall(r"^  (--[a-z][a-z0-9-]*)", text, re.M))


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Everything installed into a folder, with the prefix /usr."""
    root = tmp_path_factory.mktemp("root")
    run(os.path.join(ROOT, "packaging", "install"), BIN, env=dict(os.environ, DESTDIR=str(root), PREFIX="/usr"))
    return root


def files_below(root):
    return {os.path.relpath(os.path.join(d, f), root) for d, _, fs in os.walk(root) for f in fs}


def test_cmake_installs_the_same_files(installed, tmp_path):
    build = os.path.dirname(BIN)
    run("cmake", "--install", build, "--prefix", "/usr", env=dict(os.environ, DESTDIR=str(tmp_path)))
    there = files_below(tmp_path)
    assert len(there) > 20 and there == files_below(installed)


def test_a_build_without_the_trainer_is_installed_without_it(installed, tmp_path):
    """As with the CMake option DG_TRAINER=OFF: everything else is there."""
    built, root = tmp_path / "build/bin", tmp_path / "root"
    built.mkdir(parents=True)
    (tmp_path / "build/lib").symlink_to(os.path.join(os.path.dirname(os.path.abspath(BIN)), "lib"))
    for program in ("dragoman", "dragoman-server"):
        (built / program).symlink_to(os.path.join(os.path.abspath(BIN), program))
    run(os.path.join(ROOT, "packaging", "install"), str(built), env=dict(os.environ, DESTDIR=str(root), PREFIX="/usr"))
    expected = {path for path in files_below(installed) if "dragoman-train" not in path and not path.startswith("usr/lib/dragoman/")}
    assert files_below(root) == expected and len(expected) > 20
    assert complete(root, "dragoman", "") == set(verbs("dragoman"))
    for path in ("zsh/vendor-completions/_dragoman", "fish/vendor_completions.d/dragoman.fish"):
        assert "dragoman-train" not in (root / "usr/share" / path).read_text(), path


def test_prefixes_with_odd_letters_are_written_as_they_are(tmp_path):
    """A space, & and | mean something to the shell, systemd, pkg-config and sed."""
    prefix = tmp_path / "a b & c|d"
    run(os.path.join(ROOT, "packaging", "install"), BIN, env=dict(os.environ, DESTDIR="", PREFIX=str(prefix)))
    unit = re.search("^ExecStart=(.*)", (prefix / "lib/systemd/system/dragoman.service").read_text(), re.M).group(1)
    assert shlex.split(unit) == [f"{prefix}/bin/dragoman-server", "--config", f"{prefix}/etc/dragoman/server.json"]
    assert json.loads((prefix / "etc/dragoman/server.json").read_text())["models"] == f"{prefix}/share/dragoman/bundles"
    said = run("pkg-config", "--cflags", "--libs", "dragoman", env=dict(os.environ, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig"))
    assert shlex.split(said) == [f"-I{prefix}/include", f"-L{prefix}/lib", "-ldragoman"]


def test_folders_are_the_callers(tmp_path):
    """A relative DESTDIR and folder of programs are below the current folder, wherever the repository is. Those that the installed files
    name must be absolute."""
    (tmp_path / "built").symlink_to(os.path.dirname(os.path.abspath(BIN)))
    install = os.path.join(ROOT, "packaging", "install")
    run(install, "built/bin", env=dict(os.environ, DESTDIR="stage", PREFIX="/usr"), cwd=tmp_path)
    assert (tmp_path / "stage/usr/bin/dragoman").exists()
    for name in ("PREFIX", "LIBDIR", "SYSCONFDIR"):
        done = subprocess.run([install, "built/bin"], env=dict(os.environ, **{"DESTDIR": str(tmp_path / "other"), name: "out"}), cwd=tmp_path,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 2 and f"{name} must be an absolute path, not \"out\"" in done.stderr
        assert not (tmp_path / "other").exists()


def test_zsh_finds_the_completion(installed, tmp_path):
    """Debian's zsh looks in these two. /usr/local/share/zsh/vendor-completions is in no fpath."""
    run(os.path.join(ROOT, "packaging", "install"), BIN, env=dict(os.environ, DESTDIR=str(tmp_path), PREFIX="/usr/local"))
    for root, path in ((installed, "usr/share/zsh/vendor-completions"), (tmp_path, "usr/local/share/zsh/site-functions")):
        assert [found for found in files_below(root) if found.endswith("/_dragoman")] == [path + "/_dragoman"]


def page(installed, program):
    return (installed / "usr/share/man/man1" / (program + ".1")).read_text()


def test_every_option_has_its_place_in_the_manual(installed):
    text = page(installed, "dragoman-server")
    shown = set(re.findall(r"^\.It Fl (\S+)", text, re.M))
    assert {"-" + s.replace("\\", "") for s in shown} == flags("dragoman-server")


@pytest.mark.parametrize("program", ["dragoman", "dragoman-train"])
def test_every_verb_has_its_section_in_the_manual(installed, program):
    text = page(installed, program)
    sections = re.split(r"^\.Ss ", text, flags=re.M)[1:]
    assert [s.split()[0] for s in sections] == verbs(program)
    for section in sections:
        verb = section.split("\n")[0]
        shown = {"-" + s.replace("\\", "") for s in re.findall(r"^\.It Fl (\S+)", section.split("\n.Sh")[0], re.M)}
        assert shown == flags(program, verb), verb
        assert f"{program} {verb}" in section.replace("\\", "")


def test_the_manual_is_well_formed(installed):
    if not shutil.which("mandoc"):
        pytest.skip("mandoc is not installed")
    for program in PROGRAMS:
        path = installed / "usr/share/man/man1" / (program + ".1")
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", path], capture_output=True, text=True)
        assert [line for line in lint.stdout.splitlines() if "new sentence, new line" not in line] == []


def test_the_manual_tells_what_a_reload_reads_and_which_exit_status_a_wrong_setting_gives(installed):
    """It named settings and models only, and 1 for a server without a model, which has 2."""
    text = page(installed, "dragoman-server")
    reload = text.split(".It SIGHUP")[1].split(".It SIGTERM")[0]
    with open(os.path.join(ROOT, "server", "api", "metrics_page.c"), encoding="utf-8") as f:
        parts = re.findall(r'"(\w+)"', re.search(r"names\[DG_APP_PARTS \+ 1\] = \{(.*?)\}", f.read(), re.S).group(1))
    assert len(parts) == 5 and [part for part in parts if part not in reload] == []
    assert re.search(r"2 if a setting is wrong.*has no bundle", text.split(".Sh EXIT STATUS")[1], re.S)
    done = subprocess.run([os.path.join(BIN, "dragoman-server"), "--models", str(installed), "--port", "0"], capture_output=True, check=False)
    assert done.returncode == 2


def words(lines):
    return " ".join(lines).split()


def manual_words(section):
    """Words of a section of mdoc as a reader sees them; an option's two macros count as its words."""
    lines = [line for line in section.split("\n") if not line.startswith(".") or line.startswith(".It Fl ")]
    return words(re.sub(r"^\.It Fl (\S+)(?: Ar)?", r"-\1", line.replace("\\&", "")).replace("\\-", "-").replace("\\e", "\\") for line in lines)


@pytest.mark.parametrize("program", ["dragoman", "dragoman-train"])
def test_the_manual_has_all_of_each_verbs_help(installed, program):
    """It had options and usage alone: what SOURCE of `dragoman pull` may be stood nowhere, and `--set KEY` took no value."""
    sections = re.split(r"^\.Ss ", page(installed, program), flags=re.M)[1:]
    for section in sections:
        verb, what, text = section.split("\n.Sh ")[0].split("\n", 2)
        help_lines = run(os.path.join(BIN, program), verb, "--help").removeprefix("usage: ").split("\n")
        assert manual_words(text) == words(line for line in help_lines if line != what.replace("\\-", "-")), verb


def test_the_manual_names_the_prefix():
    for program, said in (("dragoman", "Installed bundles are in\n.Pa /opt/a/share/dragoman/bundles ."), ("dragoman-server", "models /opt/a/share/dragoman/bundles")):
        template = os.path.join(ROOT, "packaging", "man", program + ".1.in")
        text = run(os.path.join(ROOT, "packaging", "manpage"), template, BIN, "1.2", "day", "/opt/a").replace("\\-", "-")
        assert said in text and not re.search(r"@(VERSION|DATE|PREFIX|OPTIONS|VERBS)", text)


def complete(installed, *words):
    """The completions that the shell offers for the last word."""
    script = """
        source "$1"; shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _dragoman "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\\n' "${COMPREPLY[@]}" """
    source = installed / "usr/share/bash-completion/completions" / words[0]
    program = os.path.join(BIN, words[0])
    return set(run("bash", "-c", script, "bash", str(source), program, *words[1:]).split())


def test_completion_offers_verbs_and_options(installed):
    assert complete(installed, "dragoman", "") == set(verbs("dragoman"))
    assert complete(installed, "dragoman", "tr") == {"translate"}
    assert flags("dragoman", "translate") <= complete(installed, "dragoman", "translate", "--")
    assert complete(installed, "dragoman", "translate", "--be") == {"--beam-size"}
    assert complete(installed, "dragoman", "translate", "--length-penalty-kind", "") == {"gnmt", "power", "none"}
    assert {"marian", "ctranslate2"} <= complete(installed, "dragoman", "convert", "")
    assert complete(installed, "dragoman", "convert", "ma") == {"marian"}
    assert complete(installed, "dragoman", "keys", "") == {"add", "list", "set", "revoke", "usage"}
    assert complete(installed, "dragoman", "keys", "re") == {"revoke"}
    assert flags("dragoman", "keys") <= complete(installed, "dragoman", "keys", "add", "--")
    assert complete(installed, "dragoman", "keys", "add", "--scope", "a") == {"admin"}
    assert complete(installed, "dragoman-server", "--keys-open", "") == {"pages", "probes"}
    assert flags("dragoman-server") <= complete(installed, "dragoman-server", "--")
    assert complete(installed, "dragoman-server", "--log-level", "w") == {"warn"}
    assert set(verbs("dragoman-train")) == complete(installed, "dragoman-train", "")
    assert complete(installed, "dragoman", "translate", "file") == set()  # left to the shell's own completion


def test_completion_offers_values(installed):
    """Words come from the options' tables, for separate and joined values; every word of --complete is offered."""
    assert complete(installed, "dragoman", "translate", "--format", "") == {"text", "wrapped", "srt", "markdown", "html", "xml"}
    assert complete(installed, "dragoman", "translate", "--format", "=", "ma") == {"markdown"}
    assert complete(installed, "dragoman", "translate", "--device", "c") == {"cpu", "cuda"}
    assert complete(installed, "dragoman", "translate", "--glossary", "") == set()  # completed as files
    tried = 0
    for command in [["dragoman", v] for v in verbs("dragoman")] + [["dragoman-server"]]:
        for line in run(os.path.join(BIN, command[0]), *command[1:], "--complete").splitlines():
            option, argument, words, said = line.split("\t")
            assert said and option in flags(*command)
            if words:
                tried += 1
                assert complete(installed, *command, option, "") == set(words.split()), option
    assert tried >= 5


def test_completion_is_written_from_programs_named_relatively(installed):
    """`make install` passes relative paths."""
    written = run("packaging/completion", "bash", os.path.relpath(BIN, ROOT), cwd=ROOT)
    assert written == (installed / "usr/share/bash-completion/completions/dragoman").read_text()
    assert subprocess.run(["packaging/completion", "bash", "/nowhere"], cwd=ROOT, capture_output=True).returncode == 1


@pytest.mark.parametrize("shell,path", [("zsh", "zsh/vendor-completions/_dragoman"), ("fish", "fish/vendor_completions.d/dragoman.fish")])
def test_completion_of_other_shells(installed, shell, path):
    text = (installed / "usr/share" / path).read_text()
    for option in flags("dragoman", "translate") | flags("dragoman-server") | flags("dragoman-train", "run"):
        assert (option if shell == "zsh" else "-l " + option[2:]) in text
    assert "text wrapped srt markdown html xml" in text
    assert "argos bergamot ctranslate2 huggingface marian" in text and "add list revoke set usage" in text
    if shell == "zsh":
        assert "average a run'\\''s checkpoints" in text and "'--type=[" in text and "'--list[" in text
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    run(shell, "-n", str(installed / "usr/share" / path))
    if shell == "fish":
        offered = run("fish", "-c", f"source {installed}/usr/share/{path}; complete -C 'dragoman translate --format ma'")
        assert offered.split()[0].endswith("markdown")


def test_the_installed_configuration_is_read_and_kept(installed):
    path = installed / "etc/dragoman/server.json"
    printed = run(str(installed / "usr/bin/dragoman-server"), "--config", str(path), "--print-config")
    for key, value in json.loads(path.read_text()).items():
        assert re.search(r"^%s = %s +# file " % (key, re.escape(json.dumps(value))), printed, re.M), key
    models = json.loads(path.read_text())["models"]
    assert sorted(os.listdir(str(installed) + models)) == sorted(os.listdir(os.path.join(ROOT, "weights", "bundles")))
    path.write_text('{"port": 1}')
    run(os.path.join(ROOT, "packaging", "install"), BIN, env=dict(os.environ, DESTDIR=str(installed), PREFIX="/usr"))
    assert path.read_text() == '{"port": 1}'


def test_installed_documents_link_to_what_is_installed(installed):
    """Links to installed files stay, and all others become plain text."""
    folder = installed / "usr/share/doc/dragoman"
    documents = sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, fs in os.walk(folder) for f in fs if f.endswith(".md"))
    assert "README.md" in documents and len(documents) > 15
    kept = 0
    for document in documents:
        text = (folder / document).read_text()
        named = re.findall(r"\]\(([\w./-]+)(?:#[\w-]*)?\)|(?:src|srcset)=\"([^\"]+)\"", re.sub(r"```.*?```", "", text, flags=re.S))
        for path in filter(None, (name for pair in named for name in pair)):
            assert (folder / document).parent.joinpath(path).exists(), f"{document}: {path}"
            kept += 1
        with open(os.path.join(ROOT, document), encoding="utf-8") as f:
            source = f.read()
        for word in re.findall(r"\w+", re.sub(r"\]\([^)\n]*\)", "]", source)):
            assert word in text, f"{document}: {word} is lost"
        for path in re.findall(r"\]\(([\w./-]+\.md)[)#]", re.sub(r"```.*?```", "", source, flags=re.S)):
            if os.path.normpath(os.path.join(os.path.dirname(document), path)) in documents:
                assert f"]({path}" in text, f"{document}: the link to {path} is lost"
    assert kept > 80


def test_the_unit_starts_what_is_installed_and_lets_it_drain(installed):
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(installed / "usr/lib/systemd/system/dragoman.service")
    program, flag, config = shlex.split(unit["Service"]["ExecStart"])
    assert flag == "--config"
    assert os.access(str(installed) + program, os.X_OK) and os.path.exists(str(installed) + config)
    drain = re.search(r"^drain_timeout = (\d+)", run(str(installed) + program, "--print-config"), re.M)
    assert int(unit["Service"]["TimeoutStopSec"]) > int(drain.group(1))


def test_the_unit_lets_threads_lower_their_priority(installed):
    """--worker-nice and the thread for attention weights: without the call they would keep the server's priority, silently. Of two lists
    that name a call, systemd obeys the later one."""
    unit = (installed / "usr/lib/systemd/system/dragoman.service").read_text()
    lists = re.findall(r"^SystemCallFilter=(~?)(.*)$", unit, re.M)
    refused = [i for i, (no, calls) in enumerate(lists) if no and "@resources" in calls.split()]
    allowed = [i for i, (no, calls) in enumerate(lists) if not no and "setpriority" in calls.split()]
    assert refused and max(allowed, default=-1) > max(refused)


def test_the_unit_makes_the_folders_that_the_documents_name(installed):
    """Elsewhere the service may not write: a file or socket there would end its start."""
    unit = (installed / "usr/lib/systemd/system/dragoman.service").read_text()
    named = set()
    for name in sorted(os.listdir(os.path.join(ROOT, "docs"))):
        if name.endswith(".md"):
            with open(os.path.join(ROOT, "docs", name), encoding="utf-8") as f:
                named |= set(re.findall(r"/(run|var/lib)/(\w+)/", f.read()))
    settings = {"run": "RuntimeDirectory", "var/lib": "StateDirectory"}
    assert {above for above, _ in named} == set(settings)
    for above, folder in named:
        assert f"\n{settings[above]}={folder}\n" in unit, f"/{above}/{folder}"


def test_every_program_tells_the_version():
    version = re.search(r"project\(dragoman VERSION ([\d.]+)", open(os.path.join(ROOT, "CMakeLists.txt")).read()).group(1)
    for program in PROGRAMS:
        assert run(os.path.join(BIN, program), "--version").split() == [program, version]


def test_plugins_go_where_the_programs_look(tmp_path):
    built = tmp_path / "bin"
    built.mkdir()
    for program in PROGRAMS:
        (built / program).symlink_to(os.path.abspath(os.path.join(BIN, program)))
    for plugin in ("libdragoman-cuda.so", "libdragoman-mpi.so"):
        (built / plugin).write_text(plugin)
    run(os.path.join(ROOT, "packaging", "install"), str(built), env=dict(os.environ, DESTDIR=str(tmp_path), PREFIX="/opt"))
    for plugin in ("libdragoman-cuda.so", "libdragoman-mpi.so"):
        assert (tmp_path / "opt/lib/dragoman" / plugin).read_text() == plugin


def test_the_doctor_looks_at_the_installed_models(installed, tmp_path):
    done = subprocess.run([str(installed / "usr/bin/dragoman"), "doctor", "--json", "--port", "0"], capture_output=True,
                          text=True, cwd=tmp_path, env={k: v for k, v in os.environ.items() if k != "DRAGOMAN_MODELS"})
    found = {f["subject"]: f for f in json.loads(done.stdout)["findings"]}
    for name in os.listdir(os.path.join(ROOT, "weights", "bundles")):
        with open(os.path.join(ROOT, "weights", "bundles", name, "manifest.json"), encoding="utf-8") as f:
            assert "checksums right" in found[json.load(f)["name"]]["message"]


def test_the_socket_unit_goes_with_the_service(installed):
    folder = installed / "usr/lib/systemd/system"
    read = lambda name: (folder / name).read_text()
    assert "@" not in read("dragoman.socket") and "@bindir" not in read("dragoman.service")
    config = json.loads((installed / "etc/dragoman/server.json").read_text()) if (installed / "etc/dragoman/server.json").exists() else {}
    listed = open(os.path.join(ROOT, "packaging", "debian", "dragoman.install")).read()
    for name in sorted(os.listdir(folder)):
        assert "usr/lib/systemd/system/%s lib/systemd/system" % name in listed, name
    default = re.search(r"^port = (\d+)", run(os.path.join(BIN, "dragoman-server"), "--print-config"), re.M).group(1)
    assert "ListenStream=127.0.0.1:" + str(config.get("port") if config.get("port", 1) != 1 else default) in read("dragoman.socket")
    assert re.search(r"^Type=notify$", read("dragoman.service"), re.M)


def test_make_lists_its_targets_and_installs_where_it_is_told():
    text = run("make", "-C", ROOT, "--no-print-directory", "help")
    shown = re.findall(r"^([a-z0-9-]+) {2,}\S", text, re.M)
    there = []
    for name in ("Makefile", "packaging/targets.mk"):
        with open(os.path.join(ROOT, name), encoding="utf-8") as f:
            there += re.findall(r"^([a-z0-9-]+):.*## ", f.read(), re.M)
    assert sorted(shown) == sorted(there) and {"install", "container", "help"} <= set(shown)
    # A file of a target's name must not stop it.
    phony = " ".join(re.findall(r"^\.PHONY: (.*)$", run("make", "-C", ROOT, "-np", "help"), re.M)).split()
    assert set(there) <= set(phony)
    # The recipe's commands, printed without running them.
    would = run("make", "-C", ROOT, "--no-print-directory", "-n", "install", "DESTDIR=/tmp/x", "PREFIX=/usr")
    assert "packaging/install build/release/bin" in would


@pytest.mark.parametrize("env,given", [
    ({}, "--models weights/bundles --host 127.0.0.1 --port 8080"),
    ({"DRAGOMAN_PORT": "9001", "DRAGOMAN_MODELS": "m"}, "--models m --host 127.0.0.1 --port 9001"),
    ({"PORT": "9002", "DRAGOMAN_PORT": "9001", "DRAGOMAN_HOST": "::1"}, "--models weights/bundles --host ::1 --port 9002")])
@pytest.mark.parametrize("command", [["make", "-s", "serve"], ["scripts/serve"]])
def test_make_serve_honours_the_settings(tmp_path, command, env, given):
    """With the real Makefile and scripts/serve; the programs that they call are stubs that print."""
    for name in ("scripts/deps", "scripts/build", "build/release/bin/dragoman-server"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('#!/bin/sh\n' + ('echo "$@"\n' if "server" in name else 'echo "$@" >>built\n' if "build" in name else ""))
        path.chmod(0o755)
    for name in ("Makefile", "scripts/serve"):
        shutil.copy(os.path.join(ROOT, name), tmp_path / name)
    shutil.copytree(os.path.join(ROOT, "packaging"), tmp_path / "packaging")
    clean = {k: v for k, v in os.environ.items() if k not in ("HOST", "PORT", "MODELS") and not k.startswith(("DRAGOMAN_", "MAKE"))}
    assert run(*command, env=clean | env, cwd=tmp_path).strip() == given
    # README's commands, which come after `make serve`, run these programs.
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        shown = set(re.findall(r"build/release/bin/(\S+)", "".join(re.findall(r"^```console$(.*?)^```$", f.read(), re.M | re.S))))
    assert shown == {"dragoman"} and shown <= set((tmp_path / "built").read_text().split())


@pytest.mark.parametrize("words,given", [([], "unset unset"), (["PORT=7"], "7 unset"), (["MODELS=m"], "unset m")])
def test_make_leaves_defaults_to_the_scripts(tmp_path, words, given):
    """release-check has another port than serve, and bench-pairs takes the models of the earlier revision."""
    for name in ("scripts/release-check", "bench/run-pairs.sh", "scripts/deps", "scripts/build"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('#!/bin/sh\n' + ("" if name in ("scripts/deps", "scripts/build") else 'echo "${PORT-unset} ${MODELS-unset}"\n'))
        path.chmod(0o755)
    shutil.copy(os.path.join(ROOT, "Makefile"), tmp_path)
    shutil.copytree(os.path.join(ROOT, "packaging"), tmp_path / "packaging")
    clean = {k: v for k, v in os.environ.items() if k not in ("PORT", "MODELS") and not k.startswith(("DRAGOMAN_", "MAKE"))}
    for target in ("release-check", "bench-pairs"):
        assert run("make", "-s", target, *words, env=clean, cwd=tmp_path).strip() == given


def test_packages_of_programs_are_for_both_architectures():
    with open(os.path.join(ROOT, "packaging/debian/control"), encoding="utf-8") as f:
        stanzas = f.read().split("\n\n")
    architectures = {re.search(r"^Package: (\S+)", s, re.M).group(1): re.search(r"^Architecture: (.*)", s, re.M).group(1) for s in stanzas[1:]}
    assert architectures.pop("dragoman-models") == "all"
    assert len(architectures) == 4 and set(architectures.values()) == {"amd64 arm64"}


def test_packages_are_built_with_the_libraries_that_serving_needs():
    with open(os.path.join(ROOT, "packaging/debian/control"), encoding="utf-8") as f:
        wanted = re.findall(r"\S+-dev(?=,|$)", re.search(r"^Build-Depends:(.*?)^\S", f.read(), re.M | re.S).group(1), re.M)
    assert sorted(wanted) == sorted(x for x in run(os.path.join(ROOT, "scripts/deps"), "--names", "serve").split() if x.endswith("-dev"))


def test_a_container_without_a_verb_is_told_how(tmp_path):
    """From any folder, and before anything is installed."""
    (tmp_path / "scripts").mkdir()
    for name in ("container", "version"):
        shutil.copy(os.path.join(ROOT, "scripts", name), tmp_path / "scripts")
    shutil.copy(os.path.join(ROOT, "CMakeLists.txt"), tmp_path)
    for name in ("deps", "emulator"):
        (tmp_path / "scripts" / name).write_text("#!/bin/sh\ntouch installed\n")
        (tmp_path / "scripts" / name).chmod(0o755)
    for words in ([], ["fly"]):
        done = subprocess.run(["./container", *words], cwd=tmp_path / "scripts", capture_output=True, text=True, env=dict(os.environ, ENGINE="buildah"))
        assert done.returncode == 2 and done.stdout == "" and "Usage: scripts/container VERB" in done.stderr, done.stderr
    assert not (tmp_path / "installed").exists()


def package_sources(tmp_path, tree):
    """Runs a tree's scripts/deb with a package builder that only notes what it builds from; returns that: {path: text}."""
    if not shutil.which("dpkg"):
        pytest.skip("not a Debian system")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, says in (("dpkg-buildpackage", f'tar -c . | tar -x -C {tmp_path}/built && touch ../x.deb ../x.changes'), ("lintian", ":"),
                       ("dpkg-parsechangelog", "echo 0.1.0")):
        (tools / name).write_text(f"#!/bin/sh\n{says}\n")
        (tools / name).chmod(0o755)
    (tmp_path / "built").mkdir()
    run(str(tree / "scripts/deb"), env=dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}"))
    return {path: (tmp_path / "built" / path).read_text() for path in files_below(tmp_path / "built")}


@pytest.fixture
def tree(tmp_path):
    """Files as those of a source archive, with what builds and tests leave there."""
    files = {"CMakeLists.txt": "project(dragoman VERSION 0.1.0)\n", "scripts/deps": "#!/bin/sh\n", "packaging/debian/control": "Source: dragoman\n",
             "README.md": "A file.\n", "base/build/a.c": "int a;\n", ".revision": "0123456789abcdef\n", "build/release/x": "built",
             ".cache/x": "kept", ".venv/x": "python", ".work/x": "data of a run",
             "weights/bundles/en-de-fr/manifest.json": "{}", "weights/bundles/firefox-en-de/manifest.json": "of other licences"}
    for path, text in files.items():
        (tmp_path / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / path).write_text(text)
    for name in ("deb", "version"):
        shutil.copy(os.path.join(ROOT, "scripts", name), tmp_path / "tree/scripts")
    (tmp_path / "tree/scripts/deps").chmod(0o755)
    return tmp_path / "tree"


SOURCES = {"CMakeLists.txt", "README.md", "base/build/a.c", "scripts/deb", "scripts/deps", "scripts/version", "packaging/debian/control",
           "debian/control", ".revision", "weights/bundles/en-de-fr/manifest.json"}


def test_packages_are_built_in_a_source_archive(tmp_path, tree):
    """Also where it was unpacked in another repository's tree, whose files and revision are not its own."""
    if shutil.which("git"):
        run("git", "-C", str(tmp_path), "init", "-q")
    built = package_sources(tmp_path, tree)
    assert set(built) == SOURCES and built[".revision"] == "0123456789abcdef\n"


def test_packages_are_built_from_what_git_tracks(tmp_path, tree):
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    git = lambda *words: run("git", "-C", str(tree), "-c", "user.name=x", "-c", "user.email=x@dragoman.invalid", *words)
    git("init", "-q")
    git("add", "CMakeLists.txt", "README.md", "base", "scripts", "packaging", ".revision", "weights/bundles/en-de-fr")
    git("commit", "-q", "-m", "x")
    (tree / "left").write_text("by an editor")
    built = package_sources(tmp_path, tree)
    assert set(built) == SOURCES and git("rev-parse", "HEAD").startswith(built[".revision"].strip())


def test_the_emulator_runs_programs_of_another_architecture(installed, tmp_path):
    """With programs that cannot run here and an emulator that can run them, the installed files are the same as with native ones."""
    built, log = tmp_path / "bin", tmp_path / "log"
    built.mkdir()
    for program in PROGRAMS:
        (built / program).write_text("of another architecture")
        (built / program).chmod(0o755)
    emulator = tmp_path / "emulator"
    emulator.write_text(f'#!/bin/sh\nprogram=$1\nshift\necho "$program" >>{log}\nexec {os.path.abspath(BIN)}/"$(basename "$program")" "$@"\n')
    emulator.chmod(0o755)
    root = tmp_path / "root"
    run(os.path.join(ROOT, "packaging", "install"), str(built), env=dict(os.environ, DESTDIR=str(root), PREFIX="/usr", EMULATOR=str(emulator)))
    assert set(log.read_text().split()) == {str(built / program) for program in PROGRAMS}
    for path in ["man/man1/%s.1" % program for program in PROGRAMS] + [
            "bash-completion/completions/dragoman", "zsh/vendor-completions/_dragoman", "fish/vendor_completions.d/dragoman.fish"]:
        assert (root / "usr/share" / path).read_bytes() == (installed / "usr/share" / path).read_bytes(), path


def recipe(target, build, host, cpu):
    """The commands of packaging/debian/rules, as make would pass them to the shell."""
    return run("make", "-s", "-n", "-f", "packaging/debian/rules", target, f"DEB_BUILD_ARCH={build}", f"DEB_HOST_ARCH={host}",
               f"DEB_HOST_GNU_CPU={cpu}", "DEB_BUILD_OPTIONS=", cwd=ROOT)


def test_the_rules_run_another_architectures_programs_in_qemu():
    for target, programs in (("override_dh_auto_test", 2), ("override_dh_auto_configure", 0)):
        here, cross = recipe(target, "amd64", "amd64", "x86_64"), recipe(target, "amd64", "arm64", "aarch64")
        assert "qemu" not in here and cross.count("qemu-aarch64-static") == max(programs, 1)
        assert len(re.findall(r"qemu-aarch64-static obj/bin/dragoman ", cross)) == len(re.findall(r"obj/bin/dragoman ", cross)) == programs
        assert len(re.findall(r"obj/bin/dragoman ", here)) == programs
    assert "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64-static" in cross


def test_make_has_targets_for_64_bit_arm():
    would = run("make", "-C", ROOT, "--no-print-directory", "-n", "container-arm64").splitlines()
    assert would == ["ARCH=arm64 scripts/deb", "ARCH=arm64 docker/check"]
