"""The benchmarks' texts: one sentence a line, read compressed or not."""
import gzip
import itertools


def lines(path, n):
    """The first n lines (None: all), without line ends. As in all corpora, only a line feed ends a line."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="\n") as f:
        return [line.rstrip("\r\n") for line in itertools.islice(f, n)]


def write(path, sentences):
    """Write a sentence a line. Returns the path."""
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(sentence + "\n" for sentence in sentences))
    return path
