"""No conversion in the product's C changes a value or its sign silently (scripts/analyse)."""
import os
import runpy
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("DRAGOMAN_BUILD", os.path.join(ROOT, "build", "release"))


def analyse(*options):
    return subprocess.run([os.path.join(ROOT, "scripts", "analyse"), "--build", BUILD, *options], capture_output=True, text=True)


def test_nothing_is_found():
    done = analyse()
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert int(done.stdout.split()[0]) > 500


def test_a_conversion_is_found(tmp_path):
    source = os.path.join(ROOT, "base", "zz_converts.c")  # in a folder of the product, but in no build
    text = "int narrow(long long x);\nint narrow(long long x)\n{\n    return x;\n}\n"
    (tmp_path / "zz_converts.c").write_text(text)
    command = f"cc -I{ROOT} -Wall -o x.o -c {tmp_path}/zz_converts.c"
    (tmp_path / "compile_commands.json").write_text(
        '[{"directory": "%s", "command": "%s", "file": "%s"}]' % (tmp_path, command, source))
    done = subprocess.run([os.path.join(ROOT, "scripts", "analyse"), "--build", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 1 and "[-Wconversion]" in done.stdout and "1 findings" in done.stdout, done.stdout + done.stderr


def test_a_bug_is_found_by_cppcheck(tmp_path):
    """cppcheck accepts the list of suppressions and reports a bug."""
    (tmp_path / "zz_bug.c").write_text("void f(char *out)\n{\n    int a[4];\n    a[5] = 1;\n    *out = (char)a[5];\n}\n")
    found = runpy.run_path(os.path.join(ROOT, "scripts", "analyse"))["cppcheck"]([str(tmp_path / "zz_bug.c")])
    assert len(found) >= 1 and "arrayIndexOutOfBounds" in found[0], found
