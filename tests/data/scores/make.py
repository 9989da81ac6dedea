#!/usr/bin/env python3
"""Writes cases.json: texts and their scores by sacreBLEU (PyPI sacrebleu 2.x). Run in this folder."""
import json
import random

from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

LINES = [
    ("Ein Mann mit einem orangefarbenen Hut starrt etwas an.", "Ein Mann mit einem orangefarbenen Hut, der etwas anstarrt."),
    ("&quot;Fish &amp; chips&quot; &lt;b&gt; costs $3.50, or 1,000.5 yen...", "\"Fish & chips\" <b> costs $3.50 or 1,000.5 yen ..."),
    ("&amp;lt; stays", "&lt; stays"),
    ("In 1990-1995, 5-year-olds; co-operate -- 3-", "In 1990 - 1995, 5 year-olds; cooperate -- 3 -"),
    ("", "nothing came out"),
    ("something came out", ""),
    ("", ""),
    ("   ", "white space only"),
    ("天気がいいから、散歩しましょう。", "天気が良いから、散歩しましょう。"),
    ("今天天气很好", "今天天气不错"),
    ("Größe: 3,5 m² — „Zitat“ … 50 %", "Größe: 3,5 m² – \"Zitat\" ... 50%"),
    ("non\u00a0breaking\u3000ideographic\u2009thin", "non breaking ideographic thin"),
    ("a.b.c...d,,e,.f 1.2.3 .5 5. ,5 5, x.1 1.x", "a.b.c ... d , e . f 1.2.3 .5 5 . , 5 5 , x.1 1.x"),
    ("<skipped>gone<skipped>", "gone"),
    ("don't can't 'quoted' \"double\" `back` it's", "don 't can ' t 'quoted' \"double\" `back` it's"),
    ("#1 @you a/b a\\b a|b a~b a^b {x} [y] (z) a_b a=b a+b a*b a&b", "# 1 @ you a / b a \\ b a | b"),
    ("trailing space ", " leading space"),
    ("emoji 😀 and combining e\u0301", "emoji 😀 and combined \u00e9"),
    ("control\u001csplits\u0085too\u2028and this", "control splits too and this"),
    ("x", "x"),
    ("the the the the", "the cat the dog"),
]


def fuzz(n, seed):
    rng = random.Random(seed)
    marks = list("ab1,.-&;<>'\"/ %{}[]`~$ ..,,--  11")
    marks += ["\u00a0", "\u3000", "中", "ß", "&amp;", "&quot;", "&lt;", "&gt;", "<skipped>", "\x1c", "\x85", "é"]
    out = []
    for _ in range(n):
        hyp = [rng.choice(marks) for _ in range(rng.randrange(40))]
        ref = [rng.choice(marks) if rng.random() < 0.2 else c for c in hyp]
        out.append(("".join(hyp), "".join(ref)))
    return out


def case(name, pairs):
    hyp, ref = [p[0] for p in pairs], [p[1] for p in pairs]
    b, c = BLEU().corpus_score(hyp, [ref]), CHRF().corpus_score(hyp, [ref])
    return {
        "name": name, "hyp": hyp, "ref": ref, "bleu": b.score, "chrf": c.score, "precisions": b.precisions, "bp": b.bp,
        "hyp_len": b.sys_len, "ref_len": b.ref_len, "tokens": [Tokenizer13a()(s.rstrip()) for s in hyp],
    }


cases = [case("lines", LINES), case("fuzz", fuzz(200, 1)), case("more", fuzz(100, 2))]
cases += [case(f"line {i}", [p]) for i, p in enumerate(LINES)]
with open("cases.json", "w", encoding="utf-8") as f:
    json.dump({"cases": cases}, f, ensure_ascii=True, indent=0)
    f.write("\n")
