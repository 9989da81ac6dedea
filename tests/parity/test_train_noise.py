"""Noise in sources on the fly (noise.case, noise.typos, noise.merges), on real sentences: its effect, that it does not depend
on threads or stops, and that nothing changes without it."""
import pytest

from real_pairs import batches, lines, prepare, recipe, write_pairs
from train_runs import TRAIN, checkpoint, run

NOISE = {"case": 0.2, "typos": 0.1, "merges": 0.05}
BATCHES = 24  # more than three epochs


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    """(folder, recipe with noise), with prepared data."""
    folder = tmp_path_factory.mktemp("noisy")
    write_pairs(folder)
    path = recipe(folder, noise=NOISE)
    prepare(path, folder / "data")
    return folder, path


def test_sources_alone_are_mistyped(noisy):
    """Targets do not change. Sources differ from the originals in a few letters, and differ from epoch to epoch."""
    folder, path = noisy
    source_of = dict(zip(lines("de"), lines("en")))
    seen = {}
    for batch in batches(path, folder / "data", BATCHES):
        for source, target in batch:
            seen.setdefault(target, []).append(source)
    assert set(seen) == set(source_of), "every target, as it was"
    changed = [s != source_of[t] for t, many in seen.items() for s in many]
    assert 0.4 < sum(changed) / len(changed) < 0.95
    assert sum(len(set(many)) > 1 for many in seen.values()) > len(seen) / 2
    for target, many in seen.items():
        for source in many:
            plain = source_of[target]
            assert abs(len(source) - len(plain)) <= len(plain) / 5 + 1
            assert set(source.lower()) - set(plain.lower()) <= set("abcdefghijklmnopqrstuvwxyz")
    assert any(s == s.lower() for many in seen.values() for s in many)


def test_the_same_noise_whenever_asked(noisy):
    """Noise depends on seed, epoch and sentence only, not on how the data is split into batches."""
    folder, path = noisy
    other = recipe(folder, noise=NOISE, training={"batch_tokens": 400, "seed": 1})
    first_epoch = len(lines("en"))

    def epoch(r):
        pairs = [p for batch in batches(r, folder / "data", BATCHES) for p in batch][:first_epoch]
        return sorted(pairs)
    assert epoch(path) == epoch(other)
    assert epoch(path) != epoch(recipe(folder, noise=NOISE, training={"seed": 2}))


def test_none_by_default(noisy):
    folder, _ = noisy
    source_of = dict(zip(lines("de"), lines("en")))
    plain = batches(recipe(folder), folder / "data", BATCHES)
    assert all(source == source_of[target] for batch in plain for source, target in batch)
    assert plain == batches(recipe(folder, noise={"case": 0, "typos": 0, "merges": 0}), folder / "data", BATCHES)


def test_with_bpe_dropout(noisy):
    """With both, pieces change on both sides, but text only in sources."""
    folder, path = noisy
    both = recipe(folder, noise=NOISE, training={"bpe_dropout": 0.2})
    assert batches(both, folder / "data", BATCHES) == batches(path, folder / "data", BATCHES), "as text"


def test_goes_on_bit_for_bit(noisy, tmp_path):
    folder, path = noisy

    def train(out, updates, verb="run"):
        more = ["--set", f"training.updates={updates}", "--no-scores", "--quiet"]
        args = [str(path), "--data", str(folder), "--prepared", str(folder / "data"), "--out", str(out)]
        run([TRAIN, verb, *(args if verb == "run" else [str(out)]), *more])
    train(tmp_path / "whole", 20)
    train(tmp_path / "parts", 7)
    train(tmp_path / "parts", 13, "resume")
    train(tmp_path / "parts", 20, "resume")
    a, b = checkpoint(tmp_path / "whole", 20), checkpoint(tmp_path / "parts", 20)
    assert a["xxh3"] == b["xxh3"] and a["epoch"] >= 2


def test_reserved_pieces_and_tags_stay(tmp_path):
    """Masked pairs of a model with target tags, under heavy noise: every reserved piece and tag stays."""
    write_pairs(tmp_path)
    files = [{"source": f"{n}.en", "target": f"{n}.de"} for n in ("early", "late")]
    data = {"pairs": [{"source_lang": "en", "target_lang": "de", "both_directions": True, "train": files}]}
    common = dict(data=data, vocabulary={"size": 700, "byte_fallback": True, "reserved": 4}, variants={"mask": 1})
    quiet, loud = recipe(tmp_path, **common), recipe(tmp_path, **common, noise={"case": 1, "typos": 1, "merges": 1})
    prepare(quiet, tmp_path / "data")
    marks = ["<2de>", "<2en>", "\u27e81\u27e9", "\u27e82\u27e9", "\u27e83\u27e9", "\u27e84\u27e9"]

    def found(r):
        pairs = [p for batch in batches(r, tmp_path / "data", 60) for p in batch][:200]
        return sorted((t, [m for m in marks for _ in range(s.count(m))]) for s, t in pairs), pairs
    before, plain = found(quiet)
    after, typed = found(loud)
    assert after == before
    assert any("\u27e8" in s for s, _ in typed) and all(s.startswith("<2") for s, _ in typed)
    assert sum(a != b for (a, _), (b, _) in zip(sorted(plain), sorted(typed))) > len(plain) / 2


def test_not_with_guided_alignment(noisy, tmp_path):
    folder, path = noisy
    said = run([TRAIN, "run", str(path), "--data", str(folder), "--out", str(tmp_path / "run"), "--quiet", "--set",
                "guided_alignment.weight=0.1"], expect=2)
    assert "noise makes other pieces of a source than those that are aligned" in said
