"""The arrows of ARCHITECTURE.md, checked by reading every #include: who may include whom, and which foreign header
may stand in which file."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# folder -> folders whose headers it may include (itself always)
ALLOWED = {
    "base": set(),
    "text": {"base"},
    "tokenizer": {"base"},
    "kernels": {"base"},
    "weights": {"base", "kernels"},  # kernels: the types of stored tensors (backend.h), packing for quantize.c
    "weights/convert": {"base", "kernels", "model", "tokenizer", "weights"},
    "model": {"base", "kernels", "weights"},
    "translate": {"base", "kernels", "model", "text", "tokenizer", "weights"},
    "store": {"base"},
    "server": {"base", "kernels", "model", "store", "text", "tokenizer", "translate", "weights"},
    "trainer": {"base", "kernels", "model", "text", "tokenizer", "translate", "weights"},
    "cli": {"base", "kernels", "model", "store", "text", "tokenizer", "translate", "weights", "weights/convert"},
}

# foreign header -> where it may stand
FOREIGN = {
    r"microhttpd\.h": r"server/http\w*\.[ch]",
    r"jansson\.h": r"base/json\.c",
    r"sqlite3\.h": r"store/.*",
    r"unicode/.*": r"text/.*",
    r"sentencepiece_.*\.h": r"tokenizer/spm_.*\.cc",
    r"mpi\.h": r"trainer/mpi/\w+\.c",
    r"cblas.*": r"kernels/cpu/train/gemm_train\.c",
    r"cuda.*": r"kernels/cuda/.*",
    r"cublas.*": r"kernels/cuda/gemm(_plan)?\.[ch]",
    r"nccl\.h": r"kernels/cuda/nccl\.c",
    r"zip\.h|yaml\.h": r"weights/convert/.*|server/page/document\.c",
    r"xxhash\.h": r"(weights|trainer)/.*",
    r"sha2\.h": r"weights/version\.c|store/.*|trainer/hash\.c",
}


def sources():
    for folder in sorted({f.split("/")[0] for f in ALLOWED}):
        for here, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith((".c", ".h", ".cc", ".cu", ".cuh")):
                    path = os.path.join(here, name)
                    yield os.path.relpath(path, ROOT), open(path, encoding="utf8").read()


def room(path):
    best = ""
    for folder in ALLOWED:
        if path.startswith(folder + "/") and len(folder) > len(best):
            best = folder
    return best


def test_own_includes_follow_the_arrows():
    wrong = []
    for path, text in sources():
        here = room(path)
        for included in re.findall(r'#include "([^"]+)"', text):
            there = room(included)
            if there and there != here and there not in ALLOWED[here]:
                wrong.append(f"{path} includes {included}")
    assert not wrong, "\n".join(wrong)


def test_foreign_headers_stand_in_their_place():
    wrong = []
    for path, text in sources():
        for included in re.findall(r"#include <([^>]+)>", text):
            for header, place in FOREIGN.items():
                if re.fullmatch(header, included) and not re.fullmatch(place, path):
                    wrong.append(f"{path} includes <{included}>")
    assert not wrong, "\n".join(wrong)


def test_no_device_in_the_model_and_no_shapes_in_the_server():
    wrong = [path for path, text in sources() if path.startswith("model/") and re.search(r"cuda|#ifdef DG_X86", text, re.I)]
    for path, text in sources():
        if path.startswith("server/") and path != "server/config.c":
            wrong += [f"{path}: {m}" for m in re.findall(r"(?i)\b(?:tensor|dtype)\b", text)]
    # layers.h says in words that its functions serve both devices
    wrong = [w for w in wrong if w != "model/layers.h"]
    assert not wrong, "\n".join(wrong)
