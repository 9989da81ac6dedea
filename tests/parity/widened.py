"""The environment in which `dragoman` widens bf16 weights to fp32, as the expected values in tests/golden do: on processors
that multiply bf16, it selects the best instruction set that does not. DRAGOMAN_ISA is kept if set."""
import os


def environment():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        isa = {"DRAGOMAN_ISA": "avx512vnni"} if "avx512_bf16" in f.read() else {}
    return {**isa, **os.environ}
