"""What the benchmarks share: lines of texts, and results on standard output and in a file."""
import gzip
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench"))

import record  # noqa: E402
import texts  # noqa: E402


def test_only_a_line_feed_ends_a_line(tmp_path):
    """As for `dragoman translate` and scripts/get-data: the other side of a corpus would be shifted otherwise."""
    content = "one\rsentence\nzwei\x85Teile\r\ntrois\u2028lignes\n".encode()
    (tmp_path / "plain").write_bytes(content)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(content))
    for name in ("plain", "packed.gz"):
        assert texts.lines(str(tmp_path / name), None) == ["one\rsentence", "zwei\x85Teile", "trois\u2028lignes"]
        assert texts.lines(str(tmp_path / name), 1) == ["one\rsentence"]


def test_a_result_is_printed_and_written_alike(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    result = {"name": "Größe", "values": [1, 2]}
    record.show(result, None)
    assert json.loads(capsys.readouterr().out) == result and not os.listdir(tmp_path)
    for path in ("figures.txt", str(tmp_path / "new" / "result.json")):
        record.show(result, path)
        assert capsys.readouterr().out == open(path, encoding="utf-8").read()
    assert sorted(os.listdir(tmp_path)) == ["figures.txt", "new"]
