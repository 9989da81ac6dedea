"""README's figures match bench/results: its table with CTranslate2, the summary on its first screen, training, other programs' models,
and the bundled model's scores, which are in its card by `make bench-card`."""
import json
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# README's row -> the row of bench/results/cpu-*.md
ROWS = {
    "int8: one sentence, beam 4, one thread": "int8, beam 4, 1 thread",
    "int8: the same, ours with a vocabulary shortlist": "int8, beam 4, 1 thread, ours with a shortlist",
    "int8: one sentence, greedy, one thread": "int8, greedy, 1 thread",
    "int8: 512 sentences, beam 4, two workers, tokens/s": "int8, beam 4, 512 sentences, 2 workers",
    "int8: 512 sentences, greedy, two workers, tokens/s": "int8, greedy, 512 sentences, 2 workers",
    "float32: one sentence, beam 4, one thread": "float32, beam 4, 1 thread",
    "float32: one sentence, greedy, one thread": "float32, greedy, 1 thread",
    "float32: 512 sentences, beam 4, two workers, tokens/s": "float32, beam 4, 512 sentences, 2 workers",
    "float32: 512 sentences, greedy, two workers, tokens/s": "float32, greedy, 512 sentences, 2 workers",
}


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


def rows_of(text):
    """{first cell: other cells} of every table row."""
    return {cells[0]: cells[1:] for cells in ([c.strip() for c in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| "))}


def measured(name):
    return {row: (cells[0].removesuffix(" tokens/s"), cells[1].removesuffix(" tokens/s"), float(cells[2]))
            for row, cells in rows_of(read("bench", "results", name)).items() if len(cells) == 6 and re.fullmatch(r"[\d.]+", cells[2])}


def near(said, exact):
    """True if a ratio with one decimal is the measured one rounded; a final 5 may be rounded either way."""
    return abs(float(said) - exact) < 0.0501


def test_the_table_beside_ctranslate2():
    said = rows_of(read("README.md"))
    files = [measured("cpu-amd-epyc-2-cores.md"), measured("cpu-amd-epyc-2-cores-avx512.md")]
    assert {row for row in said if row.startswith(("int8: ", "float32: "))} == set(ROWS)
    for row, theirs in ROWS.items():
        for cells, file in zip((said[row][:3], said[row][3:]), files):
            ours, other, ratio = file[theirs]
            assert (cells[0], cells[1]) == (ours, other), row
            assert near(cells[2].strip("*×"), ratio), row


def test_the_summary():
    text = " ".join(read("README.md").split())
    files = [measured("cpu-amd-epyc-2-cores.md"), measured("cpu-amd-epyc-2-cores-avx512.md"),
             measured("cpu-intel-xeon-processor-2-cores-avx512.md"), measured("cpu-intel-xeon-processor-2-cores-amx.md")]
    numbers = re.search(r"translates one sentence ([\d.]+) to ([\d.]+) times as fast as CTranslate2 \S+ and 512 sentences ([\d.]+) to ([\d.]+) times", text).groups()
    one = [f[f"int8, {search}, 1 thread"][2] for f in files for search in ("beam 4", "greedy")]
    many = [f[f"int8, {search}, 512 sentences, 2 workers"][2] for f in files for search in ("beam 4", "greedy")]
    assert all(map(near, numbers, (min(one), max(one), min(many), max(many))))
    zen3, zen4 = (f["int8, beam 4, 2 threads"] for f in files[:2])
    assert f"Dragoman takes {zen3[0]} and CTranslate2 {zen3[1]} on Zen 3, {zen4[0]} and {zen4[1]} on Zen 4" in text
    said = re.search(r"one sentence \(int8, beam 4, one thread\) takes (.*?) beside (.*?) \(\*\*(.*?)×\*\*\), and 512 sentences run at (.*?) tokens/s beside "
                     r"(.*?) \(\*\*(.*?)×\*\*\), greedy at (.*?) beside (.*?) \(\*\*(.*?)×\*\*\)", text).groups()
    for at, row in enumerate(("1 thread", "512 sentences, 2 workers", "greedy")):
        ours, other, ratio = files[2]["int8, greedy, 512 sentences, 2 workers" if row == "greedy" else f"int8, beam 4, {row}"]
        assert (ours.split()[0], other.split()[0]) == (said[3 * at].split()[0], said[3 * at + 1].split()[0]) and near(said[3 * at + 2], ratio)

    ours, other, ratio = files[3]["int8, beam 4, 512 sentences, 2 workers"]
    amx = re.search(r"512 sentences run at (\S+) tokens/s beside (\S+) \(\*\*(\S+)×\*\*\)\. \[docs", text).groups()
    assert amx[:2] == (ours, other) and near(amx[2], ratio)

    names = ("train-amd-epyc-2-cores.md", "train-amd-epyc-2-cores-avx512.md", "train-intel-xeon-processor-2-cores-amx.md")
    training = [float(cells[-4]) for name in names
                for cells in ([c.strip() for c in line.strip("|").split("|")] for line in read("bench", "results", name).splitlines())
                if "2" in cells[:2] and re.fullmatch(r"[\d.]+", cells[-4])]
    low, high = re.search(r"Training is ([\d.]+) to ([\d.]+) times as fast as PyTorch", text).groups()
    assert len(training) == 5 and near(low, min(training)) and near(high, max(training))


def test_models_of_other_programs():
    family = json.loads(read("bench", "results", "family-amd-epyc-2-cores-avx512.json"))
    said = rows_of(read("README.md"))
    for row, shape in (("Argos, CTranslate2", "argos"), ("OPUS-MT of Hugging Face", "opus"), ("M2M-100, NLLB-200", "nllb")):
        low, high = map(float, re.match(r"([\d.]+) to ([\d.]+)×", said[row][-1]).groups())
        ratios = [setting["times_as_fast"] for setting in family[shape]["settings"] if not setting["shortlist"]]
        assert near(low, min(ratios)) and near(high, max(ratios)), row
    tiny = next(setting["times_as_fast"] for setting in family["student"]["settings"] if setting["shape"] == "tiny")
    assert near(said["Firefox, Bergamot, translateLocally"][-1].rstrip("×"), tiny)
    assert near(re.search(r"Firefox's tiny model runs ([\d.]+) times as fast", read("README.md")).group(1), tiny)


def test_the_bundled_models_scores():
    text, card = " ".join(read("README.md").split()), read("weights", "bundles", "en-de-fr", "MODEL_CARD.md")
    scores = [re.match(r"\*\*([\d.]+)\*\*", cell).group(1) for cell in rows_of(card)["newstest2014"]]
    to_english, to_german, to_french, from_french = scores
    assert f"reaches {to_german} BLEU on newstest2014 (news) from English to German, {to_english} from German, {to_french} to French and {from_french} from French" in text
    judged = [re.search(r"\((\d+) %\)", cell).group(1) for cell in rows_of(card)["all"][1:4]]
    assert "{} % were usable, {} % understandable and {} % wrong".format(*judged) in text
    assert re.search(r"trained on two CPU cores in ([\d.]+) core-hours", text).group(1) == re.search(r"trained for ([\d.]+) core-hours", card).group(1)
