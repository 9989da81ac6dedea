"""200 ordinary sentences in eight domains (ordinary.tsv), translated by a bundle and judged by a reader who knows both languages
(judgements.tsv): 2 for an answer that can be used as it is (right meaning, at most a small slip of style), 1 for one whose meaning can be
understood in spite of errors, 0 for a wrong or senseless one. A judgement belongs to one text and one translation of it, so a new version
of a bundle needs new judgements only where its answers differ."""
import collections
import os

HERE = os.path.dirname(os.path.abspath(__file__))
DOMAINS = ["everyday", "travel", "food", "medicine", "mail", "law", "software", "news"]


def rows(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t") for line in f]


DOUBTFUL = -0.8  # as in server/api/web/check.js


def measure(translate, score):
    """[domain, source language, target language, text, translation, flags, judgement or None, reading back] for each sentence. The
    last one is the mean log-probability of a token, in which the translation counts twice and the text, read back, once.

    translate(source, target, texts) returns the objects that `dragoman translate --json` prints, score(source, target, texts,
    translations) the mean log-probability of each translation's tokens."""
    judged = {tuple(r[1:]): int(r[0]) for r in rows("judgements.tsv")}
    groups = collections.defaultdict(list)
    for domain, source, target, text in rows("ordinary.tsv"):
        groups[source, target].append((domain, text))
    result = []
    for (source, target), sentences in groups.items():
        answers = translate(source, target, [text for _, text in sentences])
        says = [answer["text"].replace("\t", " ").replace("\n", " ") for answer in answers]
        texts = [text for _, text in sentences]
        there, back = score(source, target, texts, says), score(target, source, says, texts)
        for (domain, text), answer, said, a, b in zip(sentences, answers, says, there, back):
            result.append([domain, source, target, text, said, answer["flags"], judged.get((source, target, text, said)), (2 * a + b) / 3])
    return result


def unjudged(result):
    """Returns the lines of judgements.tsv for answers without a judgement: its column has a "?"."""
    return ["\t".join(["?", *r[1:5]]) for r in result if r[6] is None]


def share(part, whole):
    return f"{part} ({100 * part / whole:.0f} %)" if whole else "0"


def report(result):
    out = ["| 200 ordinary sentences | sentences | 2: usable | 1: understandable | 0: wrong | not judged | wrong and flagged `low_confidence` | wrong and doubtful, read back |",
           "|---|---|---|---|---|---|---|---|"]
    for domain in [*DOMAINS, "all"]:
        of = [r for r in result if domain in (r[0], "all")]
        count = collections.Counter(r[6] for r in of)
        wrong = [r for r in of if r[6] == 0]
        flagged, doubtful = sum("low_confidence" in r[5] for r in wrong), sum(r[7] < DOUBTFUL for r in wrong)
        out.append(f"| {domain} | {len(of)} | " + " | ".join(share(count[x], len(of)) for x in (2, 1, 0)) + f" | {count[None]} | {share(flagged, len(wrong))} | {share(doubtful, len(wrong))} |")
    out.append("")
    for judgement, word in ((2, "usable"), (1, "understandable")):
        of = [r for r in result if r[6] == judgement]
        flagged, doubtful = sum("low_confidence" in r[5] for r in of), sum(r[7] < DOUBTFUL for r in of)
        out.append(f"Of the {word} answers, {share(flagged, len(of))} are flagged `low_confidence`, and {share(doubtful, len(of))} are doubtful when read back.")
    return out
