"""Charts of benchmark results as plain SVG, readable in light and dark pages alike."""
from html import escape
from math import log10

OURS, PEER, INK, FAINT = "#2a8fb5", "#b8863b", "ink", "faint"
CURVES = (OURS, PEER, "#9170b5", "#5c9a4a", "#c0605a", "#5577cc", "#94942e")
# Pictures in a page follow its reader's scheme by themselves; the curves' colours are read on white and on black.
STYLE = ("<style>.ink{fill:#3d444d}.faint{stroke:#b9c0c5}"
         "@media(prefers-color-scheme:dark){.ink{fill:#d1d7e0}.faint{stroke:#4a525c}}</style>")


def text(x, y, s, size=12, anchor="start", colour=INK):
    paint = 'class="ink"' if colour == INK else f'fill="{colour}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" {paint}>{escape(s)}</text>'


def document(width, height, parts):
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="system-ui, sans-serif">\n{STYLE}\n{body}\n</svg>\n')


def bars(x, y, width, title, unit, rows):
    """A group of pairs of bars; rows are (label, ours, theirs), the ratio of speeds beside ours. Returns parts and height."""
    parts, most, at = [text(x, y, title, 14)], max(max(a, b) for _, a, b in rows), y + 16
    for label, a, b in rows:
        for name, value, colour in (("Dragoman", a, OURS), ("CTranslate2", b, PEER)):
            length = (width - 480) * value / most
            parts.append(f'<rect x="{x + 290}" y="{at}" width="{length:.1f}" height="13" rx="2" fill="{colour}"/>')
            parts.append(text(x + 282, at + 11, name, 11, "end"))
            ratio = (b / a if unit == "ms" else a / b) if colour == OURS else None
            number = f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
            parts.append(text(x + 296 + length, at + 11, number + (f", {ratio:.2f} times as fast" if ratio else ""), 11))
            at += 16
        parts.append(text(x, at - 14, label, 12))
        at += 6
    return parts, at - y


def compare_chart(result):
    parts, y = [], 20
    for mode, unit, title in (("latency", "ms", "One sentence, milliseconds (less is better)"),
                              ("throughput", "tokens/s", "512 sentences on two cores, tokens a second (more is better)")):
        key = "p50_ms" if mode == "latency" else "tokens_per_s"
        rows = [(f"{s['type']}, {'beam 4' if s['beam'] == 4 else 'greedy'}{', shortlist' if s.get('shortlist') else ''}"
                 + (f", {s['threads']} thread" + "s" * (s['threads'] > 1) if mode == "latency" else ""),
                 s["ours"][key], s["peer"][key]) for s in result["settings"] if s["mode"] == mode]
        more, height = bars(10, y, 760, title, unit, rows)
        parts += more
        y += height + 22
    machine = result["machine"]
    parts.append(text(10, y, result["model"], 10))
    parts.append(text(10, y + 14, f"{machine['cores']} cores of {machine['cpu']} ({', '.join(machine['flags'])}), {result['date']}", 10))
    return document(780, y + 26, parts)


def curve_chart(title, x_name, y_name, curves, width=380, height=260):
    """Lines over two logarithmic axes; curves are (label, [(x, y)]). Returns the parts of a group of that size."""
    # The curves' names are above the axes, where no curve is.
    left, bottom, top, right = 52, height - 40, 44 + 13 * len(curves), width - 14
    xs, ys = [x for _, c in curves for x, _ in c], [y for _, c in curves for _, y in c]
    x0, x1, y0, y1 = min(xs), max(xs), min(ys) / 1.3, max(ys) * 1.3

    def place(x, y):
        return (left + (right - left) * log10(x / x0) / max(log10(x1 / x0), 1e-9),
                bottom - (bottom - top) * log10(y / y0) / log10(y1 / y0))

    parts = [text(8, 18, title, 13), text((left + right) / 2, height - 8, x_name, 11, "middle"), text(8, top - 8, y_name, 10),
             f'<path d="M{left} {top}V{bottom}H{right}" fill="none" class="faint"/>']
    free = left - 99
    for x in sorted(set(xs)):
        at, half = place(x, y0)[0], 2.8 * len(f"{x:g}")
        if at - half > free + 4:  # numbers that would touch are left out
            parts.append(text(at, bottom + 14, f"{x:g}", 9, "middle"))
            free = at + half
    for y in (v * 10.0 ** e for e in range(-3, 7) for v in ((1, 3) if y1 > 20 * y0 else (1, 2, 3, 5))):
        if y0 <= y <= y1:
            parts.append(text(left - 5, place(x0, y)[1] + 3, f"{y:g}", 9, "end"))
            parts.append(f'<path d="M{left} {place(x0, y)[1]:.1f}H{right}" class="faint" stroke-width="0.4"/>')
    for i, (label, curve) in enumerate(curves):
        colour = CURVES[i % len(CURVES)]
        points = " ".join("%.1f,%.1f" % place(x, y) for x, y in sorted(curve))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        parts.append(text(left + 8, 34 + 13 * i, label, 10, colour=colour))
    return parts


def loss_chart(result):
    """Training loss over updates, a line for each run (compare_loss.py's result)."""
    width, height, left, bottom, top, right = 640, 360, 44, 318, 30, 628
    lines = [(x, x["lines"]) for x in result["runs"]]
    last = result["updates"]
    most, least = max(y for _, c in lines for _, y in c), min(y for _, c in lines for _, y in c) * 0.9

    def place(x, y):
        return left + (right - left) * x / last, bottom - (bottom - top) * (y - least) / max(most - least, 1e-9)

    parts = [text(8, 18, "Training loss per target token, label smoothing included", 13),
             f'<path d="M{left} {top}V{bottom}H{right}" fill="none" class="faint"/>',
             text((left + right) / 2, height - 10, "updates", 11, "middle"), text(left + 6, top + 4, "nats", 10)]
    for x in range(0, last + 1, result["every"]):
        parts.append(text(place(x, least)[0], bottom + 14, f"{x}", 9, "middle"))
    for y in range(int(least) + 1, int(most) + 1):
        parts.append(text(left - 5, place(0, y)[1] + 3, f"{y}", 9, "end"))
        parts.append(f'<path d="M{left} {place(0, y)[1]:.1f}H{right}" class="faint" stroke-width="0.4"/>')
    for i, (run, curve) in enumerate(lines):
        ours = run["program"] == "dragoman"
        colour, dash = (OURS if ours else PEER), ("" if run["seed"] == lines[0][0]["seed"] else ' stroke-dasharray="4 3"')
        points = " ".join("%.1f,%.1f" % place(x, y) for x, y in curve)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.4"{dash}/>')
        parts.append(f'<path d="M{right - 240} {top + 8 + 14 * i}h24" stroke="{colour}" stroke-width="1.8" fill="none"{dash}/>')
        part = "" if run["updates"] >= last else f", {run['updates']} updates so far"
        parts.append(text(right - 210, top + 12 + 14 * i, f"{'Dragoman' if ours else 'PyTorch'}, seed {run['seed']}{part}", 11,
                          colour=colour))
    return document(width, height, parts)
