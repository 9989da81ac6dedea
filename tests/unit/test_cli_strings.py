"""dragoman translate FILE -o FILE: strings of programs, read again by the tools of those who localise them."""
import shutil
import subprocess

import pytest

from test_cli_documents import DOGS, GIRL, SMILES, SNOW, translate

LRELEASE = shutil.which("lrelease")


def linguist(attributes, *messages):
    return ('<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n<TS %s>\n<context>\n    <name>Window</name>\n%s</context>\n</TS>\n'
            % (attributes, "".join(messages)))


def message(source, translation='<translation type="unfinished"></translation>', attributes=""):
    return f"    <message{attributes}>\n        <source>{source}</source>\n        {translation}\n    </message>\n"


FORMS = '<translation type="unfinished">\n            <numerusform>{0}</numerusform>\n            <numerusform>{0}</numerusform>\n        </translation>'


def test_linguist(tmp_path):
    """As lupdate writes it; lrelease reads every translation."""
    path = tmp_path / "app_de.ts"
    filled = '<translation type="unfinished">{}</translation>'
    others = message("Done", "<translation>Fertig</translation>"), message("Old", '<translation type="vanished">Alt</translation>')
    path.write_text(linguist('version="2.1"', message(DOGS), *others, message(f"{GIRL}\n%n", FORMS.format(""), ' numerus="yes"')))
    out = translate(path)
    assert out.read_text() == linguist('language="de" version="2.1"', message(DOGS, filled.format(SNOW)), *others,
                                       message(f"{GIRL}\n%n", FORMS.format(f"{SMILES}\n%n"), ' numerus="yes"'))
    if LRELEASE:
        told = subprocess.run([LRELEASE, out, "-qm", tmp_path / "app.qm"], capture_output=True, text=True, check=True).stdout
        assert "3 translation(s) (1 finished and 2 unfinished)" in told and "Ignored" not in told


def test_typescript_is_no_linguist(tmp_path):
    path = tmp_path / "app.ts"
    path.write_text("export const greeting: string = 'Two dogs';\n")
    assert "does not begin with <TS>, as files of Qt Linguist do" in translate(path, 1)


@pytest.mark.parametrize("name,content,translated", [
    ("messages.json", f'{{"a": {{"message": "{DOGS}", "description": "{GIRL}"}}}}\n', f'{{"a": {{"message": "{SNOW}", "description": "{GIRL}"}}}}\n'),
    ("app_en.arb", f'{{"@@locale": "en", "a": "{GIRL}"}}\n', f'{{"@@locale": "de", "a": "{SMILES}"}}\n')])
def test_json(tmp_path, name, content, translated):
    path = tmp_path / name
    path.write_text(content)
    assert translate(path).read_text() == translated
