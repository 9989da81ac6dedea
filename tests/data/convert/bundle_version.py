#!/usr/bin/env python3
"""The version of the small bundle in tests/unit/test_bundle.c, computed from FORMAT.md alone, without the program.
Prints the constant for the test. Run from the repository's root."""
import hashlib
import json
import re
import struct

FORMAT = open("weights/FORMAT.md", encoding="utf-8").read()
HEX = re.search(r"```hex\n(.*?)```", FORMAT, re.S).group(1)
WEIGHTS = bytes(int(b, 16) for line in HEX.splitlines() for b in line.split()[1:17])

MANIFEST = {
    "name": "tiny", "format": 1,
    "pairs": [["en", "de"], ["en", "pt-BR"]],
    "tags": {"pt-BR": "<2pt>", "de": "<2de>"},
    "files": {"weights": "w.dgw", "source_spm": "s.spm", "source_vocab": "s.vocab", "target_vocab": "t.vocab"},
    "model": {"zeta": 1, "alpha": [0.6, True, None, {"b": 1, "a": "ü"}]},
    "alignment_layer": 2,
}
FILES = [("weights", WEIGHTS), ("source_spm", b"spm\0bytes"), ("source_vocab", b"</s>\n<unk>\n"),
         ("target_vocab", b"</s>\n<unk>\n<2de>\n<2pt>\n")]

sha = hashlib.sha256()
text = json.dumps(MANIFEST, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
for name, data in [("manifest", text)] + FILES:
    sha.update(name.encode() + b"\0" + struct.pack("<Q", len(data)) + data)
print(sha.hexdigest())
