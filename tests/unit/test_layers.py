"""The arrows of ARCHITECTURE.md, checked by reading every #include: which folder may include which, and which file may
include which foreign header."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# folder -> folders whose headers it may include (itself always)
ALLOWED = {
    "base": set(),
    "text": {"base"},
    "documents": {"base", "text"},
    "tokenizer": {"base"},
    "kernels": {"base"},
    "weights": {"base", "kernels"},  # kernels: the types of stored tensors (backend.h), packing for quantize.c
    "model": {"base", "kernels", "weights"},
    "convert": {"base", "kernels", "model", "tokenizer", "weights"},
    "translate": {"base", "kernels", "model", "text", "tokenizer", "weights"},
    "include": set(),
    "library": {"base", "include", "kernels", "model", "text", "tokenizer", "translate", "weights"},
    "store": {"base", "text"},
    "server": {"base", "documents", "kernels", "model", "store", "text", "tokenizer", "translate", "weights"},
    "trainer": {"base", "kernels", "model", "text", "tokenizer", "translate", "weights"},
    "cli": {"base", "documents", "kernels", "model", "store", "text", "tokenizer", "translate", "weights", "convert",
            "include", "library"},
}

# foreign header -> files that may include it
FOREIGN = {
    r"microhttpd\.h": r"server/http/\w+\.[ch]",
    r"gnutls/.*": r"server/http/tls\.c",
    r"zstd\.h|zlib\.h": r"server/http/compress\.c|trainer/.*",
    r"jansson\.h": r"base/json\.c",
    r"sqlite3\.h": r"store/.*",
    r"libxml/.*": r"store/tmx\.c|text/format/xml/check\.c",
    r"unicode/.*": r"text/.*",
    r"cld2/.*": r"text/detect/cld2\.cc",
    r"sentencepiece_.*\.h": r"tokenizer/spm_.*\.cc",
    r"mpi\.h": r"trainer/update/mpi/\w+\.c",
    r"cblas.*": r"kernels/cpu/train/gemm_train\.c",
    r"cuda.*": r"kernels/cuda/.*",
    r"nvtx3/.*": r"kernels/cuda/profile\.h",
    r"cublas.*": r"kernels/cuda/gemm(_problem|_race)?\.[ch]",
    r"nccl\.h": r"tests/emu/nccl_header\.c",
    r"gumbo\.h": r"text/format/html/tree\.h",
    r"md4c\.h": r"text/format/markdown\.c",
    r"zip\.h": r"convert/.*|documents/package\.c",
    r"yaml\.h": r"convert/.*|documents/strings/yaml\.c|server/api/page/node\.c",
    r"xxhash\.h": r"(weights|trainer)/.*",
    r"nettle/sha[12]\.h": r"weights/version\.c|store/.*|trainer/data/hash\.c|convert/pull/digest\.h",
    r"curl/.*": r"convert/pull/download\.c",
    r"archive.*\.h": r"convert/pull/unpack\.c",
}


# Rooms of a folder, lowest first: none includes a header of a later one. Files directly in the folder are
# rooms of their own, named by their stem; rooms that are not listed come last.
ROOMS = {
    "model": ["model/config", "model/byte_pieces", "model/params", "model/layers", "model/model", "model/param_block", "model/trace",
              "model/engine", "model/train"],
    "text": ["text/icu", "text/scan", "text/utf8", "text/letter_case", "text/language_code", "text/word_language", "text/words", "text/placeholder_word", "text/placeholder",
             "text/placeholder_program", "text/sentences", "text/numbers", "text/protected", "text/glossary", "text/message_pattern", "text/format",
             "text/tree", "text/detect"],
    "translate": ["translate/no_memory", "translate/layout", "translate/protected", "translate/draft", "translate/translate", "translate/translator",
                  "translate/job", "translate/encode", "translate/search", "translate/answer", "translate/accept", "translate/run", "translate/picture"],
    "convert": ["convert/to", "convert/input", "convert/npz", "convert/yaml", "convert/safetensors", "convert/language", "convert/vocab",
                "convert/output", "convert/tags", "convert/int8", "convert/marian", "convert/bergamot", "convert/ctranslate2", "convert/pickle", "convert/huggingface", "convert/pull"],
    "server": ["server/build", "server/config", "server/histogram", "server/history", "server/metrics_names", "server/metrics", "server/process", "server/http", "server/access", "server/glossaries", "server/models",
               "server/schedule", "server/app", "server/request", "server/uploads", "server/api", "server/certificate", "server/action", "server/service", "server/main"],
    "trainer": ["trainer/progress", "trainer/recipe", "trainer/data", "trainer/detect", "trainer/align", "trainer/prepare",
                "trainer/update", "trainer/score", "trainer/synthetic", "trainer/run", "trainer/args", "trainer/verbs", "trainer/main"],
}

def sources():
    for folder in sorted({f.split("/")[0] for f in ALLOWED}):
        for here, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith((".c", ".h", ".cc", ".cu", ".cuh")):
                    path = os.path.join(here, name)
                    yield os.path.relpath(path, ROOT), open(path, encoding="utf8").read()


def includes():
    for path, text in sources():
        for included in re.findall(r'#include "([^"]+)"', text):
            yield path, included


def folder_of(path):
    return path.split("/")[0]


def room_of(path):
    """Room of a file: server/http/net.c is in server/http, server/config.c in server/config, model/model_internal.h in model/model."""
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else re.sub(r"(_internal)?\.\w+$", "", path)


def level(room):
    rooms = ROOMS[folder_of(room)]
    return rooms.index(room) if room in rooms else len(rooms)


def test_own_includes_follow_the_arrows():
    wrong = []
    for path, included in includes():
        here, there = folder_of(path), folder_of(included)
        if there in ALLOWED and there != here and there not in ALLOWED[here]:
            wrong.append(f"{path} includes {included}")
    assert not wrong, "\n".join(wrong)


def test_only_programs_end_where_memory_is_out():
    """base/alloc.h ends the program when memory is out: only trainer and command line may use it, nothing that the server links."""
    wrong = [path for path, included in includes() if included == "base/alloc.h" and path != "base/alloc.c" and
             folder_of(path) not in ("trainer", "cli")]
    assert not wrong, "\n".join(wrong)
    assert any(included == "base/alloc.h" for _, included in includes())


def test_no_room_includes_upward():
    upward = []
    for path, included in includes():
        here, there = room_of(path), room_of(included)
        if folder_of(path) in ROOMS and folder_of(path) == folder_of(included) and level(there) > level(here):
            upward.append(f"{path} includes {included}")
    assert not upward, "\n".join(upward)


def test_every_room_of_the_list_is_there():
    rooms = {room_of(path) for path, _ in sources()}
    assert not [room for listed in ROOMS.values() for room in listed if room not in rooms]


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
    # layers.h has a comment that its functions serve both devices
    wrong = [w for w in wrong if w != "model/layers/layers.h"]
    assert not wrong, "\n".join(wrong)
