"""The pictures of docs and bench/results in a browser, light and dark: no label touches another or a curve, none is cut off, and all
of them are legible (contrast 4.5 for text, 3 for marks, as WCAG 2 asks)."""
import glob
import json
import os

import pytest

from conftest import ROOT
from web_page import chrome  # noqa: F401

PICTURES = sorted(os.path.relpath(p, ROOT) for folder in ("docs/pictures", "bench/results", "bench/results/paper")
                  for p in glob.glob(os.path.join(ROOT, folder, "*.svg")))

# Script that collects what is drawn: each text with its box and colours, each mark with its colour and the points along it.
SEEN = r"""
const svg = document.documentElement, paper = [...svg.querySelectorAll('rect')].find((r) => r.getAttribute('width') === '100%');
const box = (e) => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
const visible = (colour) => colour !== 'none' && !/^rgba.*, 0\)$/.test(colour);
const texts = [], marks = [], areas = [];
for (const e of svg.querySelectorAll('text, rect, path, polyline, line, circle, polygon')) {
  const css = getComputedStyle(e), name = e.tagName;
  if (e === paper || e.closest('defs, marker')) continue;
  if (name === 'text') {
    texts.push({words: e.textContent, box: box(e), colour: css.fill});
    continue;
  }
  if (visible(css.fill) && (name === 'rect' || name === 'polygon')) areas.push({box: box(e), colour: css.fill});
  if (e.classList.contains('grid')) continue; // rules and backgrounds: nothing is read from them
  const colour = visible(css.stroke) ? css.stroke : css.fill, points = [];
  if (name !== 'rect' && e.getTotalLength) {
    const m = e.getScreenCTM(), n = e.getTotalLength();
    for (let at = 0; at <= n; at += 3) {
      const p = e.getPointAtLength(at).matrixTransform(m);
      points.push([p.x, p.y]);
    }
  }
  marks.push({name, colour, points, box: box(e)});
}
return {paper: paper ? getComputedStyle(paper).fill : 'none', texts, marks, areas, size: box(svg)};
"""


@pytest.fixture(scope="module", params=["light", "dark"])
def scheme(chrome, request):  # noqa: F811
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": request.param}]})
    yield request.param
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def luminance(colour):
    channels = [int(c) / 255 for c in colour[colour.index("(") + 1:-1].split(",")[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_the_contrast_is_wcags():
    """contrast() gives two known values: black on white is 21, and #767676 is the lightest grey allowed for text on white."""
    assert contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)") == pytest.approx(21)
    assert contrast("rgb(118, 118, 118)", "rgb(255, 255, 255)") == pytest.approx(4.54, abs=0.005)


def inside(point, box, room=0):
    return box[0] - room <= point[0] <= box[2] + room and box[1] - room <= point[1] <= box[3] + room


def ink(box):
    """Returns the part of a line's box that letters fill."""
    left, top, right, bottom = box
    return [left, top + 0.15 * (bottom - top), right, bottom - 0.15 * (bottom - top)]


def faults(seen):
    found, texts = [], [{**t, "box": ink(t["box"])} for t in seen["texts"]]
    for i, a in enumerate(texts):
        for b in texts[:i]:
            if a["box"][0] < b["box"][2] and b["box"][0] < a["box"][2] and a["box"][1] < b["box"][3] and b["box"][1] < a["box"][3]:
                found.append(("touch", a["words"], b["words"]))
        if not (inside(a["box"][:2], seen["size"]) and inside(a["box"][2:], seen["size"])):
            found.append(("cut off", a["words"]))
        middle = [(a["box"][0] + a["box"][2]) / 2, (a["box"][1] + a["box"][3]) / 2]
        below = [x for x in seen["areas"] if inside(middle, x["box"])]
        ground = below[-1]["colour"] if below else seen["paper"]
        if below and not (inside(a["box"][:2], below[-1]["box"]) and inside(a["box"][2:], below[-1]["box"])):
            found.append(("wider than its box", a["words"]))
        if contrast(a["colour"], ground) < 4.5:
            found.append(("text", a["words"], a["colour"], ground, round(contrast(a["colour"], ground), 2)))
        found += [("on a line", a["words"], m["name"]) for m in seen["marks"] if any(inside(p, a["box"]) for p in m["points"])]
    for m in seen["marks"]:
        if contrast(m["colour"], seen["paper"]) < 3:
            found.append(("mark", m["name"], m["colour"], round(contrast(m["colour"], seen["paper"]), 2)))
    return found


@pytest.mark.parametrize("path", PICTURES)
def test_every_label_is_legible(chrome, scheme, path):  # noqa: F811
    chrome.get("file://" + os.path.join(ROOT, path))
    seen = chrome.execute_script(SEEN)
    assert len(seen["texts"]) > 8 and seen["paper"] != "none"
    assert faults(seen) == []


def test_faults_are_found(chrome, scheme, tmp_path):  # noqa: F811
    """Finds the faults of a picture that has one of each kind."""
    path = tmp_path / "wrong.svg"
    path.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200" font-size="12"><rect width="100%" height="100%" fill="#fff"/>'
                    '<text x="10" y="20">one label</text><text x="30" y="22">over it</text><text x="280" y="60">out of it</text>'
                    '<text x="10" y="100" fill="#999">pale</text><path d="M10 150H200" stroke="#aaa"/><text x="60" y="154">struck</text></svg>')
    chrome.get("file://" + str(path))
    assert {f[0] for f in faults(chrome.execute_script(SEEN))} == {"touch", "cut off", "text", "mark", "on a line"}


def test_bars_have_their_ratios(chrome):  # noqa: F811
    """The ratios equal those computed here from the figures beside the picture; they are on the bars that are long enough."""
    for path in (p for p in PICTURES if "/cpu-" in p):
        with open(os.path.join(ROOT, path[:-4] + ".json"), encoding="utf-8") as f:
            settings = json.load(f)["settings"]
        wanted = [s["peer"]["p50_ms"] / s["ours"]["p50_ms"] for s in settings if s["mode"] == "latency"]
        wanted += [s["ours"]["tokens_per_s"] / s["peer"]["tokens_per_s"] for s in settings if s["mode"] == "throughput"]
        chrome.get("file://" + os.path.join(ROOT, path))
        seen = chrome.execute_script(SEEN)
        ratios = [t for t in seen["texts"] if t["words"].endswith("×")]
        assert [t["words"] for t in ratios] == ["%.2f×" % w for w in wanted]
        on = [t for t in ratios if any(inside(t["box"][:2], a["box"], 3) and inside(t["box"][2:], a["box"], 3) for a in seen["areas"])]
        assert len(on) >= len(ratios) / 2
