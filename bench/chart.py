"""Charts as plain SVG, in the reader's light or dark scheme: panels of curves, and groups of bars.

Every colour has a contrast of at least 4.5 with the paper in both schemes, so a curve's name may have the curve's colour; labels
never overlap the curves: they are above and beside them. tests/api/test_chart_pictures.py checks both for all charts.
"""
from html import escape
from math import ceil, floor, log10

PAPER, INK, AXIS, GRID = ("#ffffff", "#0d1117"), ("#1f2328", "#e6edf3"), ("#57606a", "#9aa7b4"), ("#d0d7de", "#36404b")
# (on light paper, on dark paper); colour-blind readers can tell them apart if they are used in this order.
COLOURS = (("#00639b", "#5cb3f0"), ("#a34700", "#ff9d5c"), ("#00694b", "#3ecf9a"), ("#8a3579", "#e39ad3"), ("#6b6100", "#d6c646"),
           ("#4b4fb0", "#a9acff"), ("#a51d2d", "#ff8a92"), ("#595959", "#b8b8b8"))
OURS, PEER = 0, 1
DASHES = ("", "5 4", "2 3")
LETTER = 0.6  # upper estimate of a letter's width, in font sizes


def style():
    def rules(scheme):
        ink, axis, grid, paper = (c[scheme] for c in (INK, AXIS, GRID, PAPER))
        return (f".ink{{fill:{ink}}}.paper{{fill:{paper}}}.axis{{stroke:{axis};fill:none}}.grid{{stroke:{grid};stroke-width:.6}}"
                + "".join(f".c{i}{{color:{c[scheme]}}}" for i, c in enumerate(COLOURS)))
    return ("<style>.line{fill:none;stroke:currentColor;stroke-width:1.8}.mark{fill:currentColor}"
            f"{rules(0)}\n@media(prefers-color-scheme:dark){{{rules(1)}}}</style>")


def colour(i):
    return f"c{i % len(COLOURS)}"


def text(x, y, s, size=12, anchor="start", paint="ink", bold=False):
    """paint: the class "ink" or "paper", or an index into COLOURS."""
    drawn = f'class="{paint}"' if isinstance(paint, str) else f'class="{colour(paint)} mark"'
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" {drawn}{weight}>{escape(s)}</text>'


def width_of(s, size):
    return LETTER * size * len(s)


def document(width, height, parts):
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="system-ui, sans-serif">\n{style()}\n<rect width="100%" height="100%" class="paper"/>\n{body}\n</svg>\n')


def at(x, y, parts):
    return [f'<g transform="translate({x},{y})">', *parts, "</g>"]


# ---- bars

def bars(x, y, width, title, unit, rows):
    """Pairs of bars; rows are (label, ours, CTranslate2's). Our bar shows the ratio of speeds. Returns parts and height."""
    parts, most, here = [text(x, y, title, 14, bold=True)], max(max(a, b) for _, a, b in rows), y + 16
    for label, a, b in rows:
        for name, value, paint in (("Dragoman", a, OURS), ("CTranslate2", b, PEER)):
            length = max((width - 440) * value / most, 2)
            parts.append(f'<rect x="{x + 300}" y="{here}" width="{length:.1f}" height="16" rx="2" class="{colour(paint)} mark"/>')
            parts.append(text(x + 292, here + 12.5, name, 11, "end"))
            after = x + 306 + length
            if paint == OURS:
                ratio = f"{b / a if unit == 'ms' else a / b:.2f}×"
                if length > width_of(ratio, 12) + 6:
                    parts.append(text(x + 296 + length, here + 12.5, ratio, 12, "end", "paper", True))
                else:  # too short for the ratio: write it after the bar
                    parts.append(text(after, here + 12.5, ratio, 12, "start", OURS, True))
                    after += width_of(ratio, 12) + 12
            parts.append(text(after, here + 12.5, f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}", 11))
            here += 18
        parts.append(text(x, here - 14, label, 12))
        here += 8
    return parts, here - y


# ---- curves

def powers(low, high):
    """Tick values for a logarithmic axis."""
    steps = (1, 2, 3, 5) if high < 20 * low else (1, 3) if high < 3000 * low else (1,)
    return [v * 10.0 ** e for e in range(floor(log10(low)), ceil(log10(high)) + 1) for v in steps if low <= v * 10.0 ** e <= high]


def round_numbers(low, high, most=6):
    """Tick values for a linear axis."""
    for e in range(floor(log10((high - low) / most)), 12):
        for v in (1, 2, 5):
            step = v * 10.0 ** e
            if (high - low) / step <= most:
                return [round(i * step, 10) for i in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]
    raise ValueError(f"no numbers between {low} and {high}")


def number(v):
    return f"{v:,.0f}" if abs(v) >= 1000 else f"{v:.4g}"


class Axis:
    def __init__(self, name, values, logarithmic=False, zero=False, ticks=None):
        self.name = name + (", logarithmic" if logarithmic else "")
        self.log = logarithmic
        low, high = min(values), max(values)
        if not logarithmic:
            low = 0 if zero or low == high else low
            high = high if high > low else low + 1
        self.low, self.high, self.ticks = low, high, ticks

    def widen(self, share):
        """Add room above and below the curves."""
        if self.log:
            self.low, self.high = self.low / (1 + 3 * share), self.high * (1 + 3 * share)
        else:
            room = share * (self.high - self.low)
            self.low, self.high = (self.low if self.low == 0 else self.low - room), self.high + room
        return self

    def share(self, v):
        if self.log:
            return log10(v / self.low) / max(log10(self.high / self.low), 1e-9)
        return (v - self.low) / (self.high - self.low)

    def numbers(self):
        if self.ticks:
            return [t for t in self.ticks if self.low <= t <= self.high]
        return powers(self.low, self.high) if self.log else round_numbers(self.low, self.high)


class Curve:
    """paint: an index into COLOURS; dash: an index into DASHES, 0 is solid; dots: draw a dot at each point."""

    def __init__(self, label, points, paint, dash=0, dots=False):
        self.label, self.points, self.paint, self.dash, self.dots = label, sorted(points), paint, dash, dots


def panel(title, x, y, curves, width=390, height=270, marks=()):
    """One chart. x and y are axes; marks are (x, words), each a vertical line with its words above. Returns the parts."""
    named = [c for c in curves if c.label]
    rows, taken = [], []  # rows of the marks' words, so that none overlap
    left, right = 62, width - 16

    def across(v):
        return left + (right - left) * x.share(v)

    for v, words in sorted(marks):
        half = width_of(words, 10) / 2
        middle = min(max(across(v), left + half), right - half)
        row = next((i for i, end in enumerate(taken) if middle - half > end + 4), len(taken))
        taken[row:row + 1] = [middle + half]
        rows.append((v, words, middle, row))
    top, bottom = 56 + 16 * len(named) + 14 * len(taken), height - 44

    def up(v):
        return bottom - (bottom - top) * y.share(v)

    parts = [text(8, 18, title, 13, bold=True), text(8, top - 10 - 14 * len(taken), y.name, 11),
             text((left + right) / 2, height - 8, x.name, 11, "middle")]
    for i, c in enumerate(named):
        key = 34 + 16 * i
        parts += shape(c, [(12, key), (34, key)]) + [text(42, key + 4, c.label, 11, "start", c.paint)]
    for v in y.numbers():
        parts += [f'<path d="M{left} {up(v):.1f}H{right}" class="grid"/>', text(left - 6, up(v) + 3.5, number(v), 10, "end")]
    free = -1e9
    for v in x.numbers():
        half = width_of(number(v), 10) / 2
        if across(v) - half > free + 4:  # leave out numbers that would touch
            parts.append(text(across(v), bottom + 16, number(v), 10, "middle"))
            free = across(v) + half
    parts.append(f'<path d="M{left} {top}V{bottom}H{right}" class="axis"/>')
    for v, words, middle, row in rows:
        parts += [f'<path d="M{across(v):.1f} {top}V{bottom}" class="axis" stroke-dasharray="2 3"/>',
                  text(middle, top - 6 - 14 * (len(taken) - 1 - row), words, 10, "middle")]
    for c in curves:
        parts += shape(c, [(across(a), up(b)) for a, b in c.points])
    return parts


def shape(curve, places):
    dash = f' stroke-dasharray="{DASHES[curve.dash]}"' if curve.dash else ""
    joined = " ".join("%.1f,%.1f" % p for p in places)
    parts = [f'<polyline points="{joined}" class="{colour(curve.paint)} line"{dash}/>']
    if curve.dots:
        parts += ['<circle cx="%.1f" cy="%.1f" r="2.8" class="%s mark"/>' % (*p, colour(curve.paint)) for p in places]
    return parts
