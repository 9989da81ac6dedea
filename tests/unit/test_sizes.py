"""A file has one job, and so has a function: no C source is longer than 400 lines, except for tables; no function of the product is
longer than 60 lines or takes more than seven parameters."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST = 400
TABLES = ()  # paths of files that are one table
MOST_LINES = 60
MOST_PARAMETERS = 7
WIDE = {("server/http/http.c", "dg_http_on_request")}  # may take more: libmicrohttpd's callback


def sources():
    """Sources that git tracks; in an archive without git, all that exist."""
    found = subprocess.run(["git", "ls-files", "*.c", "*.h", "*.cc", "*.cu", "*.cuh"], cwd=ROOT, capture_output=True, text=True)
    if found.returncode == 0 and found.stdout:
        return found.stdout.split()
    return [os.path.relpath(os.path.join(here, name), ROOT) for here, _, names in os.walk(ROOT)
            for name in names if name.endswith((".c", ".h", ".cc", ".cu", ".cuh")) and not os.path.relpath(here, ROOT).startswith(("build", "."))]


def texts(names):
    for name in names:
        if os.path.exists(os.path.join(ROOT, name)):
            with open(os.path.join(ROOT, name), encoding="utf-8") as f:
                yield name, f.read()


def blank(match):
    """Replacement for a match: the same number of lines, all blank."""
    return re.sub(r"[^\n]", " ", match.group(0))


def plain(text):
    """The text without comments, strings and preprocessor lines; all other code stays on its line."""
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def parameters(text, at):
    """(number of parameters, end) of the list whose parenthesis opens at `at`."""
    depth, commas = 0, 0
    for i in range(at, len(text)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return commas + 1 if text[at + 1:i].strip() not in ("", "void") else 0, i
        commas += text[i] == "," and depth == 1
    raise AssertionError("no end")


def functions(text):
    """(name, lines, parameters) of each function definition; clang-format puts its braces at the start of lines."""
    text = plain(text)
    for body in re.finditer(r"^\{\n.*?^\}", text, re.S | re.M):
        start = max(text.rfind(end, 0, body.start()) for end in (";\n", "}\n", "\n\n"))
        head = text[max(start, 0):body.start()].lstrip("};\n")
        head = re.sub(r"\b(__attribute__|__launch_bounds__)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", blank, head)
        name = re.search(r"\b(\w+)\s*\(", head)
        if name:
            yield name.group(1), (head + text[body.start():body.end()]).strip().count("\n") + 1, parameters(head, name.end() - 1)[0]


def pointers(text):
    """(name, parameters) of each function pointer and function type."""
    text = plain(text)
    for name in re.finditer(r"\(\*(?:const )?(\w+)(?:\[\w*\])?\)\s*\(|^typedef [^;(]*?\b(\w+)\(", text, re.M):
        yield name.group(1) or name.group(2), parameters(text, name.end() - 1)[0]


def product():
    return [name for name in sources() if not name.startswith(("tests/", "bench/"))]


def test_files_are_short():
    files = sources()
    assert len(files) > 900
    lengths = {name: text.count("\n") for name, text in texts(files)}
    assert not {name: n for name, n in lengths.items() if n > MOST and name not in TABLES}


def test_functions_are_short_and_take_few_parameters():
    found = {(path, *function) for path, text in texts(product()) for function in functions(text)}
    assert len(found) > 5500
    long = {(path, name): lines for path, name, lines, _ in found if lines > MOST_LINES}
    wide = {(path, name): n for path, name, _, n in found if n > MOST_PARAMETERS}
    wide.update({(path, name): n for path, text in texts(product()) for name, n in pointers(text) if n > MOST_PARAMETERS})
    assert not long, long
    assert set(wide) <= WIDE, wide


def test_functions_are_counted():
    """Checks functions() and pointers() on a text with everything that they may meet."""
    text = """/* (a, b */
static int one(void)
{
    return f("x)", 1);
}

#define TWO(a, b) \\
    three(a, b)

static inline __attribute__((always_inline)) void
two(int (*f)(int a, int b), const float w[4], char c)
{
}
typedef int three(int a, int b);
struct s {
    int (*four)(int a, /* , */ int b, int c, int d);
};
template <int N> __global__ void __launch_bounds__(f(N), 2) five(int a)
{

}
"""
    assert list(functions(text)) == [("one", 4, 0), ("two", 4, 3), ("five", 4, 1)]
    assert list(pointers(text)) == [("f", 2), ("three", 2), ("four", 4)]
