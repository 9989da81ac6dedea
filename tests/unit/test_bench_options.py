"""The command lines of the benchmarks' programs; step-bench on a model other than the paper's."""
import json
import os
import subprocess

import pytest

EN_DE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/en-de")
BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin")


def run(program, *words):
    return subprocess.run([os.path.join(BIN, program), *words], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("program,words", [(p, w) for p in ("dragoman-load", "dragoman-sim") for w in (["--help"], ["run", "--help"])]
                         + [(p, ["--help"]) for p in ("step-bench", "train-bench", "ops-bench")])
def test_help(program, words):
    done = run(program, *words)
    assert done.returncode == 0 and done.stdout.startswith(f"usage: {program} ") and done.stderr == ""


LOAD = ["run", "--port", "1", "--items", "x"]


@pytest.mark.parametrize("program,words,told", [
    ("dragoman-load", [], "expected a verb"), ("dragoman-load", ["go", *LOAD[1:]], '"go" is not a verb: learn, run or closed'),
    ("dragoman-load", ["run"], "--items FILE is missing"), ("dragoman-load", ["run", "--items", "x"], "--port is missing"),
    ("dragoman-load", LOAD, "run needs --phase"), ("dragoman-load", ["learn", *LOAD[1:]], "learn needs --out"),
    ("dragoman-load", [*LOAD, "--phase", "0:3"], '--phase is "0:3", must have a rate above 0'),
    ("dragoman-load", [*LOAD, "--phase", "3"], '--phase is "3", must be A:B'),
    ("dragoman-load", [*LOAD, "--phase", "3:4x"], '--phase is "3:4x", must be two numbers'),
    ("dragoman-load", [*LOAD, "--phase", "3:4", "--term", "1@2"], "--term needs a process and a time"),
    ("dragoman-load", [*LOAD, "--share", "x"], '--share is "x", must be CLASS=VALUE'),
    ("dragoman-load", [*LOAD, "--idle", "20001"], "--idle is"), ("dragoman-load", [*LOAD, "--sl", "2"], "options are written in full"),
    ("dragoman-load", ["closed", *LOAD[1:], "--phase", "3:4"], "--phase belongs to run"),
    ("dragoman-load", ["learn", *LOAD[1:], "--out", "y", "--concurrency", "2"], "--concurrency belongs to closed"),
    ("dragoman-sim", ["measure", "--model", "x", "--rate", "1"], "--rate belongs to run"),
    ("dragoman-sim", ["run", "--cost", "x", "--rate", "1", "--items", "y"], "--items belongs to measure"),
    ("dragoman-sim", ["measure"], "measure needs --model"), ("dragoman-sim", ["run"], "run needs --cost"),
    ("dragoman-sim", ["run", "--cost", "x", "--rate", "1", "--load", "1"], "one of --trace, --rate and --load"),
    ("dragoman-sim", ["run", "--batching", "none"], '--batching is "none", must be continuous'),
    ("dragoman-sim", ["run", "--share", "x"], '--share is "x", must be CLASS=W'),
    ("dragoman-sim", ["run", "--cost", "x", "--rate", "1", "--rows", "2.5"], '--rows is "2.5"'),
    ("step-bench", ["--type", "int7"], '--type is "int7"'), ("step-bench", ["--reps", "65"], "--reps is"), ("step-bench", ["x"], 'unexpected "x"'),
    ("train-bench", ["--model", "huge"], '--model is "huge"'), ("train-bench", ["--pairs", "0"], "--pairs is"),
    ("ops-bench", ["--isa", "z80"], '--isa is "z80", which this machine cannot run'), ("ops-bench", ["--shapes", "huge"], '--shapes is "huge"'),
    ("ops-bench", ["--threads", "1,65"], '--threads is "1,65", must be numbers from 1 to 64'), ("ops-bench", ["--rows", "1,x"], "--rows is")])
def test_what_is_wrong_is_said(program, words, told):
    done = run(program, *words)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith(f"{program}: ") and told in done.stderr


def test_the_simulator_replays_a_made_up_device():
    run_it = ["run", "--cost", "bench/sim/flat-256.json", "--requests", "500", "--seed", "3"]
    one, two = (run("dragoman-sim", *run_it, "--load", load).stdout for load in ("0.2", "0.8"))
    assert one.startswith("continuous") and "short" in one and one != two
    assert run("dragoman-sim", *run_it, "--load", "0.2").stdout == one
    assert "no such class or no weight" in run("dragoman-sim", *run_it, "--load", "0.2", "--share", "short=").stderr


def test_the_simulator_measures_the_items_of_the_load_generator(tmp_path):
    """An empty line is no item, as for dragoman-load; the run of what was measured counts its sentences by class."""
    items, cost = tmp_path / "items.jsonl", tmp_path / "cost.json"
    texts = [("short", "Two dogs play."), ("long", "A man rides a bicycle. A woman looks at him.")]
    items.write_text("\n\n".join(json.dumps({"class": kind, "body": {"text": text, "source": "en", "target": "de"}}) for kind, text in texts) + "\n")
    done = run("dragoman-sim", "measure", "--model", EN_DE, "--items", str(items), "--rows", "4", "--sentences", "1", "--repeats", "1",
               "--out", str(cost))
    assert done.returncode == 0, done.stderr
    measured = json.loads(cost.read_text())
    assert [(x["class"], len(x["sentences"])) for x in measured["items"]] == [("short", 1), ("long", 2)]
    assert measured["engine"]["seconds"] > 0
    done = run("dragoman-sim", "run", "--cost", str(cost), "--load", "0.5", "--requests", "100", "--json")
    assert done.returncode == 0 and {"short", "long"} == set(json.loads(done.stdout)[0]["classes"])


def test_a_step_of_a_student(tmp_path):
    """step-bench times an SSRU decoder's ops, too."""
    bundle = str(tmp_path / "b")
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "convert", "bergamot")
    subprocess.run([os.path.join(BIN, "dragoman"), "convert", "bergamot", data, "--out", bundle], check=True, capture_output=True)
    done = subprocess.run([os.path.join(BIN, "step-bench"), "--model", bundle, "--sentences", "2", "--beam", "2", "--reps", "1", "--ops"],
                          capture_output=True, text=True, timeout=60, check=True)
    assert "ssru" in {o["op"] for o in json.loads(done.stdout)["ops"]}
