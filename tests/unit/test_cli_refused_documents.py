"""dragoman translate FILE -o FILE: files that are refused, and the names and places that a translation may have."""
import os
import subprocess
import zipfile

import docx
import pytest

from test_cli_documents import BUNDLE, CLI, DOGS, SNOW, translate


def test_zip_bombs_are_refused(tmp_path):
    """300 MiB of spaces in 300 KB; the same with a header that claims a small size; and too many members."""
    path = tmp_path / "a.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        with z.open("word/document.xml", "w") as f:
            for _ in range(300):
                f.write(b" " * (1 << 20))
    assert "unpacks to more than" in translate(path, 1)
    packed = bytearray(path.read_bytes())
    local, central = packed.find(b"PK\3\4"), packed.find(b"PK\1\2")
    packed[local + 22:local + 26] = packed[central + 24:central + 28] = (1000).to_bytes(4, "little")  # claimed size after unpacking
    path.write_bytes(packed)
    assert "unpacks to more than" in translate(path, 1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for i in range(20001):
            z.writestr(str(i), b"")
    assert "20001 members" in translate(path, 1)


@pytest.mark.parametrize("name, content, said", [
    ("a.pdf", b"%PDF-1.4", "cannot be translated: save them as .docx files"),
    ("a.XLS", b"", "cannot be translated: save them as .xlsx files"),
    ("a.psd", b"8BPS", "cannot be translated: names end in .txt .html .htm .md "),
    ("a.psd", b"8BPS", " .yml .yaml .xcstrings .csv .tsv .php .xhtml .docm "),
    ("a.docx", b"no zip", "broken"),
    ("a.xml", b"<a>", "line 1"),
    ("a.txt", b"caf\xe9", "not UTF-8"),
])
def test_what_is_refused(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    message = translate(tmp_path / name, 1)
    assert said in message and f"dragoman translate: {tmp_path / name}: " in message and not (tmp_path / ("out-" + name)).exists()


@pytest.mark.parametrize("name, member", [
    ("a.docx", "word/document.xml"), ("a.pptx", "ppt/slides/slide1.xml"), ("a.xlsx", "xl/sharedStrings.xml"),
    ("a.xlsx", "xl/tables/table1.xml"), ("a.xlsx", "xl/pivotCache/pivotCacheDefinition1.xml"), ("a.odt", "content.xml"), ("a.epub", "OEBPS/one.xhtml")])
def test_broken_members_are_named(tmp_path, name, member):
    """The message named a line, but not the member that has it."""
    with zipfile.ZipFile(tmp_path / name, "w") as z:
        z.writestr(member, "<worksheetSource><a>\n</worksheetSource>")
    assert "broken: %s: the XML is not well-formed: line 2" % member in translate(tmp_path / name, 1)


@pytest.mark.parametrize("name, out, said", [
    ("a.docx", "a.txt", ".docx file, too"), ("a.docx", "a.odt", ".docx file, too"), ("a.md", "a.docx", ".md file, too"),
    ("a.srt", "a.vtt", ".srt file, too"), ("a.docx", None, "-o FILE")])
def test_no_kind_becomes_another(tmp_path, name, out, said):
    """a.docx -o a.odt wrote a .docx under that name, and a.docx without -o was called a text with a NUL character."""
    if name == "a.docx":
        document = docx.Document()
        document.add_paragraph(DOGS)
        document.save(tmp_path / name)
    else:
        (tmp_path / name).write_text(DOGS)
    done = subprocess.run([CLI, "translate", "--model", BUNDLE, name, *(["-o", out] if out else [])], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr and name in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name, out", [("a.md", "a.txt"), ("a.txt", "a.md"), ("a.htm", "a.HTML"), ("a.pot", "de.po"), ("a.md", "new"), ("a.md", "a.md")])
def test_names_that_say_no_other_kind(tmp_path, name, out):
    (tmp_path / name).write_text('msgid "Two dogs play in the snow."\nmsgstr ""\n' if name == "a.pot" else DOGS + "\n")
    subprocess.run([CLI, "translate", "--model", BUNDLE, name, "-o", out], check=True, cwd=tmp_path)
    assert SNOW in (tmp_path / out).read_text()


def test_wrong_use(tmp_path):
    for options in (["a.txt", "b.txt", "-o", "c.txt"], ["-o", "c.txt"], ["a.txt", "-o", "c.txt", "--json"]):
        done = subprocess.run([CLI, "translate", "--model", BUNDLE, *options], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 2 and "-o takes" in done.stderr


def test_standard_output_by_its_sign(tmp_path):
    """A file called "-" was written."""
    (tmp_path / "a.md").write_text(f"# {DOGS}\n")
    done = subprocess.run([CLI, "translate", "--model", BUNDLE, "a.md", "-o", "-"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, os.listdir(tmp_path)) == (0, f"# {SNOW}\n", ["a.md"]), done.stderr
    with open("/dev/full", "w") as full:
        done = subprocess.run([CLI, "translate", "--model", BUNDLE, "a.md", "-o", "-"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "standard output cannot be written" in done.stderr


@pytest.mark.parametrize("options, said", [
    (["a.txt", "-o", "."], '-o takes a file, not "."'), (["a.txt", "-o", ""], "-o takes a file"),
    (["a.txt", "-o", "none/a.txt"], "there is no folder none/")])
def test_what_could_not_be_written_is_refused_before_the_work(options, said, tmp_path):
    """A place that cannot be written was told after the whole translation."""
    (tmp_path / "a.txt").write_text(DOGS)
    done = subprocess.run([CLI, "translate", "--model", BUNDLE, *options], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and said in done.stderr and done.stdout == ""
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("name, members_", [
    ("a.odt", {"content.xml": b"\xe9\x00\xff", "META-INF/manifest.xml": b"<manifest:encryption-data manifest:checksum=''/>"}),
    ("a.odt", {"encrypted-package": b"\xe9\x00\xff"}),
    ("a.epub", {"a.xhtml": b"\xe9\x00\xff", "META-INF/encryption.xml": b"<enc:CipherReference URI='a.xhtml'/>"}),
    ("a.docx", None)])
def test_encrypted_files_are_refused_as_such(tmp_path, name, members_):
    """They were called broken. Office puts an encrypted .docx into the container of .doc."""
    path = tmp_path / name
    if members_:
        with zipfile.ZipFile(path, "w") as z:
            for member, content in members_.items():
                z.writestr(member, content)
    else:
        path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504))
    assert "the file is encrypted" in translate(path, status=1)
