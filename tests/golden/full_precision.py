"""An fp32 copy of an int8 bundle, to compare the answers of a GPU, which has no int8, with the CPU's on the same weights.
Needs only Python's own library and libxxhash: a machine with a GPU may have no more.
Usage: full_precision.py BUNDLE OUT DRAGOMAN"""
import array
import ctypes
import json
import os
import shutil
import struct
import subprocess
import sys

MAGIC = b"DGWT\r\n\x1a\n"
F32, S8 = 0, 3  # weights/FORMAT.md


def xxh3(data):
    lib = ctypes.CDLL("libxxhash.so.0")
    lib.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    lib.XXH3_64bits.restype = ctypes.c_uint64
    return lib.XXH3_64bits(data, len(data))


def padded(data):
    return data + b"\0" * (-len(data) % 64)


def as_f32(file, form, rows):
    kind, _, at, size, _, scales_at, scales_size = struct.unpack_from("<IIQQQQQ", file, form)
    if kind == F32:
        return file[at:at + size]
    assert kind == S8, f"a form of type {kind}"
    scales = array.array("f", file[scales_at:scales_at + scales_size])
    values, out = array.array("b", file[at:at + size]), array.array("f")
    cols = len(values) // rows
    for row in range(rows):
        scale = scales[row]
        out.extend([scale * x for x in values[row * cols:(row + 1) * cols]])
    return out.tobytes()


def weights(file):
    """A weights file with the same tensors, each stored once, row-major in fp32."""
    assert file[:8] == MAGIC and sys.byteorder == "little"
    tensors, forms, names_bytes = struct.unpack_from("<III", file, 40)
    names_at = 64 + 32 * tensors + 64 * forms
    names = file[names_at:names_at + names_bytes]
    header = len(padded(b"\0" * (64 + 96 * tensors) + names))
    entries = form_rows = b""
    blocks, at = [], header
    for i in range(tensors):
        name, length, rows, cols, first, _ = struct.unpack_from("<IIQQII", file, 64 + 32 * i)
        data = as_f32(file, 64 + 32 * tensors + 64 * first, rows)
        assert len(data) == 4 * rows * cols
        entries += struct.pack("<IIQQII", name, length, rows, cols, i, 1)
        form_rows += struct.pack("<IIQQQQQQQ", F32, 0, at, len(data), xxh3(data), 0, 0, 0, 0)
        blocks.append(padded(data))
        at += len(blocks[-1])
    rest = struct.pack("<IIQQIIIIQ", 0x01020304, 1, header, at, tensors, tensors, len(names), 0, 0)
    rest = padded(b"\0" * 16 + rest + entries + form_rows + names)[16:]
    return MAGIC + struct.pack("<Q", xxh3(rest)) + rest + b"".join(blocks)


def copy(bundle, out, dragoman, environment=None):
    """Write the copy to `out`. The program `dragoman`, run in this environment, gives it its version."""
    with open(os.path.join(bundle, "manifest.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    os.makedirs(out)
    for name in set(manifest["files"].values()):
        shutil.copyfile(os.path.join(bundle, name), os.path.join(out, name))
    path = os.path.join(out, manifest["files"]["weights"])
    with open(path, "rb") as f:
        file = f.read()
    with open(path, "wb") as f:
        f.write(weights(file))
    manifest.pop("check", None)  # its log-probability is that of int8
    with open(os.path.join(out, "manifest.json"), "w", encoding="utf-8") as f:
        json.dump(manifest, f, ensure_ascii=False)
    subprocess.run([dragoman, "seal", out], check=True, stdout=subprocess.DEVNULL, env=environment)


if __name__ == "__main__":
    copy(*sys.argv[1:4])
