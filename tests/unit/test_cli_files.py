"""The command line's files: a failed read or write is an error, and never silently loses lines."""
import os
import subprocess

import pytest

DRAGOMAN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin", "dragoman")
BUNDLE = "tests/data/en-de"
CHUNK = 1024  # lines that translate and score read before they write
PATIENCE = 60


def fails(*args, **more):
    """The error message of a run that must fail."""
    done = subprocess.run([DRAGOMAN, *args], stderr=subprocess.PIPE, text=True, timeout=PATIENCE, **more)
    assert done.returncode == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize("args", [
    ["inspect", BUNDLE, "--verify"], ["translate", "--model", BUNDLE], ["translate", "--model", BUNDLE, "--json"],
    ["translate", "--model", BUNDLE, "--format", "markdown"], ["keys", "list", "--keys", "KEYS"], ["translate", "--help"],
    ["--help"], ["--version"]])
def test_a_full_disk_is_told(args, tmp_path):
    keys = str(tmp_path / "keys.db")
    subprocess.run([DRAGOMAN, "keys", "add", "--name", "x", "--keys", keys], check=True, capture_output=True)
    args = [keys if a == "KEYS" else a for a in args]
    with open("/dev/full", "w") as full:
        message = fails(*args, input="1\n", stdout=full)
    assert message == "dragoman %s: standard output cannot be written\n" % args[0]


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["plan", "--help"], ["recipe", "small"], ["bleu", "LINES", "LINES"]])
def test_a_full_disk_is_told_by_the_trainer(args, tmp_path):
    """`dragoman-train recipe small >FILE` left an empty file, with status 0."""
    (tmp_path / "LINES").write_text("Two dogs.\n")
    with open("/dev/full", "w") as full:
        done = subprocess.run([os.path.abspath(DRAGOMAN) + "-train", *args], stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, f"dragoman-train {args[0]}: standard output cannot be written\n")


def test_a_failed_write_ends_the_run_and_is_not_forgotten(tmp_path):
    """Output goes to a full pipe that nobody reads: the first lines cannot be written, so the run ends before it reads more."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        while True:
            os.write(write, b"x" * 4096)
    except BlockingIOError:
        pass
    with subprocess.Popen([DRAGOMAN, "translate", "--model", BUNDLE], stdin=subprocess.PIPE, stdout=write,
                          stderr=subprocess.PIPE) as run:
        try:
            run.stdin.write(b"1\n" * CHUNK)  # copied, not translated; standard input stays open
            run.stdin.flush()
            assert run.wait(PATIENCE) == 1
            assert b"standard output cannot be written" in run.stderr.read()
        finally:
            run.kill()
            os.close(read)
            os.close(write)


def test_score_tells_a_file_that_cannot_be_read_from_its_end(tmp_path):
    files = ["--source", str(tmp_path), "--target", str(tmp_path)]
    message = fails("score", "--model", BUNDLE, *files)
    assert message == "dragoman score: %s cannot be read: Is a directory\n" % tmp_path


def test_bench_and_quantize_tell_a_file_that_cannot_be_read(tmp_path):
    for mode in ("latency", "throughput"):
        message = fails("bench", "--model", BUNDLE, "--sentences", str(tmp_path), "--mode", mode)
        assert "%s cannot be read: Is a directory" % tmp_path in message
    toy = str(tmp_path / "toy")
    marian = "tests/data/convert/marian/"
    subprocess.run([DRAGOMAN, "convert", "marian", "--model", marian + "shared.npz", "--vocab", marian + "five.yml",
                    "--source-lang", "en", "--target-lang", "de", "--out", toy], check=True, capture_output=True)
    message = fails("quantize", toy, "--out", str(tmp_path / "int8"), "--sentences", str(tmp_path))
    assert "%s cannot be read: Is a directory" % tmp_path in message
