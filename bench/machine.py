"""The machine that a benchmark runs on, and how much other programs use it meanwhile."""
import os
import platform
import re
import resource
import time


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def cpu_name():
    names = re.findall(r"^model name\s*:\s*(.*)$", read("/proc/cpuinfo"), re.M)
    return names[0].strip() if names else platform.machine()


def cpu_flags():
    """The instruction sets that matter for speed."""
    flags = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", read("/proc/cpuinfo"), re.M)
    have = set(flags.group(1).split()) if flags else set()
    return [x for x in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_tile") if x in have]


def describe():
    return {"cpu": cpu_name(), "cores": os.cpu_count(), "memory_gb": round(int(read("/proc/meminfo").split()[1]) / 1e6, 1),
            "flags": cpu_flags(), "kernel": platform.release()}


def slug():
    """Name of this machine in result files, with its vector unit: machines with the same CPU name may differ in it."""
    flags = cpu_flags()
    kind = "amx" if "amx_tile" in flags else "avx512" if "avx512f" in flags else ""
    name = re.sub(r"\((R|TM)\)", "", cpu_name())
    return re.sub(r"[^a-z0-9]+", "-", f"{name} {os.cpu_count()} cores {kind}".lower()).strip("-")


def busy_seconds():
    """CPU seconds for which the whole machine was busy, stolen time included."""
    user, nice, system, _, _, irq, softirq, steal = map(int, read("/proc/stat").split("\n", 1)[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def process_seconds(pid):
    """CPU seconds of a running process."""
    fields = read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    """CPU seconds of our child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def resident_kb(pid, field="VmRSS"):
    """Resident memory of a running process; with "VmHWM", the most that it had so far."""
    return int(re.search(rf"^{field}:\s*(\d+)", read(f"/proc/{pid}/status"), re.M).group(1))


class Others:
    """with Others() as others: run a program and wait for it. Afterwards others.cores is the number of cores used meanwhile by
    everything but our own finished children."""

    def __enter__(self):
        self.start, self.foreign = time.perf_counter(), -self.seconds()
        return self

    def __exit__(self, *_):
        self.cores = round(max(0.0, self.foreign + self.seconds()) / (time.perf_counter() - self.start), 3)

    @staticmethod
    def seconds():
        return busy_seconds() - children_seconds()
