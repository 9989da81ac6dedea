"""Whole runs of `dragoman-train` on a made-up language: what is stopped, killed or out of disk goes on bit for bit, what
must not be mixed is refused."""
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import time

import pytest

BUILD = os.environ.get("DRAGOMAN_BUILD", "build/release")
TRAIN = os.path.join(BUILD, "bin", "dragoman-train")
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
UPDATES = 24

# The caller's choice of OpenBLAS's kernels is not what these tests are about; one of them sets such a variable itself.
for variable in [name for name in os.environ if name.startswith("OPENBLAS_")]:
    del os.environ[variable]


def write_corpus(folder):
    """Target: the source's words backwards, each with another ending."""
    rng = random.Random(7)

    def pairs(n):
        for _ in range(n):
            words = [rng.choice(WORDS) for _ in range(rng.randint(1, 9))]
            yield " ".join(words), " ".join(w + "o" for w in reversed(words))
    for name, n in [("train", 600), ("dev", 12)]:
        lines = list(pairs(n))
        for side, i in [("en", 0), ("xx", 1)]:
            with open(folder / f"{name}.{side}", "w", encoding="utf-8") as f:
                f.writelines(p[i] + "\n" for p in lines)


def with_longer_dev(data, corpus, times):
    """The corpus once more, with its dev set so many times."""
    shutil.copytree(data, corpus)
    for side in ("en", "xx"):
        file = corpus / f"dev.{side}"
        file.write_text(file.read_text(encoding="utf-8") * times, encoding="utf-8")


RECIPE = {
    "name": "backwards",
    "data": {"pairs": [{"source_lang": "en", "target_lang": "xx",
                        "train": [{"source": "train.en", "target": "train.xx"}],
                        "dev": [{"source": "dev.en", "target": "dev.xx"}]}]},
    "cleaning": {"language_check": False, "deduplicate": False, "remove_overlap": False},
    "vocabulary": {"size": 60, "character_coverage": 1, "byte_fallback": False},
    "model": {"encoder_layers": 1, "decoder_layers": 1, "d_model": 16, "d_ff": 32, "heads": 2, "attention_bias": True},
    "training": {"updates": UPDATES, "batch_tokens": 300, "warmup": 10, "dropout": 0.2, "attention_dropout": 0.1,
                 "ema": 0.9, "clip": 1, "checkpoint_updates": 4, "log_updates": 4, "threads": 2, "keep_last": 2,
                 "average_last": 2, "precision": "fp32"},
    "validation": {"every": 100},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder)
    with open(folder / "recipe.json", "w", encoding="utf-8") as f:
        json.dump(RECIPE, f)
    return folder


def command(data, out, *more, verb="run"):
    if verb == "run":
        return [TRAIN, "run", str(data / "recipe.json"), "--data", str(data), "--out", str(out), "--quiet", *more]
    return [TRAIN, verb, str(out), *more]


def run(args, expect=0, **kw):
    done = subprocess.run(args, capture_output=True, text=True, timeout=600, **kw)
    assert done.returncode == expect, f"{' '.join(args)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def header(path):
    with open(path, "rb") as f:
        head = f.read(64)
        assert head[:8] == b"DGCKPT01"
        return json.loads(f.read(int.from_bytes(head[8:16], "little")))


def checkpoint(out, step=UPDATES):
    return header(out / "checkpoints" / f"{step:08d}.ckpt")


def tensors(path):
    """Name -> bytes of every tensor of a weights file."""
    with open(path, "rb") as f:
        content = f.read()
    (count,) = struct.unpack_from("<I", content, 40)
    (forms,) = struct.unpack_from("<I", content, 44)
    names, found = 64 + 32 * count + 64 * forms, {}
    for i in range(count):
        name, length, _, _, form, _ = struct.unpack_from("<IIQQII", content, 64 + 32 * i)
        begin, size = struct.unpack_from("<QQ", content, 64 + 32 * count + 64 * form + 8)
        found[content[names + name:names + name + length].decode()] = content[begin:begin + size]
    return found


def log(out, kind):
    with open(out / "log.jsonl", encoding="utf-8") as f:
        return [x for x in map(json.loads, f) if x["kind"] == kind]


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """A run that nothing disturbed."""
    out = tmp_path_factory.mktemp("whole") / "run"
    run(command(data, out))
    return out


def same_end(out, whole):
    a, b = checkpoint(out), checkpoint(whole)
    assert a["xxh3"] == b["xxh3"], "parameters, moments and averages, by their checksums"
    assert [a[k] for k in ("epoch", "cursor", "batch", "epoch_tokens")] == \
        [b[k] for k in ("epoch", "cursor", "batch", "epoch_tokens")]


def wait_for(out, step, process):
    """Until a checkpoint of that step is named by the marker, or the process has ended."""
    index = out / "checkpoints" / "index.json"
    end = time.time() + 300
    while process.poll() is None and time.time() < end:
        if index.exists() and any(c["step"] >= step for c in json.loads(index.read_text())["checkpoints"]):
            return
        time.sleep(0.002)


def killed_while_validating(data, out, *more):
    """A run whose last validation, the second without a better score, is missing."""
    run(command(data, out, "--set", "training.lr_scale=0", "--set", "training.stop_metric=loss", "--set",
                "validation.every=4", "--set", "training.updates=12", *more))
    path = out / "checkpoints" / "index.json"
    index = json.loads(path.read_text())
    assert index["bad"] == 2 and index["validated"] == 12
    index.update(bad=1, validated=8)
    index["checkpoints"][-1]["score"] = None
    path.write_text(json.dumps(index))


def has_bf16():
    """AVX512_BF16, and that nothing hides it."""
    flags = re.search(r"^flags\s*:(.*)$", open("/proc/cpuinfo", encoding="utf-8").read(), re.M)
    return bool(flags) and "avx512_bf16" in flags[1].split() and not os.environ.get("DRAGOMAN_ISA")


def test_bf16_products(data, whole, tmp_path):
    """Eight bits of each factor: losses within 2 %, and a run that goes on ends as one that was never stopped."""
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
    # Nothing is said of the precision: the recipe's `auto` takes bf16, and the run that goes on keeps it.
    auto = ["--set", "training.precision=auto"]
    run(command(data, half, *auto, "--set", f"training.updates={UPDATES // 2}"))
    run(command(data, half, "--set", f"training.updates={UPDATES}", verb="resume"))
    same_end(half, once)
    assert checkpoint(half)["backend"] == "cpu/avx512bf16/bf16"


def test_precision_is_kept(data, whole, tmp_path):
    """A run that an option began in fp32, as those of an older program without the field, goes on in fp32 without it."""
    half = tmp_path / "half"
    run(command(data, half, "--set", "training.precision=auto", "--precision", "fp32", "--set", f"training.updates={UPDATES // 2}"))
    for path in (half / "checkpoints").glob("*.ckpt"):
        assert "bf16/bf16" not in header(path)["backend"]
    said = run(command(data, half, "--set", f"training.updates={UPDATES}", verb="resume"))
    assert "fp32 products by OpenBLAS, kernels " in said and "OPENBLAS_" not in said
    same_end(half, whole)


def test_overruled_library(data, tmp_path):
    """An environment variable that chooses OpenBLAS's kernels is named, in a quiet run, too."""
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
    """Wrong usage as any other, before anything is made."""
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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_saves_and_resumes(data, whole, tmp_path, number):
    out = tmp_path / "run"
    process = subprocess.Popen(command(data, out), stderr=subprocess.PIPE, text=True)
    wait_for(out, 4, process)
    process.send_signal(number)
    stderr = process.communicate(timeout=300)[1]
    assert process.returncode == 0, stderr
    if not (out / "bundle" / "manifest.json").exists():
        assert "go on with: dragoman-train resume" in stderr
        run(command(data, out, "--quiet", verb="resume"))
    same_end(out, whole)
    assert [x["update"] for x in log(out, "train")] == [x["update"] for x in log(whole, "train")]


def stopped(args, out, step):
    """What a run that is stopped after a checkpoint of that step says to go on with."""
    process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for(out, step, process)
    process.terminate()
    stderr = process.communicate(timeout=300)[1]
    assert process.returncode == 0, stderr
    return shlex.split(re.search("go on with: (.*)", stderr)[1])


def test_what_is_said_to_go_on_with(data, tmp_path):
    """What the folder does not keep is in it: what computes, how exactly, and what is left out at the end."""
    out = tmp_path / "it's a run"
    given = ["--device", "cpu", "--precision", "fp32", "--no-scores"]
    said = stopped(command(data, out, *given, "--set", "training.updates=30000"), out, 4)
    assert said == ["dragoman-train", "resume", str(out), *given]
    args = ["resume", str(out), "--device", "cpu", "--prepared", str(out / "data")]
    said = stopped([TRAIN, *args, "--threads", "1"], out, checkpoint_steps(out)[-1] + 1)
    assert said == ["dragoman-train", *args], "settings are kept in the folder"
    assert stopped([TRAIN, *args[:2]], out, checkpoint_steps(out)[-1] + 1) == ["dragoman-train", *args[:2]]


def test_killed_again_and_again(data, whole, tmp_path):
    """kill -9 at any moment, with a checkpoint after every update so that it often meets one half-written."""
    out, rng = tmp_path / "run", random.Random(3)
    args = command(data, out, "--set", "training.checkpoint_updates=1")
    for attempt in range(12):
        process = subprocess.Popen(args, stderr=subprocess.DEVNULL)
        have = checkpoint_steps(out)
        wait_for(out, (have[-1] if have else 0) + 1, process)
        time.sleep(rng.uniform(0, 0.05))
        process.kill()
        process.wait()
        if checkpoint_steps(out):
            args = command(data, out, "--quiet", verb="resume")
    run(args)
    same_end(out, whole)
    assert not [n for n in os.listdir(out / "checkpoints") if ".tmp" in n]


def checkpoint_steps(out):
    index = out / "checkpoints" / "index.json"
    return [c["step"] for c in json.loads(index.read_text())["checkpoints"]] if index.exists() else []


@pytest.fixture()
def begun(data, tmp_path):
    """A run with 8 of its updates done."""
    out = tmp_path / "run"
    run(command(data, out, "--set", "training.updates=8"))
    return out


def test_more_updates_are_the_same_run(data, whole, begun):
    run(command(data, begun, "--quiet", "--set", f"training.updates={UPDATES}", verb="resume"))
    same_end(begun, whole)


def test_changed_recipe_is_refused(data, begun):
    text = run(command(data, begun, "--set", "training.dropout=0.5", "--set", "model.d_ff=64", verb="resume"), expect=2)
    assert "training.dropout: 0.5, was 0.2" in text and "model.d_ff: 64, was 32" in text


def test_changed_data_is_refused(begun, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    write_corpus(own)
    with open(own / "recipe.json", "w", encoding="utf-8") as f:
        json.dump(RECIPE, f)
    out = tmp_path / "run2"
    run(command(own, out, "--set", "training.updates=4"))
    with open(own / "train.xx", "a", encoding="utf-8") as f:
        f.write("one more line\n")
    text = run(command(own, out, "--set", "training.updates=8", verb="resume"), expect=2)
    assert "data of this run has changed" in text and "train.xx" in text
    # Raw files that are gone are no objection.
    os.remove(own / "train.xx")
    run(command(own, out, "--quiet", "--set", "training.updates=8", verb="resume"))


def test_other_prepared_data_is_refused(data, begun, tmp_path):
    other = tmp_path / "other"
    run([TRAIN, "prepare", str(data / "recipe.json"), "--data", str(data), "--out", str(other), "--quiet",
         "--set", "cleaning.max_pieces=9"])
    text = run(command(data, begun, "--prepared", str(other), verb="resume"), expect=2)
    assert "this run was begun with" in text


def test_other_thread_count_is_told(data, begun):
    text = run(command(data, begun, "--threads", "1", "--set", "training.updates=12", verb="resume"))
    assert "not be bit-identical" in text
    assert checkpoint(begun, 12)["threads"] == 1


def test_folder_with_a_run_is_not_begun_anew(data, whole, begun):
    """Refused before its data is made anew, so that the run that is there goes on."""
    more = ["--set", "cleaning.max_pieces=9"]
    assert "holds a run with checkpoints" in run(command(data, begun), expect=2)
    assert "holds a run with checkpoints" in run(command(data, begun, *more), expect=2)
    plan = [TRAIN, "plan", str(data / "recipe.json"), "--data", str(data), "--out", str(begun), "--quiet", *more]
    assert "holds a run with checkpoints" in run(plan, expect=2)
    run(command(data, begun, "--quiet", "--set", f"training.updates={UPDATES}", verb="resume"))
    same_end(begun, whole)


def test_two_processes_in_one_folder(data, tmp_path):
    out = tmp_path / "run"
    process = subprocess.Popen(command(data, out, "--set", "training.updates=30000", "--set", "training.keep_last=10000"),
                               stderr=subprocess.DEVNULL)
    try:
        wait_for(out, 4, process)
        assert "another process is training" in run(command(data, out, verb="resume"), expect=1)
        average = [TRAIN, "average", str(out), "--last", "1", "--no-scores", "--quiet"]
        assert "another process is training" in run(average, expect=1)
        run([*average, "--out", str(tmp_path / "meanwhile")])
        assert (tmp_path / "meanwhile" / "manifest.json").exists() and not (out / "bundle").exists()
    finally:
        process.terminate()
        process.wait()


def limit_files(size):
    def f():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    return f


def test_full_disk(data, whole, begun):
    """No checkpoint fits any more: training goes on and says so, the end fails, the old checkpoint is whole."""
    before = checkpoint(begun, 8)
    text = run(command(data, begun, "--quiet", "--set", f"training.updates={UPDATES}", verb="resume"), expect=1,
               preexec_fn=limit_files(30000))
    assert "training goes on" in text and "File too large" in text
    assert checkpoint(begun, 8) == before
    run(command(data, begun, "--quiet", "--set", f"training.updates={UPDATES}", verb="resume"))
    same_end(begun, whole)


def test_full_disk_for_everything(data, whole, begun):
    """Neither log nor validation has room: told, and no reason to stop. At the end the checkpoint has none: an error."""
    size = (begun / "log.jsonl").stat().st_size + 20
    text = run(command(data, begun, "--quiet", "--set", f"training.updates={UPDATES}", "--set", "validation.every=12",
                       verb="resume"), expect=1, preexec_fn=limit_files(size))
    assert text.count("log.jsonl: File too large; lines will be missing") == 1
    assert "validation: " in text and text.count("training goes on") >= 3
    assert f"checkpoint of update {UPDATES}" in text and "checkpoint of update 8 " in text
    with open(begun / "log.jsonl", encoding="utf-8") as f:
        assert all(x.endswith("\n") and json.loads(x) for x in f)
    run(command(data, begun, "--quiet", "--set", f"training.updates={UPDATES}", verb="resume"))
    same_end(begun, whole)


def test_damaged_checkpoint_falls_back(data, whole, begun):
    os.truncate(begun / "checkpoints" / "00000008.ckpt", 5000)
    text = run(command(data, begun, "--set", f"training.updates={UPDATES}", verb="resume"))
    assert "going on after update 4" in text and "damaged" in text
    same_end(begun, whole)


def test_divergence_stops_and_keeps_the_last_good(data, begun):
    with open(begun / "run.json", encoding="utf-8") as f:
        assert json.load(f)["recipe"]["training"]["updates"] == 8
    out = begun.parent / "diverging"
    text = run(command(data, out, "--set", "training.lr_scale=1000000", "--set", "training.warmup=1",
                       "--set", "training.checkpoint_updates=1", "--set", "training.updates=400",
                       "--set", "training.clip=0"), expect=1)
    assert "training diverged in update" in text and "is whole" in text
    steps, failed = checkpoint_steps(out), int(re.search(r"diverged in update (\d+)", text)[1])
    assert steps and checkpoint(out, steps[-1])["step"] == steps[-1]
    assert steps[-1] < failed - 1 or len(steps) == 1, "the model that failed is not what the run would go on from"
    assert log(out, "error")


def test_bundle_half_replaced_does_not_look_whole(whole, tmp_path):
    bundle = tmp_path / "bundle"
    average = [TRAIN, "average", str(whole), "--quiet", "--out", str(bundle)]
    run([*average, "--last", "2"])
    os.remove(bundle / "joint.vocab")
    (bundle / "joint.vocab").mkdir()
    run([*average, "--last", "1"], expect=1)
    assert not (bundle / "manifest.json").exists()
    (bundle / "joint.vocab").rmdir()
    run([*average, "--last", "1"])
    training = json.loads((bundle / "manifest.json").read_text())["training"]
    assert training["checkpoints"] == [UPDATES] and training["scores"]


def test_fine_tuning(data, whole, tmp_path):
    """Another recipe's dimensions do not matter: the bundle's are kept, and its loss is where training begins."""
    out = tmp_path / "tuned"
    run(command(data, out, "--init", str(whole / "bundle"), "--set", "training.updates=4", "--set", "model.d_ff=64",
                "--set", "training.warmup=4000", "--set", "training.dropout=0", "--set", "training.attention_dropout=0"))
    assert checkpoint(out, 4)["elements"] == checkpoint(whole)["elements"]
    assert log(out, "train")[0]["loss"] < log(whole, "train")[-1]["loss"] + 0.3
    with open(out / "bundle" / "manifest.json", encoding="utf-8") as f:
        assert json.load(f)["model"]["d_ff"] == 32


def test_sources_end_in_eos(data, whole, tmp_path):
    """Training data has </s> behind every source: a model without it is refused before any is prepared."""
    text = run(command(data, tmp_path / "run", "--set", "model.source_eos=false"), expect=2)
    assert "model.source_eos is false, must be true" in text and not (tmp_path / "run").exists()
    bundle = tmp_path / "bundle"
    shutil.copytree(whole / "bundle", bundle)
    manifest = json.loads((bundle / "manifest.json").read_text())
    manifest["model"]["source_eos"] = False
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    text = run(command(data, tmp_path / "tuned", "--init", str(bundle)), expect=1)
    assert "cannot be trained further: its model.source_eos is false" in text
    assert not (tmp_path / "tuned" / "data").exists()


def texts(bundle):
    return (bundle / "manifest.json").read_text() + (bundle / "MODEL_CARD.md").read_text()


def test_a_bundle_names_no_path(data, whole, tmp_path):
    """What it began with is told by name and content, data files by their place in the data folder; nothing else of the
    machine is in it. The bundle it began with may go before the run ends."""
    begun = tmp_path / "begun"
    shutil.copytree(whole / "bundle", begun)
    manifest = json.loads((begun / "manifest.json").read_text())
    identity = f"{manifest['name']}@{manifest['version']}"
    recipe = json.loads((data / "recipe.json").read_text())
    pair = recipe["data"]["pairs"][0]
    elsewhere = tmp_path / "elsewhere.xx"
    shutil.copy(data / "train.xx", elsewhere)
    pair["train"] = [{"source": str(data / "train.en"), "target": str(elsewhere)}]
    pair["test"] = pair["dev"]
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    start = [TRAIN, "run", str(tmp_path / "recipe.json"), "--data", str(data), "--quiet", "--set", "training.updates=4"]

    tuned = tmp_path / "tuned"
    run([*start, "--out", str(tuned), "--init", str(begun)])
    taken = tmp_path / "taken"
    run([*start, "--out", str(taken), "--set", f"vocabulary.from={begun}"])
    alone = tmp_path / "alone"
    run([*start, "--out", str(alone), "--set", f"vocabulary.from={begun / 'joint.spm'}"])

    def training(out):
        return json.loads((out / "bundle" / "manifest.json").read_text())["training"]
    for out in tuned, taken, alone:
        assert str(tmp_path) not in texts(out / "bundle") and str(data) not in texts(out / "bundle")
        assert not re.search(r'"/|[ (|]/[a-z]+/', texts(out / "bundle"))
        files = training(out)["recipe"]["data"]["pairs"][0]["train"][0]
        assert (files["source"], files["target"]) == ("train.en", "elsewhere.xx")
    assert training(tuned)["begun_from"] == training(tuned)["recipe"]["init"] == identity
    assert identity in (tuned / "bundle" / "MODEL_CARD.md").read_text()
    assert training(taken)["recipe"]["vocabulary"]["from"] == identity and "begun_from" not in training(taken)
    assert re.fullmatch("joint.spm@[0-9a-f]{32}", training(alone)["recipe"]["vocabulary"]["from"])

    shutil.rmtree(begun)
    run([TRAIN, "resume", str(tuned), "--quiet", "--set", "training.updates=8"])
    assert training(tuned)["begun_from"] == identity and training(tuned)["updates"] == 8


@pytest.mark.parametrize("setting", ["vocabulary.from=model", "vocabulary.from=model/joint.spm", "init=model"])
def test_relative_paths(data, whole, tmp_path, setting):
    """A recipe's paths are relative to the data folder, which may be relative itself, here and on resume."""
    shutil.copytree(data, tmp_path / "corpus")
    shutil.copytree(whole / "bundle", tmp_path / "corpus" / "model")
    run([os.path.abspath(TRAIN), "run", "corpus/recipe.json", "--data", "corpus", "--out", "run", "--quiet", "--no-scores",
         "--set", setting, "--set", "training.updates=4"], cwd=tmp_path)
    run(command(data, tmp_path / "run", "--quiet", "--set", "training.updates=8", verb="resume"))
    spm = [f.read_bytes() for f in (tmp_path / "run" / "bundle" / "joint.spm", whole / "bundle" / "joint.spm")]
    assert spm[0] == spm[1]


def test_another_vocabulary(data, whole, tmp_path):
    """Layers stay, pieces find their embeddings: with the same pieces nothing changes, with others most is kept."""
    def first_loss(name, *more):
        out = tmp_path / name
        run(command(data, out, "--set", "training.updates=4", "--set", "training.lr_scale=0", "--set",
                    "training.dropout=0", "--set", "training.attention_dropout=0", *more))
        return log(out, "train")[0]["loss"]
    init, new = ["--init", str(whole / "bundle")], ["--set", "init_vocabulary=new"]
    kept = first_loss("kept", *init)
    assert first_loss("same", *init, *new) == kept
    other = ["--set", "vocabulary.size=56"]
    carried, fresh = first_loss("carried", *init, *new, *other), first_loss("fresh", *other)
    assert carried < fresh - 0.3, (kept, carried, fresh)
    manifest = json.loads((tmp_path / "carried" / "bundle" / "manifest.json").read_text())
    assert manifest["model"]["source_vocab"] == 56


def test_other_numbers_of_layers(data, whole, tmp_path):
    """With init_layers spread a model of one layer begins one of three: each of the three is that layer."""
    def bundle(name, *more):
        out = tmp_path / name
        run(command(data, out, "--init", str(whole / "bundle"), "--set", "init_layers=spread", "--set",
                    "training.updates=4", "--set", "training.lr_scale=0", "--set", "training.ema=0", *more))
        return json.loads((out / "bundle" / "manifest.json").read_text()), checkpoint(out, 4)
    deep = ["--set", "model.encoder_layers=3", "--set", "model.decoder_layers=2"]
    for more in [], ["--set", "init_vocabulary=new"]:
        manifest, _ = bundle(f"deep{len(more)}", *deep, *more)
        assert (manifest["model"]["encoder_layers"], manifest["model"]["decoder_layers"]) == (3, 2)
        deep_tensors = tensors(tmp_path / f"deep{len(more)}" / "bundle" / "weights.dgw")
        one = tensors(whole / "bundle" / "weights.dgw")
        for name, value in deep_tensors.items():
            assert value == one[re.sub(r"^(enc|dec)\.\d+\.", r"\1.0.", name)], name
        assert len(deep_tensors) > len(one)
    manifest, _ = bundle("kept", "--set", "init_layers=keep", "--set", "model.encoder_layers=3")
    assert manifest["model"]["encoder_layers"] == 1


def test_a_run_of_an_older_program(tmp_path):
    """Checkpoint and recipe of an older program (tests/data/old-run) go on as that program did."""
    shutil.copytree("tests/data/old-run", tmp_path / "run")
    run([TRAIN, "resume", str(tmp_path / "run"), "--quiet", "--no-scores", "--set", "training.updates=16"])
    losses = {x["update"]: x["loss"] for x in log(tmp_path / "run", "train")}
    assert losses[8] == 3.15117122  # the old program's line
    assert losses[12] == pytest.approx(3.09244758, abs=1e-4) and losses[16] == pytest.approx(3.01574232, abs=1e-4)


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


GUIDED = ("--set", "guided_alignment.weight=0.5", "--set", "guided_alignment.head=2")


def test_guided_alignment(data, whole, tmp_path):
    """A head learns to look where the lexicon says; stopped and gone on with, the same bits; the bundle names the head."""
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


def test_plan(data, whole, tmp_path):
    text = run([TRAIN, "plan", str(data / "recipe.json"), "--data", str(data), "--out", str(tmp_path / "plan"), "--quiet"])
    assert "passes of 4096 source + target tokens" in text and "together" in text
    text = run(command(data, tmp_path / "big", "--set", "model.d_model=65536", "--set", "model.d_ff=262144",
                       "--set", "model.encoder_layers=16"), expect=1)
    assert "training needs up to" in text and "training.micro_tokens" in text


def test_threads_are_the_cores_it_may_use(data, tmp_path):
    text = run([TRAIN, "plan", str(data / "recipe.json"), "--data", str(data), "--out", str(tmp_path), "--quiet",
                "--set", "training.threads=0"], preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
    assert " 1 threads" in text and "the machine has" in text


def test_plan_knows_ulimits(data, tmp_path):
    """ulimit -v is what malloc meets first: the plan says so, and refuses what goes over it."""
    plan = [TRAIN, "plan", str(data / "recipe.json"), "--data", str(data), "--out", str(tmp_path), "--quiet"]

    def two_gib():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
    assert re.search(r"ulimit allows +2048\.0 MiB", run(plan, preexec_fn=two_gib))
    text = run(command(data, tmp_path / "big", "--set", "model.d_model=4096", "--set", "model.d_ff=16384"), expect=1, preexec_fn=two_gib)
    assert "training needs up to" in text and "ulimit allows" in text


def in_group(folder, args, **files):
    """args where /sys/fs/cgroup holds these files alone, in a mount namespace of its own."""
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text + "\n")
    args = ["unshare", "-rm", "sh", "-c", 'mount --bind "$0" /sys/fs/cgroup && exec "$@"', str(folder), *args]
    if subprocess.run([*args[:6], "true"], capture_output=True).returncode:
        pytest.skip("no mount namespaces here")
    return args


def test_limits_of_the_control_group(data, tmp_path):
    groups = tmp_path / "groups"
    groups.mkdir()
    plan = [os.path.abspath(TRAIN), "plan", str(data / "recipe.json"), "--data", str(data), "--out", str(tmp_path / "plan"),
            "--quiet", "--set", "training.threads=0"]
    text = run(in_group(groups, plan, cpu_max="100000 100000", memory_max=str(2 << 30)))
    assert " 1 threads" in text and re.search(r"the control group allows +2048\.0 MiB", text)
    text = run(in_group(groups, plan, cpu_max="max 100000", memory_max=str(1 << 20)), expect=1)
    assert "training needs up to" in text and "the control group allows 0.0 GiB" in text and "together" in text


def test_averaging_needs_no_room_for_training(data, begun, tmp_path):
    """A run made on a large machine is averaged on a small one."""
    groups = tmp_path / "groups"
    groups.mkdir()
    run(in_group(groups, [os.path.abspath(TRAIN), "average", str(begun), "--last", "1", "--no-scores", "--quiet",
                          "--out", str(tmp_path / "one")], memory_max=str(1 << 20)))
    text = run(in_group(groups, [os.path.abspath(TRAIN), "resume", str(begun), "--quiet"], memory_max=str(1 << 20)), expect=1)
    assert "training needs up to" in text


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


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
