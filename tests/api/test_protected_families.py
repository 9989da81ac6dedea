"""Bundles converted from other programs' models keep protected spans, whatever the model writes. Uses a toy of each family, which needs no
other quality. If a toy never learned to copy a word, its spans are put back by alignment."""
import os
import subprocess

import pytest

import conftest
import kept

DATA = os.path.join(conftest.ROOT, "tests", "data", "convert")
EN_DE = ["--source-lang", "en", "--target-lang", "de"]
SPM = os.path.join(DATA, "pymarian", "attention.spm")
FAMILIES = {
    "marian": ["marian", "--model", os.path.join(DATA, "pymarian", "attention.npz"), "--vocab", SPM, *EN_DE],
    "ssru": ["marian", "--model", os.path.join(DATA, "pymarian", "ssru.npz"), "--vocab", os.path.join(DATA, "pymarian", "ssru.spm"), *EN_DE],
    "bergamot": ["bergamot", os.path.join(DATA, "bergamot")],
    "ctranslate2": ["ctranslate2", os.path.join(DATA, "ctranslate2_prenorm", "f32"), *EN_DE, "--spm", SPM],
    "m2m": ["huggingface", os.path.join(DATA, "m2m100", "m2m")],
    "nllb": ["huggingface", os.path.join(DATA, "m2m100", "nllb")],
}
# Without names that contain ASCII words: the model has to write those, and toys have no letters for them.
NAMES = [n for n in kept.NAMES if not any(word.isascii() for word in n.split())]
SPANS = dict(kept.SPANS, names=NAMES)


@pytest.fixture(scope="module", params=FAMILIES)
def server(request, tmp_path_factory):
    folder = str(tmp_path_factory.mktemp(request.param) / "bundle")
    subprocess.run([conftest.CLI, "convert", *FAMILIES[request.param], "--out", folder], check=True, capture_output=True, timeout=300)
    with conftest.Server(folder) as s:
        yield s


@pytest.mark.parametrize("format", kept.FORMATS)
def test_spans_come_back(server, format):
    lost, bad = [], []
    for kind in SPANS:
        # &nbsp; comes back where the answer has such a space, and a toy writes none.
        spans = [s for s in SPANS[kind] if s != "&nbsp;" or format not in ("markdown", "html")]
        cases = kept.cases(format, spans, kept.SENTENCES[:1])
        for (span, text), answer in zip(cases, kept.answers(server, [t for _, t in cases], format)):
            rest = answer["text"].replace(span, "", 1)
            if answer["text"].count(span) != 1 or "://" in rest or "XX" in rest:
                lost.append((kind, span, answer["text"]))
            if kept.strange(text, answer["text"]):
                bad.append((text, answer["text"]))
    assert not lost and not bad, (lost, bad)


@pytest.mark.parametrize("format", kept.FORMATS)
def test_characters(server, format):
    """Each character is kept, or the sentence is flagged."""
    n, lost, silent = 0, [], []
    for kind, characters in kept.CHARACTERS.items():
        cases = kept.cases(format, characters, ["The sign @ is here."])
        n += len(cases)
        for (c, text), answer in zip(cases, kept.answers(server, [t for _, t in cases], format)):
            if c not in answer["text"]:
                lost.append(c)
                if "character_lost" not in kept.flags(answer) and c not in "…ªº":
                    silent.append((c, answer["text"]))
            assert not kept.strange(text, answer["text"]), answer
    print(format, n - len(lost), n, "".join(lost))
    assert len(lost) <= 0.1 * n, "".join(lost)
    assert not silent, silent
