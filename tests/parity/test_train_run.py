"""Whole runs of `dragoman-train` on a made-up language: what a run makes, its precision, devices, batches, plan and limits, and
refused command lines."""
import json
import os
import re
import resource
import subprocess

import pytest

from train_runs import GUIDED, SHADOWED, TRAIN, UPDATES, checkpoint, command, header, in_group, log, run, same_end
from train_runs import data, whole  # noqa: F401  fixtures


def has_bf16():
    """True if the processor has AVX512_BF16 and DRAGOMAN_ISA does not hide it."""
    flags = re.search(r"^flags\s*:(.*)$", open("/proc/cpuinfo", encoding="utf-8").read(), re.M)
    return bool(flags) and "avx512_bf16" in flags[1].split() and not os.environ.get("DRAGOMAN_ISA")


def test_bf16_products(data, whole, tmp_path):
    """Factors have eight bits: losses stay within 2 %, and a resumed run ends like one that was never stopped."""
    once, half = tmp_path / "once", tmp_path / "half"
    if not has_bf16():
        said = run(command(data, once, "--precision", "bf16"), expect=1)
        assert "precision bf16: training on a CPU multiplies in fp32, or in bf16 where" in said
        assert not (once / "data").exists(), "said before the data is prepared"
        return
    run(command(data, once, "--precision", "bf16"))
    fp32, bf16 = ([x["loss"] for x in log(out, "train")] for out in (whole, once))
    assert fp32 != bf16
    assert bf16 == pytest.approx(fp32, rel=0.02)
    # `resume` gives no precision: the recipe's `auto` might choose another, but the run keeps the one that it started with.
    auto = ["--set", "training.precision=auto"]
    run(command(data, half, *auto, "--precision", "bf16", "--set", f"training.updates={UPDATES // 2}"))
    run(command(data, half, "--set", f"training.updates={UPDATES}", verb="resume"))
    same_end(half, once)
    assert checkpoint(half)["backend"] in ("cpu/avx512bf16/bf16", "cpu/amx/bf16")


@pytest.mark.parametrize("recipe", ["auto", "bf16"])
@pytest.mark.parametrize("variable", [False, True])
def test_precision_is_kept(data, whole, tmp_path, recipe, variable):
    """A run that started in fp32 by an option or a variable, or by an older program without the field, resumes in fp32 without them,
    whatever its recipe names."""
    half = tmp_path / "half"
    given = {"env": os.environ | {"DRAGOMAN_PRECISION": "fp32"}} if variable else {}
    run(command(data, half, "--set", f"training.precision={recipe}", *([] if variable else ["--precision", "fp32"]),
                "--set", f"training.updates={UPDATES // 2}"), **given)
    for path in (half / "checkpoints").glob("*.ckpt"):
        assert "bf16/bf16" not in header(path)["backend"]
    said = run(command(data, half, "--set", f"training.updates={UPDATES}", verb="resume"))
    assert "fp32 products by OpenBLAS, kernels " in said and "OPENBLAS_" not in said
    same_end(half, whole)


def test_precision_set_later(data, tmp_path):
    """A precision that `resume` sets applies from there on, also if it is the recipe's own and an option overrode that."""
    half = tmp_path / "half"
    run(command(data, half, "--set", "training.precision=bf16", "--precision", "fp32", "--set", f"training.updates={UPDATES // 2}"))
    again = command(data, half, "--set", f"training.updates={UPDATES}", "--set", "training.precision=bf16", verb="resume")
    said = run(again, expect=0 if has_bf16() else 1)
    assert ("/bf16" in checkpoint(half)["backend"]) if has_bf16() else "precision bf16" in said


def test_auto_takes_what_is_faster(data, tmp_path):
    """bf16 only if the processor has it (tests/ops/test_gemm_train measures both); fp32 with kernels that use its vector unit, even if
    OpenBLAS does not know the processor and would choose others."""
    run(command(data, tmp_path / "run", "--no-scores", "--set", "training.precision=auto", "--set", "training.updates=1"))
    assert has_bf16() or "/bf16" not in checkpoint(tmp_path / "run", step=1)["backend"]
    loud = [x for x in command(data, tmp_path / "fp32", "--no-scores", "--precision", "fp32", "--set", "training.updates=1") if x != "--quiet"]
    said = run(loud)
    kernels = re.search("fp32 products by OpenBLAS, kernels (.*)", said)[1]
    if "avx2" in open("/proc/cpuinfo", encoding="utf-8").read():
        assert kernels not in ("Prescott", "Core2", "Nehalem", "Generic", "Atom"), said


def test_overruled_library(data, tmp_path):
    """Warns of an environment variable that tunes OpenBLAS, even in a quiet run."""
    said = run(command(data, tmp_path / "run", "--no-scores", "--set", "training.updates=1"),
               env=os.environ | {"OPENBLAS_L2_SIZE": "524288"})
    assert "warning: OPENBLAS_L2_SIZE is set" in said and "kernels " not in said.split("warning")[0]


def test_precision_of_no_cpu(data, tmp_path):
    said = run(command(data, tmp_path / "run", "--precision", "fp16"), expect=1)
    assert "precision fp16: training on a CPU multiplies in fp32, or in bf16 where" in said


@pytest.mark.parametrize("more, words", [
    (["--device", "gpu"], 'device "gpu": expected'), (["--device", "cuda:0,cuda:1"], "2 devices are named"),
    (["--precision", "int4"], 'precision "int4": expected')])
def test_a_device_that_is_none(data, tmp_path, more, words):
    """A usage error like any other, before anything is written."""
    for verb in ("run", "resume"):
        assert words in run(command(data, tmp_path / "run", *more, verb=verb), expect=2)
    assert not (tmp_path / "run").exists()


def test_it_learns(whole):
    losses = [x["loss"] for x in log(whole, "train")]
    assert len(losses) == UPDATES // 4
    assert losses[-1] < losses[0] - 0.3


def test_same_again(data, whole, tmp_path):
    out = tmp_path / "run"
    run(command(data, out))
    same_end(out, whole)


def test_other_seed_is_another_run(data, whole, tmp_path):
    out = tmp_path / "run"
    run(command(data, out, "--set", "training.seed=2"))
    assert checkpoint(out)["xxh3"]["params"] != checkpoint(whole)["xxh3"]["params"]


def test_batches_are_those_of_the_run(data, whole):
    text = run([TRAIN, "batches", str(data / "recipe.json"), "--data", str(data), "--prepared", str(whole / "data"),
                "--lines", str(UPDATES)])
    batches = [json.loads(x) for x in text.splitlines()]
    assert len(batches) == UPDATES
    for side in "source", "target":
        assert all(sum(map(len, b[side])) <= 300 for b in batches)
        counts = [sum(map(len, b[side])) for b in batches]
        logged = [x[f"{side}_tokens"] for x in log(whole, "train")]
        assert [sum(counts[i:i + 4]) for i in range(0, UPDATES, 4)] == logged


def test_guided_alignment(data, whole, tmp_path):
    """A head learns to attend where the lexicon says. A resumed run gives the same bits. The bundle names the head."""
    straight, halted = tmp_path / "straight", tmp_path / "halted"
    run(command(data, straight, *GUIDED))
    losses = [x["alignment_loss"] for x in log(straight, "train")]
    assert len(losses) == UPDATES // 4 and losses[-1] < losses[0] - 0.02, losses
    assert all("alignment_loss" not in x for x in log(whole, "train"))
    run(command(data, halted, *GUIDED, "--set", "training.updates=8"))
    run(command(data, halted, "--set", f"training.updates={UPDATES}", verb="resume"))
    same_end(halted, straight)
    manifest = json.loads((straight / "bundle" / "manifest.json").read_text())
    assert (manifest["alignment_layer"], manifest["alignment_head"]) == (1, 2)
    plain = json.loads((whole / "bundle" / "manifest.json").read_text())
    assert "alignment_layer" not in plain and "alignment_head" not in plain
    said = run(command(data, halted, "--set", "guided_alignment.weight=0.1", verb="resume"), expect=2)
    assert "guided_alignment.weight: 0.1, was 0.5" in said


def test_plan(data, tmp_path):
    text = run([TRAIN, "plan", str(data / "recipe.json"), "--data", str(data), "--out", str(tmp_path / "plan"), "--quiet"])
    assert "passes of 4096 source + target tokens" in text and "together" in text
    text = run(command(data, tmp_path / "big", "--set", "model.d_model=65536", "--set", "model.d_ff=262144",
                       "--set", "model.encoder_layers=16"), expect=1)
    assert "training needs up to" in text and "training.micro_tokens" in text


def test_threads_are_the_cores_it_may_use(data, tmp_path):
    text = run([TRAIN, "plan", str(data / "recipe.json"), "--data", str(data), "--out", str(tmp_path), "--quiet",
                "--set", "training.threads=0"], preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
    assert " 1 threads" in text and "the machine has" in text


@pytest.mark.skipif(SHADOWED, reason="AddressSanitizer cannot start under a ulimit")
def test_plan_knows_ulimits(data, tmp_path):
    """malloc hits ulimit -v first: the plan shows it, and refuses runs that need more."""
    plan = [TRAIN, "plan", str(data / "recipe.json"), "--data", str(data), "--out", str(tmp_path), "--quiet"]

    def two_gib():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
    assert re.search(r"ulimit allows +2048\.0 MiB", run(plan, preexec_fn=two_gib))
    text = run(command(data, tmp_path / "big", "--set", "model.d_model=4096", "--set", "model.d_ff=16384"), expect=1, preexec_fn=two_gib)
    assert "training needs up to" in text and "ulimit allows" in text


def test_limits_of_the_control_group(data, tmp_path):
    groups = tmp_path / "groups"
    groups.mkdir()
    plan = [os.path.abspath(TRAIN), "plan", str(data / "recipe.json"), "--data", str(data), "--out", str(tmp_path / "plan"),
            "--quiet", "--set", "training.threads=0"]
    text = run(in_group(groups, plan, cpu_max="100000 100000", memory_max=str(2 << 30)))
    assert " 1 threads" in text and re.search(r"the control group allows +2048\.0 MiB", text)
    text = run(in_group(groups, plan, cpu_max="max 100000", memory_max=str(1 << 20)), expect=1)
    assert "training needs up to" in text and "the control group allows 0.0 GiB" in text and "together" in text


def test_plot_and_scores(data, whole, tmp_path):
    run([TRAIN, "plot", str(whole / "log.jsonl"), "--out", str(tmp_path / "curves.svg")])
    assert (tmp_path / "curves.svg").read_text().startswith("<svg")
    text = run([TRAIN, "bleu", str(data / "dev.xx"), str(data / "dev.xx")])
    assert "= 100.00 100.0/100.0/100.0/100.0" in text and "chrF2" in text


@pytest.mark.parametrize("args, words", [
    (["run"], "expected RECIPE"),
    (["run", "small"], "--out DIR is missing"),
    (["run", "nothing.json", "--out", "x"], "nothing.json"),
    (["resume", "x", "--out", "y"], "there is no option --out"),
    (["average", "x", "--last", "many"], "must be a whole number"),
    (["average", "x", "--last", "1", "--best", "1"], "not both"),
    (["evaluate", "a", "b", "c", "--alpha", "-1"], "must be a number from 0 to 10"),
    (["frobnicate"], "there is no verb"),
    (["run", "small", "--out", "x", "--frob"], "there is no option --frob"),
])
def test_wrong_command_lines(args, words, tmp_path):
    done = subprocess.run([os.path.abspath(TRAIN)] + args, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode in (1, 2) and words in done.stderr, done.stderr
