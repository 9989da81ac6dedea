"""model.bin of CTranslate2's versions 4 and 5, made of one of version 6: the same variables, and those that hold the settings which
version 6 has in config.json. For make.py and tests/parity/test_ctranslate2.py."""
import struct

# By the name of an answer in older.json: version, settings, whether version 6's config.json (other settings) is beside the file.
CASES = {
    "nothing": (4, {}, False),
    "flags": (5, {"with_source_eos": True, "with_target_bos": False}, True),
    # Every setting, as later converters of version 5 wrote them.
    "tokens": (5, {"unk_token": "<unk>", "bos_token": "▁Der", "eos_token": "▁Frau", "with_source_bos": False, "with_source_eos": True,
                   "with_target_bos": True, "user_decoder_start_tokens": False}, False),
}


def text(s):
    return struct.pack("<H", len(s.encode()) + 1) + s.encode() + b"\0"


def variable(name, value):
    """A flag is one int8 without dimensions, a text a vector of int8 without NUL."""
    if isinstance(value, str):
        data, shape = value.encode(), [len(value.encode())]
    else:
        data, shape = struct.pack("<b", value), []
    return text(name) + struct.pack(f"<B{len(shape)}IBI", len(shape), *shape, 1, len(data)) + data


def older(data, version, settings):
    """The file `data` of version 6 as one of `version`."""
    begin = 4 + 2 + struct.unpack_from("<H", data, 4)[0] + 4
    n, = struct.unpack_from("<I", data, begin)
    added = b"".join(variable(*s) for s in sorted(settings.items()))
    return struct.pack("<I", version) + data[4:begin] + struct.pack("<I", n + len(settings)) + added + data[begin + 4:]


def without(data, name):
    """The file `data` of version 4 or later without a flag, which may be on several sides ("encoder/NAME", "decoder/NAME")."""
    begin = 4 + 2 + struct.unpack_from("<H", data, 4)[0] + 4
    n, = struct.unpack_from("<I", data, begin)
    rest = data[begin + 4:]
    for side in ("encoder/", "decoder/"):
        for value in (0, 1):
            flag = variable(side + name, value)
            n, rest = n - rest.count(flag), rest.replace(flag, b"")
    return data[:begin] + struct.pack("<I", n) + rest
