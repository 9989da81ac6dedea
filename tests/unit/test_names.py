"""The names of a header's functions contain the noun of its file or folder, so that a name leads to its declaration. The
header's first comment says which threads may call them."""
import re

from test_sizes import plain, product, texts

# Short forms of nouns, by folder or file.
SHORT = {"ctranslate2": "ct2", "huggingface": "hf", "libretranslate": "lt", "markdown": "md", "document": "doc"}
# Headers whose functions are named after what they work on, not after the file.
OTHERS = {
    "convert/pull/sources.h": "a source each: firefox, argos, hub",
    "documents/kinds.h": "a kind each, as the reader of a member or the writer of a package",
    "documents/segments.h": "an extract's parts, segments and slots",
    "kernels/backend.h": "the ops' table, with what every backend computes alike",
    "kernels/cpu/pack.h": "panels, and what is converted into them",
    "model/layers/layers.h": "the boxes of the paper's Figure 1",
    "model/train/sublayers.h": "the same boxes' backward",
    "text/format/internal.h": "documents, of which the folder has the formats",
    "translate/answer/answer.h": "a part's answer",
    "translate/encode/encode.h": "a part, while it is encoded",
    "translate/job/job.h": "a job and its parts",
    "translate/translate.h": "translators and their jobs",
    "weights/half.h": "f16 and bf16",
}


def stem(word):
    """worker, workers -> work; memories, memory -> memor"""
    return re.sub(r"(ies|ers|er|es|e|s|y)$", "", word)


def nouns(path):
    parts = re.sub(r"(_internal)?\.h$", "", path).split("/")
    words = {word for part in parts for word in part.split("_")}
    return {stem(word) for word in words | {SHORT[word] for word in words & set(SHORT)}}


def declared(text):
    """Names of functions declared at the start of a line, outside braces."""
    text = plain(text)
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", ";", text)
    return set(re.findall(r"^[a-z][\w \*]*?\b(dg_\w+)\s*\(", text, re.M))


def test_functions_carry_their_headers_noun():
    wrong = {}
    seen = 0
    for path, text in texts(name for name in product() if name.endswith(".h") and not name.startswith("kernels/cuda/")):
        functions = declared(text)
        seen += bool(functions)
        others = {name for name in functions if not nouns(path) & {stem(word) for word in name.split("_")[1:]}}
        if 2 * len(others) > len(functions):
            wrong[path] = sorted(others)
    assert seen > 300
    assert set(wrong) <= set(OTHERS), wrong


def test_heads_say_the_thread_rule():
    """In its own words, by reference to the header that it is part of, or by naming a lock."""
    silent = []
    for path, text in texts(name for name in product() if name.endswith(".h")):
        head = re.match(r"\s*/\*.*?\*/", text, re.S)
        if not head or not re.search(r"[Tt]hread|main\(\)|\block\b|[Aa]s (\w+/)*\w+\.h|backend\.h", head.group(0)):
            silent.append(path)
    assert not silent, silent


def test_names_are_read():
    assert declared("int dg_a(void); /* dg_no( */\nstruct s {\n    int (*dg_b)(void);\n};\nstatic inline int dg_c(int x)\n{\n    return dg_d(x);\n}\n") == {"dg_a", "dg_c"}
    assert nouns("server/uploads/uploads.h") == {"serv", "upload"}
    assert stem("uploader") == "upload" and stem("memories") == stem("memory") and "md" in nouns("text/format/markdown_cursor.h")
