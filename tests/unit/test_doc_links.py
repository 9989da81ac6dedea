"""Every relative link in a document leads to an existing file, and to a heading in it."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK = re.compile(r"\]\(([^)\s]+)\)")


def documents():
    for folder in (".", "docs", "trainer", "weights", "weights/bundles/en-de-fr", "bench/results", "bench/gpu", "tests/golden", "tests/emu"):
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            if name.endswith(".md"):
                yield os.path.normpath(os.path.join(folder, name))


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def without_code(text):
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text):
    """Anchors of the headings as on GitHub: lower case, only letters, digits, - and _, hyphens for blanks; a repeated one ends in -1."""
    seen = {}
    for line in re.sub(r"```.*?```", "", text, flags=re.S).splitlines():
        heading = re.match(r"#+ +(.*)", line)
        if heading:
            name = re.sub(r"[^\w\- ]", "", heading[1].strip().lower()).replace(" ", "-")
            n = seen.setdefault(name, 0)
            seen[name] += 1
            yield name if n == 0 else f"{name}-{n}"


def broken(document):
    for link in LINK.findall(without_code(text_of(document))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document
        if not os.path.exists(os.path.join(ROOT, target)):
            yield f"{document}: {link}: no such file"
        elif anchor and target.endswith(".md") and anchor not in set(anchors(text_of(target))):
            yield f"{document}: {link}: no such heading"


def test_links_lead_somewhere():
    found = list(documents())
    assert len(found) > 20
    assert not [b for d in found for b in broken(d)]


def test_a_broken_link_is_found(monkeypatch):
    monkeypatch.setattr("builtins.open", lambda *a, **k: __import__("io").StringIO("# One\n[a](gone.md) [b](#one) [c](#two)\n"))
    assert list(broken("README.md")) == ["README.md: gone.md: no such file", "README.md: #two: no such heading"]
