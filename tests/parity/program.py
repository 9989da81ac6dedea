"""Runs the built `dragoman` for the tests of converters."""
import os
import subprocess

DRAGOMAN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin", "dragoman")


def run(args, lines=(), code=0):
    """Gives it the lines. Returns what it writes to stdout, or to stderr if it has to refuse with this code."""
    done = subprocess.run([DRAGOMAN] + args, input="".join(x + "\n" for x in lines), text=True, encoding="utf-8",
                          capture_output=True, timeout=600)
    assert done.returncode == code, f"{' '.join(args)}: {done.stderr}"
    return done.stderr if code else done.stdout
