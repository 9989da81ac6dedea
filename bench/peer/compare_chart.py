"""Draws compare.py's figures as pairs of bars: one sentence at a time, and many."""
import chart

KINDS = (("latency", "ms", "p50_ms", "One sentence: milliseconds, less is better"),
         ("throughput", "tokens/s", "tokens_per_s", "512 sentences on two cores: tokens a second, more is better"))


def label(setting):
    threads = f", {setting['threads']} thread{'s' * (setting['threads'] > 1)}" if setting["mode"] == "latency" else ""
    return f"{setting['type']}, {'beam 4' if setting['beam'] == 4 else 'greedy'}{', shortlist' if setting.get('shortlist') else ''}{threads}"


def draw(result):
    parts, y = [chart.text(10, 20, "On each bar of Dragoman: how many times as fast it is as CTranslate2", 12)], 48
    for mode, unit, key, title in KINDS:
        rows = [(label(s), s["ours"][key], s["peer"][key]) for s in result["settings"] if s["mode"] == mode]
        more, height = chart.bars(10, y, 780, title, unit, rows)
        parts += more
        y += height + 22
    machine = result["machine"]
    parts.append(chart.text(10, y, result["model"], 10))
    parts.append(chart.text(10, y + 16, f"{machine['cores']} cores of {machine['cpu']} ({', '.join(machine['flags'])}), {result['date']}", 10))
    return chart.document(800, y + 28, parts)
