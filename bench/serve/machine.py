"""What was measured on, and who else used it meanwhile."""
import os
import platform
import re


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        names = re.findall(r"^model name\s*:\s*(.*)$", f.read(), re.M)
    return names[0].strip() if names else platform.machine()


def describe():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        flags = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", f.read(), re.M)
    have = set(flags.group(1).split()) if flags else set()
    with open("/proc/meminfo", encoding="utf-8") as f:
        memory = round(int(f.readline().split()[1]) / 1e6, 1)
    wanted = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_tile")
    return {"cpu": cpu_name(), "cores": os.cpu_count(), "memory_gb": memory,
            "flags": [x for x in wanted if x in have], "kernel": platform.release()}


def slug():
    return re.sub(r"[^a-z0-9]+", "-", f"{cpu_name()} {os.cpu_count()} cores".lower()).strip("-")


def busy_seconds():
    """CPU seconds the whole machine was busy with, stolen ones too."""
    with open("/proc/stat", encoding="utf-8") as f:
        user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def process_seconds(pid):
    """CPU seconds of a running process."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_kb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return int(re.search(r"^VmRSS:\s*(\d+)", f.read(), re.M).group(1))
