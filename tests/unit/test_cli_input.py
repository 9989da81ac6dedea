"""Input of `dragoman translate`: files, standard input, a terminal; the default model; all digits of scores."""
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import time

import pytest

DRAGOMAN = os.path.abspath(os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin", "dragoman"))
BUNDLE = os.path.abspath("tests/data/en-de")
DOGS, GIRL = "Two dogs play in the snow.", "A girl is smiling."


def run(verb, *options, stdin="", status=0, **more):
    done = subprocess.run([DRAGOMAN, verb, *options], input=stdin, capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture(scope="module")
def answers():
    one, two = run("translate", "--model", BUNDLE, stdin=f"{DOGS}\n{GIRL}\n").stdout.splitlines()
    assert one != two and one and two
    return one, two


def test_files_come_one_after_the_other(answers, tmp_path):
    """Also if a file's last line has no newline, with "-" for standard input, and with a line longer than a block."""
    long = "12 " * 40000 + "13"  # without letters: copied unchanged
    (tmp_path / "one").write_text(DOGS)
    (tmp_path / "two").write_text(f"{GIRL}\n\n")
    (tmp_path / "long").write_text(long + "\n" + DOGS + "\n")
    out = run("translate", "--model", BUNDLE, "one", "-", "two", stdin=DOGS + "\n", cwd=tmp_path).stdout
    assert out == f"{answers[0]}\n{answers[0]}\n{answers[1]}\n\n"
    out = run("translate", "--model", BUNDLE, "long", cwd=tmp_path).stdout
    assert out == f"{long}\n{answers[0]}\n"
    wrong = run("translate", "--model", BUNDLE, "one", "nowhere", status=1, cwd=tmp_path)
    assert wrong.stdout == "" and wrong.stderr == "dragoman translate: nowhere: No such file or directory\n"


def test_byte_order_marks_begin_files_and_are_no_text(answers, tmp_path):
    """As Windows' editors write UTF-8: "\ufeffTwo" used to be an unknown word, which was copied."""
    (tmp_path / "one").write_text(DOGS + "\n" + GIRL, encoding="utf-8-sig")
    (tmp_path / "mark").write_text("", encoding="utf-8-sig")
    (tmp_path / "two").write_text(GIRL, encoding="utf-8-sig")
    out = run("translate", "--model", BUNDLE, "one", "mark", "two", "-", cwd=tmp_path, stdin="\ufeff" + DOGS).stdout
    assert out == f"{answers[0]}\n{answers[1]}\n{answers[1]}\n{answers[0]}\n"


def test_line_ends_of_windows_are_no_text(answers):
    """JSON and n-best lists used to have carriage returns at the ends of their texts; plain answers keep the line ends."""
    def translate(*options):
        done = subprocess.run([DRAGOMAN, "translate", "--model", BUNDLE, *options], input=f"{DOGS}\r\n\r\n{GIRL}\r\n".encode(),
                              capture_output=True, timeout=120, check=True)
        return done.stdout.decode()
    assert translate() == f"{answers[0]}\r\n\r\n{answers[1]}\r\n"
    both = [json.loads(line) for line in translate("--json", "--n-best", "2").splitlines()]
    assert [b["text"] for b in both] == [answers[0], "", answers[1]]
    texts = [t["text"] for b in both for t in b.get("n_best", [b])]
    listed = translate("--n-best", "2")
    assert "\r" not in "".join(texts) + listed and [line.split(" ||| ")[1] for line in listed.splitlines()] == texts


def test_each_file_is_a_document(answers, tmp_path):
    (tmp_path / "a.md").write_text(f"# {DOGS}\n")
    (tmp_path / "b.md").write_text(f"- {GIRL}\n")
    out = run("translate", "--model", BUNDLE, "--format", "markdown", "a.md", "b.md", cwd=tmp_path).stdout
    assert out == f"# {answers[0]}\n- {answers[1]}\n"


def read_line(fd, seconds):
    text, end = b"", time.monotonic() + seconds
    while not text.endswith(b"\n") and time.monotonic() < end:
        if select.select([fd], [], [], 0.1)[0]:
            text += os.read(fd, 4096)
    return text.decode()


def test_a_typed_line_is_answered_before_the_next(answers):
    typed, terminal = pty.openpty()
    with subprocess.Popen([DRAGOMAN, "translate", "--model", BUNDLE], stdin=terminal, stdout=subprocess.PIPE) as process:
        os.close(terminal)
        for line, answer in ((DOGS, answers[0]), (GIRL, answers[1]), (DOGS, answers[0])):
            os.write(typed, line.encode() + b"\n")
            assert read_line(process.stdout.fileno(), 60) == answer + "\n"
        os.write(typed, b"\x04")
        assert process.wait(60) == 0 and process.stdout.read() == b""
    os.close(typed)


def test_a_line_from_a_pipe_is_answered_before_the_next(answers):
    """An incomplete line is not answered."""
    with subprocess.Popen([DRAGOMAN, "translate", "--model", BUNDLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        os.write(process.stdin.fileno(), f"{DOGS}\nA girl is".encode())
        assert read_line(process.stdout.fileno(), 60) == answers[0] + "\n"
        assert not select.select([process.stdout.fileno()], [], [], 0.5)[0]
        os.write(process.stdin.fileno(), b" smiling.\n")
        assert read_line(process.stdout.fileno(), 60) == answers[1] + "\n"
        process.stdin.close()
        assert process.wait(60) == 0


def test_progress_is_shown_on_a_terminal(tmp_path):
    (tmp_path / "text").write_text(f"{DOGS}\n" * 20)
    seen, terminal = pty.openpty()
    with open(tmp_path / "out", "w") as out:
        done = subprocess.run([DRAGOMAN, "translate", "--model", BUNDLE, str(tmp_path / "text")], stdout=out, stderr=terminal, timeout=120)
    os.close(terminal)
    text = b""
    while select.select([seen], [], [], 0.1)[0]:
        try:
            text += os.read(seen, 65536)
        except OSError:  # the end of a terminal
            break
    os.close(seen)
    assert done.returncode == 0 and len((tmp_path / "out").read_text().splitlines()) == 20
    assert re.search(r"\r20 lines \(100 %\), [0-9.]+ lines/s ", text.decode())
    quiet = run("translate", "--model", BUNDLE, str(tmp_path / "text"))
    assert quiet.stderr == ""


@pytest.fixture
def installed(tmp_path):
    """Two bundles in a folder. The manifest of the second one says that it translates from French."""
    for name in ("first", "second"):
        shutil.copytree(BUNDLE, tmp_path / "models" / name)
    path = tmp_path / "models" / "second" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["pairs"] = [["fr", "de"]]
    path.write_text(json.dumps(manifest))
    run("seal", str(path.parent))
    return tmp_path


def environment(installed):
    return dict(os.environ, DRAGOMAN_MODELS=str(installed / "models"))


def test_every_verb_finds_a_model_by_its_name(installed):
    """attention used to take a path alone, where translate takes a name or a pair of languages, too."""
    env = environment(installed)
    for verb in (["attention", "--json", "--source", DOGS], ["translate", "--json", str(installed / "text")]):
        (installed / "text").write_text(DOGS + "\n")
        want = run(*verb, "--model", str(installed / "models" / "second"), env=env).stdout
        assert run(*verb, "--model", "second", env=env).stdout == run(*verb, "--model", "fr-de", env=env).stdout == want
    wrong = run("attention", "--json", "--source", DOGS, "--model", "fr-xx", env=env, status=1).stderr
    assert '"fr-xx" is not a folder' in wrong


def test_an_installed_model_is_found(answers, installed):
    env = environment(installed)
    out = run("translate", "--source-lang", "EN", stdin=DOGS + "\n", env=env).stdout
    assert out == answers[0] + "\n"
    several = run("translate", "--target-lang", "de", stdin=DOGS, env=env, status=2).stderr
    assert "several models" in several and "(first, second)" in several and "--model" in several
    none = run("translate", "--target-lang", "fr", stdin=DOGS, env=env, status=2).stderr
    assert "no model to fr in" in none
    shutil.rmtree(installed / "models" / "second")
    assert run("translate", stdin=DOGS + "\n", env=env).stdout == out
    env["DRAGOMAN_MODELS"] += "/first"
    assert run("translate", stdin=DOGS + "\n", env=env).stdout == out


def test_languages_are_found_as_the_server_finds_them(answers, installed):
    """The command line and the library compared codes letter by letter: --target-lang de-DE found no model."""
    env = environment(installed)
    for source, target in (("en-GB", "de-DE"), ("eng", "ger"), ("en_US", "de_AT"), ("EN", "DE")):
        assert run("translate", "--source-lang", source, "--target-lang", target, stdin=DOGS + "\n", env=env).stdout == answers[0] + "\n"
        assert run("translate", "--model", "first", "--source-lang", source, "--target-lang", target, stdin=DOGS + "\n", env=env).stdout == answers[0] + "\n"
    assert "no model from nl" in run("translate", "--source-lang", "nl", stdin=DOGS, env=env, status=2).stderr
    for name in ("en-de-fr", "en-de-AT"):  # names of nothing, though en-de is near
        assert f'"{name}" is not a folder' in run("translate", "--model", name, stdin=DOGS, env=env, status=1).stderr


def test_installed_bundles_are_described_by_their_names(installed):
    """inspect and quantize took folders alone, where `list` prints names."""
    env = environment(installed)
    models = installed / "models"
    assert run("inspect", "second", env=env).stdout == run("inspect", str(models / "second"), env=env).stdout
    run("quantize", "second", "--out", str(installed / "int8"), env=env)
    assert run("inspect", "int8", env=env, cwd=installed).stdout.startswith("name ")
    wrong = run("inspect", "third", env=env, status=1).stderr
    assert f'"third" is not a folder, and {models} has no model of that name' in wrong


def test_a_folder_that_is_no_bundle_hides_no_model(answers, installed):
    """Data of a language pair is often in a folder of its name: no model of that name, or for these languages, was found beside it."""
    env, models = environment(installed), installed / "models"
    for name in ("first", "en-de", "data"):
        (installed / name).mkdir()
    for name in ("first", "en-de"):
        assert run("translate", "--model", name, stdin=DOGS + "\n", env=env, cwd=installed).stdout == answers[0] + "\n"
    assert run("inspect", "first", env=env, cwd=installed).stdout == run("inspect", str(models / "first")).stdout
    for verb in (["translate", "--model", "data"], ["translate", "--model", "./first"], ["inspect", "en-de"]):
        assert "is not a bundle: it has no manifest.json" in run(*verb, stdin=DOGS, env=env, cwd=installed, status=1).stderr
    shutil.copytree(models / "second", installed / "first", dirs_exist_ok=True)  # a bundle of that name comes first
    assert "fr-de" in run("inspect", "first", env=env, cwd=installed).stdout


def test_a_source_tree_s_models_are_found(answers, installed):
    env = {k: v for k, v in os.environ.items() if k != "DRAGOMAN_MODELS"}
    shutil.rmtree(installed / "models" / "second")
    os.makedirs(installed / "weights")
    shutil.move(installed / "models", installed / "weights" / "bundles")
    assert run("translate", stdin=DOGS + "\n", env=env, cwd=installed).stdout == answers[0] + "\n"


def test_score_skips_a_byte_order_mark(tmp_path):
    """A mark before the first token made that token unknown; `translate --tokens` always skipped it."""
    def score(mark):
        files = []
        for option, line in (("--source", "▁Two ▁dogs ▁play .\n"), ("--target", "▁Zwei ▁Hunde ▁spielen .\n")):
            (tmp_path / option).write_text(mark + line, encoding="utf-8")
            files += [option, str(tmp_path / option)]
        return run("score", "--tokens", "--model", BUNDLE, *files).stdout
    assert score("\ufeff") == score("")


def test_scores_have_every_digit(answers, tmp_path):
    """A token's score is a float, and its digits restore that float exactly; the total is their sum."""
    (tmp_path / "s").write_text(DOGS + "\n")
    (tmp_path / "t").write_text(answers[0] + "\n")
    files = ["--source", str(tmp_path / "s"), "--target", str(tmp_path / "t")]
    whole = json.loads(run("score", "--model", BUNDLE, *files, "--json").stdout)
    total, tokens = run("score", "--model", BUNDLE, *files).stdout.rstrip("\n").split("\t")
    values = [t["logprob"] for t in whole["tokens"]]
    assert float(total) == whole["score"] == sum(values)
    assert all(struct.unpack("f", struct.pack("f", v))[0] == v for v in values)
    plain = [struct.unpack("f", struct.pack("f", float(t.rpartition(":")[2])))[0] for t in tokens.split(" ")]
    assert plain == values and any(v != round(v, 6) for v in values)
    answer = json.loads(run("translate", "--model", BUNDLE, "--json", "--length-penalty", "0", stdin=DOGS + "\n").stdout)
    assert answer["text"] == answers[0] and answer["score"] == pytest.approx(whole["score"], rel=1e-12)
