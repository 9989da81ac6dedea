"""Shared by the tests of whole runs of `dragoman-train`: a made-up language, commands, checkpoints, logs."""
import json
import os
import random
import shutil
import subprocess
import sys
import time

import pytest

BUILD = os.environ.get("DRAGOMAN_BUILD", "build/release")
TRAIN = os.path.join(BUILD, "bin", "dragoman-train")
DRAGOMAN = os.path.join(BUILD, "bin", "dragoman")
with open(TRAIN, "rb") as program:
    SHADOWED = b"__asan_init" in program.read()  # AddressSanitizer reserves terabytes, more than any ulimit allows
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
UPDATES = 24

# The caller's settings for OpenBLAS must not affect the tests; one of them sets such a variable itself.
for variable in [name for name in os.environ if name.startswith("OPENBLAS_")]:
    del os.environ[variable]


def write_corpus(folder, all_words=tuple(WORDS)):
    """Write a corpus. A target is the source's words in reverse order, each with another ending."""
    rng = random.Random(7)

    def pairs(n):
        for _ in range(n):
            words = [rng.choice(all_words) for _ in range(rng.randint(1, 9))]
            yield " ".join(words), " ".join(w + "o" for w in reversed(words))
    for name, n in [("train", 600), ("dev", 12)]:
        lines = list(pairs(n))
        for side, i in [("en", 0), ("xx", 1)]:
            with open(folder / f"{name}.{side}", "w", encoding="utf-8") as f:
                f.writelines(p[i] + "\n" for p in lines)


def with_longer_dev(data, corpus, times):
    """Copy the corpus, with its dev set repeated `times` times."""
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
                 "average_last": 2, "average_compare": False, "precision": "fp32"},
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


def log(out, kind):
    with open(out / "log.jsonl", encoding="utf-8") as f:
        return [x for x in map(json.loads, f) if x["kind"] == kind]


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """An undisturbed run."""
    out = tmp_path_factory.mktemp("whole") / "run"
    run(command(data, out))
    return out


def same_end(out, whole):
    a, b = checkpoint(out), checkpoint(whole)
    assert a["xxh3"] == b["xxh3"], "parameters, moments and averages, by their checksums"
    assert [a[k] for k in ("epoch", "cursor", "batch", "epoch_tokens")] == \
        [b[k] for k in ("epoch", "cursor", "batch", "epoch_tokens")]


def wait_for(out, step, process):
    """Wait until index.json names a checkpoint of that step or a later one, or the process has ended."""
    index = out / "checkpoints" / "index.json"
    end = time.time() + 300
    while process.poll() is None and time.time() < end:
        if index.exists() and any(c["step"] >= step for c in json.loads(index.read_text())["checkpoints"]):
            return
        time.sleep(0.002)


def killed_while_validating(data, out, *more):
    """A run without its last validation, which was the second one without a better score."""
    run(command(data, out, "--set", "training.lr_scale=0", "--set", "training.stop_metric=loss", "--set",
                "validation.every=4", "--set", "training.updates=12", *more))
    path = out / "checkpoints" / "index.json"
    index = json.loads(path.read_text())
    assert index["bad"] == 2 and index["validated"] == 12
    index.update(bad=1, validated=8)
    index["checkpoints"][-1]["score"] = None
    path.write_text(json.dumps(index))


def checkpoint_steps(out):
    index = out / "checkpoints" / "index.json"
    return [c["step"] for c in json.loads(index.read_text())["checkpoints"]] if index.exists() else []


@pytest.fixture()
def begun(data, tmp_path):
    """A run that has done 8 of its updates."""
    out = tmp_path / "run"
    run(command(data, out, "--set", "training.updates=8"))
    return out


GUIDED = ("--set", "guided_alignment.weight=0.5", "--set", "guided_alignment.head=2")


def in_group(folder, args, **files):
    """The command args in its own mount namespace, where /sys/fs/cgroup has only these files."""
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text + "\n")
    args = ["unshare", "-rm", "sh", "-c", 'mount --bind "$0" /sys/fs/cgroup && exec "$@"', str(folder), *args]
    if subprocess.run([*args[:6], "true"], capture_output=True).returncode:
        pytest.skip("no mount namespaces here")
    return args


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
