"""No two libraries define the same function: a program that links both would get one of them by chance."""
import collections
import os
import subprocess

BUILD = os.environ.get("DRAGOMAN_BUILD", "build/release")


def test_no_symbol_is_defined_twice():
    archives = [os.path.join(here, name) for here, _, names in os.walk(BUILD) for name in names
                if name.startswith("libdg_") and name.endswith(".a")]
    assert archives, f"no libraries under {BUILD}"
    places = collections.defaultdict(set)
    for archive in archives:
        out = subprocess.run(["nm", "--defined-only", "--extern-only", archive], capture_output=True, text=True).stdout
        for line in out.splitlines():
            fields = line.split()
            if len(fields) == 3 and fields[1] in "TDBR" and fields[2].startswith("dg_"):
                places[fields[2]].add(archive)
    twice = {symbol: sorted(where) for symbol, where in places.items() if len(where) > 1}
    assert not twice, twice
