"""Texts that benchmarks read: a line a sentence, compressed or not."""
import gzip
import itertools


def lines(path, n):
    """The first n lines (None: all), without their ends."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        return [line.rstrip("\n") for line in itertools.islice(f, n)]
