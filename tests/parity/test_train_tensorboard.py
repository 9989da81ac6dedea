"""`dragoman-train run --tensorboard DIR`: event files as TensorBoard writes and reads them."""
import json
import struct

import pytest
from train_runs import command, log, run
from train_runs import data  # noqa: F401  fixtures

TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    TABLE.append(n)


def masked_crc(block):
    crc = 0xFFFFFFFF
    for byte in block:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_checksum():
    """Check masked_crc against the check value of CRC-32C (RFC 3720 B.4)."""
    crc = masked_crc(b"123456789")
    crc = (crc - 0xA282EAD8) & 0xFFFFFFFF
    assert (crc >> 17 | crc << 15) & 0xFFFFFFFF == 0xE3069283


def fields(message):
    """(number, value) of each field of a protobuf message; values are integers or bytes."""
    at = 0

    def varint():
        nonlocal at
        x = shift = 0
        while True:
            byte = message[at]
            at += 1
            x |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return x

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        size = {1: 8, 5: 4}.get(key & 7) or varint()
        yield key >> 3, message[at:at + size]
        at += size


def events(path):
    raw, at = path.read_bytes(), 0
    while at < len(raw):
        size, crc = struct.unpack_from("<QI", raw, at)
        assert crc == masked_crc(raw[at:at + 8])
        block = raw[at + 12:at + 12 + size]
        assert struct.unpack_from("<I", raw, at + 12 + size)[0] == masked_crc(block)
        at += 16 + size
        yield dict(fields(block))


def scalars(path):
    """{tag: {step: value}} of an event file."""
    out = {}
    for event in events(path):
        for _, value in fields(event.get(5, b"")):
            value = dict(fields(value))
            out.setdefault(value[1].decode(), {})[event[2]] = struct.unpack("<f", value[2])[0]
    return out


def test_event_files(data, tmp_path):
    out, folder = tmp_path / "run", tmp_path / "events"
    run(command(data, out, "--tensorboard", str(folder), "--set", "training.updates=8", "--set", "validation.every=4",
                "--no-scores"))
    file, = folder.iterdir()
    first, start, *_ = events(file)
    assert first[3] == b"brain.Event:2" and struct.unpack("<d", first[1])[0] > 1.7e9
    assert start[2] == 1 and dict(fields(start[7])) == {1: 1}
    got = scalars(file)
    for kind, names in ("train", {"loss": "loss", "perplexity": "ppl", "learning_rate": "lr", "gradient_norm": "grad_norm",
                                  "tokens_per_second": "tokens_per_s"}), \
                       ("valid", {"loss": "loss", "perplexity": "ppl", "bleu": "bleu", "chrf": "chrf"}):
        for name, key in names.items():
            tag = f"{'train' if kind == 'train' else 'dev'}/{name}"
            # The log keeps nine digits: rounded to float32, they may differ from the event's value by one unit in the last place.
            want = {x["update"]: pytest.approx(x[key], rel=2**-23) for x in log(out, kind)}
            assert got.pop(tag) == want and len(want) == 2, tag
    assert not got
    # A resumed run writes its own file, which says where it resumes.
    run(command(data, out, "--quiet", "--tensorboard", str(folder), "--set", "training.updates=12", "--no-scores",
                verb="resume"))
    # Sorted by time: within the same second, names are ordered by process id.
    older, newer = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    assert older == file and list(events(newer))[1][2] == 9
    assert list(scalars(newer)["train/loss"]) == [12]
    assert json.loads((out / "bundle" / "manifest.json").read_text())["training"]["updates"] == 12
    # If the folder cannot be made, the run is refused before training, with the option's name.
    said = run(command(data, tmp_path / "other", "--tensorboard", str(file / "x")), expect=1)
    assert "--tensorboard: cannot make" in said
