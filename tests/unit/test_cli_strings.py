"""dragoman translate FILE -o FILE: strings of programs, read again by the tools of those who localise them."""
import json
import shutil
import subprocess

import pytest
import yaml

from test_cli_documents import BUNDLE, CLI, DOGS, GIRL, SMILES, SNOW, translate

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


RAILS = """# Files of Rails
en:
  date:
    formats:
      long: "%B %d, %Y"
    order:
      - :year
  dogs: &dogs {dogs} # a comment
  quoted: '{girl}'
  again: *dogs
  sure: yes
  lines: |
    {dogs}
    {girl}

  folded: >-
    Two dogs play
    in the snow.

    {girl}
"""


def test_rails(tmp_path):
    """The file keeps its form, and its root is the target language: under the same root, it would replace the English texts."""
    path = tmp_path / "en.yml"
    path.write_text(RAILS.format(dogs=DOGS, girl=GIRL))
    out = translate(path).read_text()
    assert out == RAILS.format(dogs=SNOW, girl=SMILES).replace("\nen:", "\nde:").replace("Two dogs play\n    in the snow.", SNOW)
    read = yaml.safe_load(out)["de"]
    assert (read["again"], read["sure"], read["lines"], read["folded"]) == (SNOW, True, f"{SNOW}\n{SMILES}\n", f"{SNOW}\n{SMILES}")


@pytest.mark.parametrize("content,why", [("a: [b", "it is not YAML: line 2: did not find expected ',' or ']'"), ("[" * 2000, "line 1: it has more than 999 levels"),
                                         ("".join(f"%TAG !{i}! x\n" for i in range(1001)), "more than 1000 lines begin with %")])
def test_refused_yaml(tmp_path, content, why):
    path = tmp_path / "a.yaml"
    path.write_text(content)
    assert why in translate(path, 1)


def unit(state, value):
    return {"stringUnit": {"state": state, "value": value}}


def test_catalog(tmp_path):
    """Only what the target language lacks is added, for a review; the rest stays as Xcode writes it."""
    path = tmp_path / "Localizable.xcstrings"
    forms = {"one": DOGS, "other": GIRL}
    catalog = {"sourceLanguage": "en", "strings": {
        DOGS: {}, GIRL: {"comment": DOGS, "localizations": {"fr": unit("translated", "x")}},
        "forms": {"localizations": {"en": {"variations": {"plural": {k: unit("translated", v) for k, v in forms.items()}}}}},
        "done": {"localizations": {"de": unit("translated", "Fertig")}}, "Old": {"extractionState": "stale"}}, "version": "1.0"}
    path.write_text(json.dumps(catalog, indent=2, separators=(",", " : ")))
    out = translate(path).read_text()
    strings = catalog["strings"]
    strings[DOGS] = {"localizations": {"de": unit("needs_review", SNOW)}}
    strings[GIRL]["localizations"]["de"] = unit("needs_review", SMILES)
    strings["forms"]["localizations"]["de"] = {"variations": {"plural": {k: unit("needs_review", v) for k, v in (("one", SNOW), ("other", SMILES))}}}
    assert json.loads(out) == catalog
    assert out == json.dumps(json.loads(out), ensure_ascii=False, indent=2, separators=(",", " : "))


def test_json_is_no_catalog(tmp_path):
    path = tmp_path / "a.xcstrings"
    path.write_text('{"strings": {}}')
    assert 'it has no "sourceLanguage" and "strings"' in translate(path, 1)


ARB = """{{
  "@@locale": "{locale}",
  "news": "{{count, plural, =0{{{dogs}}} one{{{girl}}} other{{{dogs} {girl}}}}}",
  "@news": {{"description": "Two dogs", "placeholders": {{"count": {{"type": "int"}}}}}},
  "who": "{{sex, select, female{{{girl}}} other{{{dogs}}}}}"
}}
"""


def test_messages_of_flutter(tmp_path):
    """Each branch is translated as a sentence, and nothing else of the message changes."""
    path = tmp_path / "app_en.arb"
    path.write_text(ARB.format(locale="en", dogs=DOGS, girl=GIRL))
    assert translate(path).read_text() == ARB.format(locale="de", dogs=SNOW, girl=SMILES)


def test_words_around_a_plural(tmp_path):
    """They are in the sentence of each branch, so that they agree with it; other sentences stay beside it."""
    path = tmp_path / "en.json"
    path.write_text(json.dumps({"a": {"defaultMessage": GIRL + " The {color} {n, plural, one {dog plays} other {dogs play}} in the snow.", "description": "x"}}))
    read = json.loads(translate(path).read_text())["a"]["defaultMessage"]
    begin, one, other = SMILES + " {n, plural, one {", ".} other {", ".}}"
    assert read.startswith(begin) and read.endswith(other) and read.count(one) == 1
    assert all(branch.count("{color}") == 1 and "im Schnee" in branch for branch in read[len(begin):-len(other)].split(one)), read


ANGULAR = """<xliff version="1.2"><file original="a" datatype="plaintext" source-language="en" target-language="de"><body><trans-unit id="1"><source>\
{VAR_PLURAL, plural, =0 {Two dogs play in the snow.} other {A girl is smiling at <x id="INTERPOLATION" equiv-text="{{ name }}"/>.}}</source></trans-unit>\
</body></file></xliff>
"""


def test_messages_of_angular(tmp_path):
    path = tmp_path / "messages.xlf"
    path.write_text(ANGULAR)
    target = translate(path).read_text().split("<target>")[1].split("</target>")[0]
    assert target.startswith("{VAR_PLURAL, plural, =0 {%s} other {" % SNOW) and target.endswith("}}")
    assert target.count('<x id="INTERPOLATION" equiv-text="{{ name }}"/>') == 1 and "smiling" not in target


def test_messages_that_stay_are_told(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(f'["{DOGS}",\n "{{n, plural, one {{{GIRL}}}}}"]\n')
    out = path.with_name("b.json")
    done = subprocess.run([CLI, "translate", "--model", BUNDLE, str(path), "-o", str(out)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and json.loads(out.read_text()) == [SNOW, f"{{n, plural, one {{{GIRL}}}}}"]
    assert f"{path}: ICU messages left untranslated: 1 (line 2: ICU cannot read it)\n" in done.stderr
