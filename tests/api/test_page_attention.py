"""The web page's attention view: every kind, layer and head, as lines and as a heat map, by tokens and words, in the server's own numbers."""
import pytest
from selenium.webdriver.common.keys import Keys

from web_page import bundled, chrome, page, pressed, unplugged  # noqa: F401


@pytest.fixture
def attention(page):
    page.translate("The bicycle is in the snow.")
    page.open_sentence()
    page.unfold("attention")
    page.until(lambda: page.all("#att-picture line"))
    return page


def weights(page, kind):
    """Returns the server's own reply, and the heads of its last layer."""
    entry = page.server.post("/v1/attention", {"text": "The bicycle is in the snow.", "translation": page.output(), "source": "en", "target": "de",
                                               "kind": kind}).json()
    return entry, entry["layers"][-1]["heads"]


def drawn_as(page, entry, heads):
    """Waits until the requested weights are drawn; the ones before may have as many layers and heads."""
    page.until(lambda: "arrow keys" in page["att-note"].text)
    assert len(page.all("#att-layer option")) == len(entry["layers"]) and len(page.all("#att-head option")) == len(heads) + 2


# For each layer and head, chosen in the page's own lists: the lines as [row, column, opacity] and the cells of the heat map.
DRAWN = r"""
const $ = (id) => document.getElementById(id), found = [];
const choose = (id, value) => { $(id).value = value; $(id).dispatchEvent(new Event('change')); };
const at = (y) => Math.round((y - 14) / 24);
for (let layer = 0; layer < arguments[0]; layer++)
  for (let head = 0; head < arguments[1]; head++) {
    choose('att-layer', String(layer));
    choose('att-head', String(head));
    choose('att-view', 'lines');
    const lines = [...document.querySelectorAll('#att-picture line')].map((l) =>
      [at(Number(l.getAttribute('y1'))), at(Number(l.getAttribute('y2'))), Number(l.getAttribute('stroke-opacity')), Number(l.getAttribute('stroke-width'))]);
    const labels = [...document.querySelectorAll('#att-picture text')].map((t) => t.textContent);
    choose('att-view', 'map');
    const cells = [...document.querySelectorAll('#att-picture .cell')].map((c) => Number(c.getAttribute('fill-opacity')));
    found.push({layer, head, lines, labels, cells});
  }
return found;"""


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_every_head_of_every_layer_is_drawn(attention, kind):
    """Lines (Figures 3 to 5 of the paper) and heat map, against the server's own weights."""
    page = attention
    entry, heads = weights(page, kind)
    page.choose("att-kind", kind)
    drawn_as(page, entry, heads)
    shown = {t: t.replace("▁", "␣") for t in entry["source_tokens"] + entry["target_tokens"]}
    rows = entry["source_tokens"] if kind == "encoder" else entry["target_tokens"]
    columns = entry["target_tokens"] if kind == "decoder" else entry["source_tokens"]
    if kind == "decoder":  # the decoder reads the tokens before the one that it writes
        rows = columns = ["(start)", *entry["target_tokens"][:-1]]
    drawn = page.driver.execute_script(DRAWN, len(entry["layers"]), len(heads))
    assert len(drawn) == len(entry["layers"]) * len(heads)
    different = set()
    for d in drawn:
        table = entry["layers"][d["layer"]]["heads"][d["head"]]
        assert d["labels"] == [shown.get(t, t) for t in [*rows, *columns]]
        wanted = {(r, c): w for r, row in enumerate(table) for c, w in enumerate(row) if w >= 0.03}
        assert {(r, c) for r, c, _, _ in d["lines"]} == set(wanted)
        for r, c, opacity, width in d["lines"]:
            assert opacity == pytest.approx(min(1, wanted[r, c]), abs=0.0006) and width == pytest.approx(0.5 + 3 * wanted[r, c], abs=0.006)
        assert d["cells"] == pytest.approx([w for row in table for w in row], abs=0.0006)
        different.add(tuple(d["cells"]))
    assert len(different) == len(drawn)


def test_a_row_is_looked_at_alone(attention):
    """Arrow keys select a row as pointing does: its weights stay, all others fade, and the strongest are named."""
    page = attention
    entry, heads = weights(page, "cross")
    mean = [[sum(h[r][c] for h in heads) / len(heads) for c in range(len(heads[0][0]))] for r in range(len(heads[0]))]
    note = page["att-note"].text
    assert "arrow keys" in note
    page.driver.execute_script("document.getElementById('att-picture').focus()")
    pressed(page, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    best = max(range(len(mean[1])), key=lambda c: mean[1][c])
    wanted = "%s looks at %s %.0f %%" % (entry["target_tokens"][1].replace("▁", "␣"), entry["source_tokens"][best].replace("▁", "␣"), 100 * mean[1][best])
    assert page["att-note"].text.startswith(wanted)
    lit = [line for line in page.all("#att-picture line") if float(line.get_attribute("stroke-opacity")) > 0.03]
    assert {round((float(line.get_attribute("y1")) - 14) / 24) for line in lit} == {1}
    pressed(page, Keys.ESCAPE)
    assert page["att-note"].text == note and page["sentence"].is_displayed()
    page.choose("att-view", "map")
    pressed(page, Keys.ARROW_DOWN)
    assert len(page.all("#att-picture g.aside")) == len(entry["target_tokens"]) - 1
    pressed(page, Keys.ARROW_UP, Keys.ESCAPE)
    assert not page.all("#att-picture g.aside")
    pressed(page, Keys.ESCAPE)
    assert not page["sentence"].is_displayed()


def test_weights_are_asked_for_after_those_that_did_not_come(attention):
    """After one failure, the picture before it stayed whatever was chosen."""
    page = attention
    with unplugged(page.driver, "*/v1/attention"):
        page.choose("att-kind", "encoder")
        page.until(lambda: page["error"].is_displayed())
    page.choose("att-kind", "decoder")
    page.until(lambda: "(start)" in [text.text for text in page.all("#att-picture text")])
    assert not page["error"].is_displayed()


CELLS = "return [...document.querySelectorAll('#att-picture .cell')].map((c) => Number(c.getAttribute('fill-opacity')))"


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_attention_is_drawn(attention, kind):
    page = attention
    entry, heads = weights(page, kind)
    page.choose("att-kind", kind)
    drawn_as(page, entry, heads)
    page.choose("att-layer", str(len(entry["layers"]) - 1))
    assert "→" in page["att-picture"].get_attribute("aria-label")
    page.choose("att-view", "map")
    page.choose("att-head", "1")
    assert page.driver.execute_script(CELLS) == pytest.approx([w for row in heads[1] for w in row], abs=0.0006)
    page.choose("att-head", "mean")
    mean = [sum(h[r][c] for h in heads) / len(heads) for r in range(len(heads[0])) for c in range(len(heads[0][0]))]
    assert page.driver.execute_script(CELLS) == pytest.approx(mean, abs=0.0006)
    assert page["att-note"].text.startswith("Rows")


def test_tokens_are_added_up_to_words(attention):
    """A word in a column gets the sum of its tokens' weights, a word in a row the mean."""
    page = attention
    entry, heads = weights(page, "cross")
    page.choose("att-view", "map")
    page.choose("att-head", "0")
    assert len(page.driver.execute_script(CELLS)) == len(entry["target_tokens"]) * len(entry["source_tokens"])
    page.choose("att-unit", "words")
    begins = lambda tokens: [i for i, t in enumerate(tokens) if i == 0 or t.startswith("▁") or t == "</s>" or tokens[i - 1].startswith("<")] + [len(tokens)]
    rows, columns = begins(entry["target_tokens"]), begins(entry["source_tokens"])
    assert len(columns) - 1 < len(entry["source_tokens"]) or len(rows) - 1 < len(entry["target_tokens"])
    wanted = [sum(heads[0][i][j] for i in range(a, b) for j in range(c, d)) / (b - a)
              for a, b in zip(rows, rows[1:]) for c, d in zip(columns, columns[1:])]
    assert page.driver.execute_script(CELLS) == pytest.approx(wanted, abs=0.0006)
    labels = [t.text for t in page.all("#att-picture text")]
    assert "snow." in labels and not any("␣" in label for label in labels)
    page.choose("att-unit", "tokens")
    assert any(t.text.startswith("␣") for t in page.all("#att-picture text"))


def test_heads_are_labelled(attention):
    page = attention
    entry, heads = weights(page, "encoder")
    page.choose("att-kind", "encoder")
    drawn_as(page, entry, heads)
    page.choose("att-layer", str(len(entry["layers"]) - 1))
    page.choose("att-head", "all")
    page.until(lambda: len(page.all("#att-picture .heads li")) == len(heads))
    labels = [li.text for li in page.all("#att-picture .heads li")]
    assert [label.split(":")[0] for label in labels] == ["Head %d" % (i + 1) for i in range(len(heads))]
    # A label that names a place names the one with the most weight, and its share.
    places = {"the first token": lambda r, n: 0, "the end": lambda r, n: n - 1, "the token before": lambda r, n: r - 1,
              "the token itself": lambda r, n: r, "the next token": lambda r, n: r + 1}
    for label, head in zip(labels, heads):
        n = len(head)
        share = {name: [head[r][at(r, n)] for r in range(n) if 0 <= at(r, n) < n] for name, at in places.items()}
        share = {name: sum(found) / len(found) for name, found in share.items()}
        best = max(share, key=share.get)
        if share[best] >= 0.4:
            assert label.endswith(": %s, %.0f %%" % (best, 100 * share[best]))
        else:
            assert label.endswith(("one token each", "several tokens"))
    colours = page.driver.execute_script("return [...new Set([...document.querySelectorAll('#att-picture line')].map((l) => getComputedStyle(l).stroke))]")
    assert len(colours) == min(len(heads), 8)
    page.choose("att-view", "map")
    assert [c.text for c in page.all("#att-picture figcaption")] == labels
