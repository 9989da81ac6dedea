"""A run's bundle, and runs that start from one: what the bundle names, vocabularies, paths, other numbers of layers."""
import json
import os
import re
import shutil
import struct
import subprocess

import pytest

from train_runs import TRAIN, UPDATES, checkpoint, command, in_group, log, run
from train_runs import begun, data, whole  # noqa: F401  fixtures


def tensors(path):
    """{name: bytes} of every tensor of a weights file."""
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


def test_bundle_half_replaced_does_not_look_whole(whole, tmp_path):
    bundle = tmp_path / "bundle"
    average = [TRAIN, "average", str(whole), "--quiet", "--out", str(bundle)]
    run([*average, "--last", "2"])
    os.remove(bundle / "joint.vocab")
    (bundle / "joint.vocab").mkdir()
    run([*average, "--last", "1"], expect=1)
    assert not (bundle / "manifest.json").exists()
    (bundle / "joint.vocab").rmdir()
    said = run([*average, "--last", "1"])
    assert f"last checkpoints: {UPDATES}\ncalibrating on at most" in said and "scoring the dev and test sets" in said
    assert "chosen: beam" in said and "brevity penalty" not in said  # --quiet leaves the trials out
    training = json.loads((bundle / "manifest.json").read_text())["training"]
    assert training["checkpoints"] == [UPDATES] and training["scores"]


def test_a_run_s_folder_is_no_place_for_a_bundle(whole):
    """The bundle's manifest, weights and vocabulary were written among the checkpoints and the log."""
    said = run([TRAIN, "average", str(whole), "--no-scores", "--out", str(whole)], expect=2)
    assert f"--out {whole} is the directory of a run; name another" in said
    assert not (whole / "manifest.json").exists()


def test_averaging_into_another_folder_only_reads(whole, tmp_path):
    """A run that others own may be read-only: nothing in its folder is opened for writing, the log neither."""
    copied = tmp_path / "run"
    shutil.copytree(whole, copied)
    (copied / "log.jsonl").unlink()
    files = sorted(copied.rglob("*"))
    args = [os.path.abspath(TRAIN), "average", str(copied), "--last", "1", "--no-scores", "--quiet", "--out", str(tmp_path / "bundle")]
    assert "bundle: " in run(args)
    assert (tmp_path / "bundle" / "manifest.json").exists() and sorted(copied.rglob("*")) == files
    alone = ["unshare", "-rm", "sh", "-c", 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"', str(copied)]
    if subprocess.run([*alone, "true"], capture_output=True).returncode == 0:  # there are mount namespaces here
        run([*alone, *args])


def test_fine_tuning(data, whole, tmp_path):
    """The bundle's dimensions are kept, not those of the recipe, and training starts from the bundle's loss."""
    out = tmp_path / "tuned"
    run(command(data, out, "--init", str(whole / "bundle"), "--set", "training.updates=4", "--set", "model.d_ff=64",
                "--set", "training.warmup=4000", "--set", "training.dropout=0", "--set", "training.attention_dropout=0"))
    assert checkpoint(out, 4)["elements"] == checkpoint(whole)["elements"]
    assert log(out, "train")[0]["loss"] < log(whole, "train")[-1]["loss"] + 0.3
    with open(out / "bundle" / "manifest.json", encoding="utf-8") as f:
        assert json.load(f)["model"]["d_ff"] == 32


def test_seldom_characters_are_named(data, whole, tmp_path):
    """With a vocabulary of all western characters, the bundle lists those that its text hardly contained; other bundles list none."""
    assert "rare" not in json.loads((whole / "bundle" / "manifest.json").read_text())
    corpus = tmp_path / "corpus"
    shutil.copytree(data, corpus)
    for side in ("en", "xx"):
        file = corpus / f"train.{side}"
        lines = file.read_text(encoding="utf-8").splitlines()
        lines = [line + (" ö" if i < 200 else " ł" if i < 299 else "") for i, line in enumerate(lines)]  # both sides: 400 and 198
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    out = tmp_path / "run"
    run(command(corpus, out, "--set", "vocabulary.characters=western", "--set", "vocabulary.size=700", "--set", "vocabulary.normalization=nmt_nfc", "--set", "training.updates=4", "--no-scores"))
    rare = json.loads((out / "bundle" / "manifest.json").read_text(encoding="utf-8"))["rare"]
    assert "ł" in rare and "€" in rare and "ö" not in rare and not any(c.isascii() for c in rare)


def test_sources_end_in_eos(data, whole, tmp_path):
    """Training data has </s> after every source: a model without it is refused before data is prepared."""
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


def test_a_bundle_that_cannot_be_trained_further(data, whole, tmp_path):
    """A bundle that cannot be trained further is refused before the data is prepared."""
    def said(code, *more):
        text = run(command(data, tmp_path / "tuned", "--init", str(bundle), *more), expect=code)
        assert not (tmp_path / "tuned" / "data").exists()
        return text
    bundle = whole / "bundle"
    assert "guided_alignment.layer is 2, the model has 1 decoder layers" in said(
        2, "--set", "guided_alignment.weight=0.5", "--set", "guided_alignment.layer=2")
    bundle = tmp_path / "bundle"
    shutil.copytree(whole / "bundle", bundle)
    manifest = json.loads((bundle / "manifest.json").read_text())
    manifest["model"]["decoder_d_ff"] = 16
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    assert "the trainer trains decoders as wide as the encoder" in said(1)


def texts(bundle):
    return (bundle / "manifest.json").read_text() + (bundle / "MODEL_CARD.md").read_text()


def test_a_bundle_names_no_path(data, whole, tmp_path):
    """A bundle gives the bundle that it started from by name and content, and data files by their path in the data
    folder or their name; it has nothing else about the machine. The first bundle may be deleted before the run ends."""
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
    """A recipe's paths are relative to the data folder, which may itself be relative, at the start and on resume."""
    shutil.copytree(data, tmp_path / "corpus")
    shutil.copytree(whole / "bundle", tmp_path / "corpus" / "model")
    run([os.path.abspath(TRAIN), "run", "corpus/recipe.json", "--data", "corpus", "--out", "run", "--quiet", "--no-scores",
         "--set", setting, "--set", "training.updates=4"], cwd=tmp_path)
    run(command(data, tmp_path / "run", "--quiet", "--set", "training.updates=8", verb="resume"))
    spm = [f.read_bytes() for f in (tmp_path / "run" / "bundle" / "joint.spm", whole / "bundle" / "joint.spm")]
    assert spm[0] == spm[1]


def test_another_vocabulary(data, whole, tmp_path):
    """Layers are kept, and pieces keep their embeddings: with the same pieces nothing changes, with others most remains."""
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


def test_one_table_needs_one_vocabulary(data, whole, tmp_path):
    """A model with one table of embeddings for both sides gets no vocabulary for each; that is said before anything is prepared."""
    said = run(command(data, tmp_path / "run", "--init", str(whole / "bundle"), "--set", "init_vocabulary=new", "--set", "vocabulary.joint=false",
                       "--set", "model.tied_embeddings=false"), expect=2)
    assert "vocabulary.joint is false, must be true: " in said
    assert not (tmp_path / "run" / "data").exists()


def test_other_numbers_of_layers(data, whole, tmp_path):
    """With init_layers spread, a model of one layer initialises a deeper one: each of its layers is a copy."""
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


def test_averaging_needs_no_room_for_training(data, begun, tmp_path):
    """A run made on a large machine can be averaged on a small one."""
    groups = tmp_path / "groups"
    groups.mkdir()
    run(in_group(groups, [os.path.abspath(TRAIN), "average", str(begun), "--last", "1", "--no-scores", "--quiet",
                          "--out", str(tmp_path / "one")], memory_max=str(1 << 20)))
    text = run(in_group(groups, [os.path.abspath(TRAIN), "resume", str(begun), "--quiet"], memory_max=str(1 << 20)), expect=1)
    assert "training needs up to" in text
