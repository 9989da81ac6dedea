"""Reports what has become slower since the committed results of the same machine."""
import os

import record

MOST = 1.05  # ratio that runs on quiet cores may reach by chance
MOST_OTHERS = 0.1  # cores that other programs may use


def name(setting):
    short = ", ours with a shortlist" if setting.get("shortlist") else ""
    return f"{setting['type']} {setting['mode']}, beam {setting['beam']}, {setting['workers']} x {setting['threads']} threads{short}"


def slower(old, new):
    """[(setting, ratio of times)] of our own settings and steps that both results have, where the ratio is above MOST."""
    known, found = {name(s): s["ours"] for s in old.get("settings", [])}, []
    for setting in new.get("settings", []):
        before, now = known.get(name(setting)), setting["ours"]
        key = "p50_ms" if "p50_ms" in now else "tokens_per_s"
        if before and before.get(key) and now[key]:
            found.append((name(setting), now[key] / before[key] if key == "p50_ms" else before[key] / now[key]))
    steps = {(s["sentences"], s["beam"], s["threads"]): s["step_ms"] for s in old.get("steps", [])}
    for step in new.get("steps", []):
        at = (step["sentences"], step["beam"], step["threads"])
        if steps.get(at):
            found.append((f"step, {at[0]} x beam {at[1]}, {at[2]} thread(s)", step["step_ms"] / steps[at]))
    return [(what, times) for what, times in found if times > MOST]


def weaker(old, new):
    """[(limit, cores, before, now)] of the machine's limits that were lower by more than MOST: the programs are not to blame for that."""
    found = []
    for limit, now in new.get("limits_of_one_core", {}).items():
        before = old.get("limits_of_one_core", {}).get(limit)
        pairs = [(cores, before.get(cores), x) for cores, x in now.items()] if isinstance(now, dict) and isinstance(before, dict) else \
            [("1", before, now)] if isinstance(before, (int, float)) else []
        found += [(limit, cores, b, n) for cores, b, n in pairs if b and n and b / n > MOST]
    return found


def say(path, new):
    """Compare with the file, if it exists and is from the same processor, and print what is slower."""
    if not os.path.exists(path):
        print(f"no table of this machine yet: {path}")
        return
    old = record.read(path)
    if old.get("machine", {}).get("cpu") != new["machine"].get("cpu"):
        print(f"{path} is of another processor: nothing is compared")
        return
    found = slower(old, new)
    for what, times in found:
        print(f"SLOWER than in {path}: {what}: {times:.2f} times")
    for limit, cores, before, now in weaker(old, new) if found else []:
        print(f"the machine itself gave less: {limit} of {cores} core(s) {now} instead of {before}")
    others = max((x for s in new.get("settings", []) for x in s["ours"].get("foreign_cpus", [])), default=0)
    if others > MOST_OTHERS:
        print(f"others used up to {others:.1f} cores meanwhile: what is slower may be theirs")
    print(f"{len(found)} regressions of more than {100 * (MOST - 1):.0f} % beside {path} ({old.get('date')})")
