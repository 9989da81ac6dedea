"""What machine a benchmark ran on, and who else used it meanwhile."""
import os
import platform
import re
import resource


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        names = re.findall(r"^model name\s*:\s*(.*)$", f.read(), re.M)
    return names[0].strip() if names else platform.machine()


def cpu_flags():
    """The instruction sets that matter for speed."""
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        flags = set(re.search(r"^(?:flags|Features)\s*:\s*(.*)$", f.read(), re.M).group(1).split())
    return [x for x in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_tile") if x in flags]


def memory_gb():
    with open("/proc/meminfo", encoding="utf-8") as f:
        return round(int(f.readline().split()[1]) / 1e6, 1)


def describe():
    return {"cpu": cpu_name(), "cores": os.cpu_count(), "memory_gb": memory_gb(), "flags": cpu_flags(),
            "kernel": platform.release()}


def slug():
    """For the names of result files."""
    return re.sub(r"[^a-z0-9]+", "-", f"{cpu_name()} {os.cpu_count()} cores".lower()).strip("-")


def busy_seconds():
    """CPU seconds of the whole machine (stolen ones too), and those of our finished children."""
    with open("/proc/stat", encoding="utf-8") as f:
        user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + softirq + steal) / ticks, own.ru_utime + own.ru_stime
