"""A result of compare.py as Markdown: the machine's limits, the comparison, and where a step's time goes."""


def row(*cells):
    return "| " + " | ".join(str(c) for c in cells) + " |"


def limits(result):
    found = result["limits_of_one_core"]
    lines = [row("limit, measured in the same run", "one core", "two cores"), "|---|---|---|"]
    for name, key in (("reading memory, GB/s", "memory_gb_s"), ("reading a step's weights again and again, GB/s", "step_weights_gb_s")):
        lines.append(row(name, found[key]["1"], found[key].get("2", "")))
    for name, key in (("float32, GFLOP/s", "fp32_gflop_s"), ("int8, GOP/s", "int8_gop_s"), ("int8 with paired sums, GOP/s", "int8_paired_gop_s")):
        if key in found:
            lines.append(row(name, found[key], ""))
    return lines


def setting_name(s):
    size = f"{s['threads']} thread{'s' * (s['threads'] > 1)}" if s["mode"] == "latency" else f"512 sentences, {s['workers']} workers"
    return f"{s['type']}, {'beam 4' if s['beam'] == 4 else 'greedy'}, {size}" + (", ours with a shortlist" if s.get("shortlist") else "")


def comparison(result):
    lines = [row("setting", "Dragoman", "CTranslate2", "ratio", "by CPU time", "spread of ours", "cores of others"), "|---|---|---|---|---|---|---|"]
    for s in result["settings"]:
        key, unit = ("p50_ms", "ms") if s["mode"] == "latency" else ("tokens_per_s", "tokens/s")
        fewer = " (1 thread)" if s.get("peer_threads", s["threads"]) < s["threads"] else ""
        lines.append(row(setting_name(s), f"{s['ours'][key]:,.0f} {unit}", f"{s['peer'][key]:,.0f} {unit}{fewer}", f"{s['times_as_fast']:.2f}",
                         f"{s['times_as_fast_by_cpu_time']:.2f}", f"{s['ours']['spread_percent']:.0f} %", max(s["ours"]["foreign_cpus"])))
    return lines


def step_name(s):
    what = "one sentence" if s["sentences"] == 1 else f"{s['sentences']} sentences"
    return f"{what}, {'greedy' if s['beam'] == 1 else 'beam ' + str(s['beam'])}" + (f", {s['threads']} threads" if s["threads"] > 1 else "")


def operations(result):
    """A table of the ops of encoding and decoding with a column for each run: per cent of its total time, and GOP/s of the products."""
    steps = result["steps"]
    names = dict.fromkeys((o["phase"], o["op"]) for s in steps for o in s["ops"])
    tables = [{(o["phase"], o["op"]): o for o in s["ops"]} for s in steps]
    lines = [row("", "", *(step_name(s) for s in steps)), row(*["---"] * (2 + len(steps)))]
    for phase, op in names:
        cells = []
        for table in tables:
            o = table.get((phase, op))
            cells.append("" if not o else f"{o['percent']:.1f} %" + (f" ({o['gop_s']:.0f})" if o.get("gop_s") else ""))
        lines.append(row(phase, op, *cells))
    lines.append(row("", "together", *(f"{s['ops_percent']:.1f} %" for s in steps)))
    lines.append(row("a step", "ms", *(f"{s['step_ms']:.2f}" for s in steps)))
    for key, name in (("percent_of_reading_memory", "of reading memory"),
                      ("percent_of_reading_weights", "of reading the same weights again and again")):
        lines.append(row("", name, *("" if s[key] is None else f"{s[key]} %" for s in steps)))
    for key, name in (("percent_of_int8_limit", "of the int8 limit"), ("percent_of_int8_paired_limit", "with paired sums")):
        if key in steps[0]:
            lines.append(row("", name, *(f"{s[key]} %" for s in steps)))
    return lines


def document(result):
    machine = result["machine"]
    lines = [f"# {machine['cpu']}, {machine['cores']} cores ({', '.join(machine['flags'])})", "",
             f"{result['date']}, revision {result['revision']}; {result['model']}. Made by `make bench`; explained in",
             "[docs/cpu.md](../../docs/cpu.md).", "", *limits(result), "", "## Beside CTranslate2", "", *comparison(result), "",
             "## Where the time goes", "", "Per cent of a run of encoding 27 tokens and decoding 27; GOP/s of the matrix products in brackets.", "",
             *operations(result), ""]
    if "memory" in result:
        m = result["memory"]
        lines += [f"Memory with {m['sentences']} sentences of {m['source']} tokens in flight, beam {m['beam']}, {m['length']} positions each: "
                  f"{m['resident_mb']} MB resident.", ""]
    return "\n".join(lines)
