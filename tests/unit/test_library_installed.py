"""The installed libdragoman: it exports what its header declares and nothing else, and uses nothing that a library must not use;
the example builds against it with pkg-config and CMake, shared and static, and gives the command line's answers."""
import os
import re
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("DRAGOMAN_BUILD", os.path.join(ROOT, "build", "release"))
MODELS = os.path.join(ROOT, "weights", "bundles")
SANITIZED = re.search(r"^DG_SANITIZE:STRING=(.+)$", open(os.path.join(BUILD, "CMakeCache.txt")).read(), re.M)
TEXT = "Two dogs play in the snow.\nA man is riding a bike. A girl is smiling.\n\n12345\nA girl in a red dress is singing.\n"


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    root = tmp_path_factory.mktemp("installed")
    run(os.path.join(ROOT, "packaging", "install"), os.path.join(BUILD, "bin"), env=dict(os.environ, DESTDIR="", PREFIX=str(root)))
    return root


def declared():
    code = re.sub(r"/\*.*?\*/", "", read("include", "dragoman.h"), flags=re.S)
    return set(re.findall(r"DRAGOMAN_API[^;(]*?\b(dragoman_\w+)\(", code))


def symbols(path, *options):
    return {line.split()[-1].split("@")[0]: line.split()[-2] for line in run("nm", *options, path).splitlines() if len(line.split()) > 1}


def test_what_is_exported_is_what_the_header_declares(installed):
    """The list is the ABI: removing a symbol needs a new SONAME."""
    listed = set(read("library", "symbols.txt").split())
    assert declared() == listed
    exported = symbols(installed / "lib/libdragoman.so", "-D", "--defined-only")
    assert {name for name, kind in exported.items() if kind != "A"} == listed
    assert {name for name in symbols(installed / "lib/libdragoman.a", "-g", "--defined-only") if not name.endswith(":")} == listed


def test_the_abi_has_one_number(installed):
    number = re.search(r"#define DRAGOMAN_ABI (\d+)", read("include", "dragoman.h")).group(1)
    assert f"set(DG_ABI {number})" in read("library", "CMakeLists.txt")
    assert f"DRAGOMAN_{number} {{" in read("library", "dragoman.map")
    dynamic = run("readelf", "-d", installed / "lib/libdragoman.so")
    assert f"soname: [libdragoman.so.{number}]" in dynamic
    assert "NODELETE" in dynamic and "RUNPATH" not in dynamic


@pytest.mark.skipif(bool(SANITIZED), reason="sanitizers print and abort")
def test_it_uses_nothing_that_a_library_must_not(installed):
    used = set(symbols(installed / "lib/libdragoman.so", "-D", "--undefined-only"))
    forbidden = {"exit", "_exit", "_Exit", "abort", "quick_exit", "atexit", "signal", "sigaction", "raise", "kill", "printf", "vprintf",
                 "puts", "putchar", "fprintf", "fputs", "fwrite", "perror", "stdout", "stderr", "setenv", "putenv", "unsetenv", "setlocale",
                 "chdir", "umask", "srand", "rand", "strtok", "fork", "system", "popen"}
    assert not used & forbidden
    assert "pthread_create" in used


def test_the_header_is_c99_and_cpp(installed, tmp_path):
    for name, compiler in (("a.c", ["cc", "-std=c99"]), ("a.cc", ["c++", "-std=c++11"])):
        (tmp_path / name).write_text("#include <dragoman.h>\nint main(void) { return dragoman_abi() + DRAGOMAN_ABI; }\n")
        run(*compiler, "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{installed}/include", str(tmp_path / name))


def expected(**more):
    return run(os.path.join(BUILD, "bin", "dragoman"), "translate", "--model", os.path.join(MODELS, "en-de-fr"), "--source-lang", "en",
               "--target-lang", "fr", input=TEXT, **more)


def translate(program, installed):
    environment = {k: v for k, v in os.environ.items() if k != "DRAGOMAN_MODELS"}
    if program.name != "static":
        environment["LD_LIBRARY_PATH"] = f"{installed}/lib"
    return run(str(program), "en-de-fr", "en", "fr", input=TEXT, env=environment | {"DRAGOMAN_MODELS": MODELS})


@pytest.mark.skipif(bool(SANITIZED), reason="the example would need the sanitizer's own library")
def test_the_example_by_pkg_config(installed, tmp_path):
    environment = dict(os.environ, PKG_CONFIG_PATH=f"{installed}/lib/pkgconfig")
    flags = run("pkg-config", "--cflags", "--libs", "dragoman", env=environment).split()
    version = re.search(r"project\(dragoman VERSION ([\d.]+)", read("CMakeLists.txt")).group(1)
    assert run("pkg-config", "--modversion", "dragoman", env=environment).strip() == version
    example = os.path.join(ROOT, "examples", "translate.c")
    run("cc", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", example, *flags, "-o", str(tmp_path / "shared"))
    assert translate(tmp_path / "shared", installed) == expected()
    # Without an explicit folder, installed models are found relative to the library.
    found = run(str(tmp_path / "shared"), "en-fr", "en", "fr", input=TEXT, cwd=tmp_path, env={"LD_LIBRARY_PATH": f"{installed}/lib"})
    assert found == expected()
    static = run("pkg-config", "--static", "--libs", "dragoman", env=environment).replace("-ldragoman", f"{installed}/lib/libdragoman.a")
    run("cc", "-D_GNU_SOURCE", example, *flags[:1], *static.split(), "-o", str(tmp_path / "static"))
    assert "libdragoman" not in run("ldd", str(tmp_path / "static"))
    assert translate(tmp_path / "static", installed) == expected()
    # An error names the line of the whole input, of which the program translates 1,024 at a time.
    bad = subprocess.run([str(tmp_path / "shared"), "en-de-fr", "en", "fr"], capture_output=True, input=b"\n" * 1030 + b"\xff\n",
                         env={"LD_LIBRARY_PATH": f"{installed}/lib"})
    assert bad.returncode == 1 and bad.stderr.startswith(b"translate: line 1031: not valid UTF-8")
    wrong = subprocess.run([str(tmp_path / "static"), "no-such", "en", "fr"], capture_output=True, text=True, input="")
    assert wrong.returncode == 1 and '"no-such" is not a folder' in wrong.stderr


def test_the_header_names_the_variables_that_it_reads(installed):
    data = (installed / "lib" / "libdragoman.so").read_bytes()
    named = {name.decode() for name in re.findall(rb"\0(DRAGOMAN_[A-Z_]*[A-Z])(?=\0)", data)}
    told = re.findall(r"\bDRAGOMAN_[A-Z_]+", read("include", "dragoman.h").partition("#ifndef")[0])
    assert "DRAGOMAN_MODELS" in named
    assert not {name for name in named if name not in told and not name.startswith("DRAGOMAN_CUDA_")}


def test_the_loader_learns_of_the_library(tmp_path):
    """Programs find a library in /usr/local/lib by the loader's cache. Of a package, its scripts write it."""
    (tmp_path / "ldconfig").write_text(f"#!/bin/sh\necho called >>{tmp_path}/calls\n")
    (tmp_path / "id").write_text("#!/bin/sh\necho 0\n")
    for program in ("ldconfig", "id"):
        (tmp_path / program).chmod(0o755)
    environment = dict(os.environ, PATH=f"{tmp_path}:{os.environ['PATH']}", SYSCONFDIR=f"{tmp_path}/etc")
    install = [os.path.join(ROOT, "packaging", "install"), os.path.join(BUILD, "bin")]
    run(*install, env=environment | {"DESTDIR": f"{tmp_path}/root", "PREFIX": "/usr/local"})
    assert not (tmp_path / "calls").exists()
    run(*install, env=environment | {"DESTDIR": "", "PREFIX": f"{tmp_path}/usr"})
    assert (tmp_path / "calls").read_text() == "called\n"


@pytest.mark.skipif(bool(SANITIZED), reason="the example would need the sanitizer's own library")
def test_the_program_of_the_page(installed, tmp_path):
    """The program in docs/embed.md prints what the page shows."""
    page = read("docs", "embed.md")
    (tmp_path / "hello.c").write_text(re.search(r"^```c\n(.*?)^```", page, re.M | re.S).group(1))
    flags = run("pkg-config", "--cflags", "--libs", "dragoman", env=dict(os.environ, PKG_CONFIG_PATH=f"{installed}/lib/pkgconfig")).split()
    run("cc", "-Wall", "-Wextra", "-Werror", str(tmp_path / "hello.c"), *flags, "-o", str(tmp_path / "hello"))
    said = run(str(tmp_path / "hello"), cwd=tmp_path, env={"LD_LIBRARY_PATH": f"{installed}/lib"})
    assert said == re.search(r"^```text\n(.*?)^```", page, re.M | re.S).group(1)


@pytest.mark.skipif(bool(SANITIZED), reason="the example would need the sanitizer's own library")
def test_the_example_by_cmake(installed, tmp_path):
    run("cmake", "-S", os.path.join(ROOT, "examples"), "-B", str(tmp_path), f"-DCMAKE_PREFIX_PATH={installed}")
    run("cmake", "--build", str(tmp_path))
    for program in ("translate", "translate-static"):
        assert translate(tmp_path / program, installed) == expected()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(x C)\nfind_package(dragoman 9 REQUIRED)\n")
    too_new = subprocess.run(["cmake", "-S", str(tmp_path / "new"), "-B", str(tmp_path / "new-build"), f"-DCMAKE_PREFIX_PATH={installed}"],
                             capture_output=True, text=True)
    assert too_new.returncode != 0 and "0.1.0" in too_new.stderr


def test_the_development_package_brings_what_the_static_library_needs(installed):
    """The packages that have the libraries named by pkg-config are its dependencies; CMake's package names the same libraries."""
    named = run("pkg-config", "--static", "--libs-only-l", "dragoman", env=dict(os.environ, PKG_CONFIG_PATH=f"{installed}/lib/pkgconfig"))
    libraries = [word[2:] for word in named.split() if word != "-ldragoman"]
    by_cmake = re.search(r'INTERFACE_LINK_LIBRARIES "(.*)"', (installed / "lib/cmake/dragoman/dragomanConfig.cmake").read_text()).group(1)
    assert by_cmake.split(";") == libraries and len(libraries) > 8
    if not shutil.which("dpkg-query"):
        pytest.skip("not a Debian system")
    stanza = re.search(r"^Package: libdragoman-dev$.*?(?=^$|\Z)", read("packaging", "debian", "control"), re.M | re.S).group(0)
    depends = re.search(r"^Depends: (.*?)(?=^\S)", stanza, re.M | re.S).group(1)
    brought = {name.strip() for group in depends.split(",") for name in group.split("|")}
    for library in set(libraries) - {"m", "pthread", "dl"}:  # libc6-dev's
        owners = {line.split(":")[0] for line in run("dpkg-query", "-S", f"*/lib{library}.so").splitlines()}
        owners |= {re.sub(r"-\d+-dev$", "-dev", name) for name in owners}  # whichever version of the C++ library
        assert owners & brought, (library, owners)
