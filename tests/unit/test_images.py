"""Container images: what goes into them, who may write where, and which engine makes and runs them."""
import os
import re
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=True, **more).stdout


def ignored_by_the_image(path):
    """Whether .dockerignore leaves a path out, as Docker reads it: the last line that matches the path or a folder of it decides."""
    out = False
    with open(os.path.join(ROOT, ".dockerignore"), encoding="utf-8") as f:
        for line in (line.strip() for line in f):
            if not line or line.startswith("#"):
                continue
            pattern = re.escape(line.lstrip("!")).replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*")
            if re.fullmatch(f"{pattern}(/.*)?", path):
                out = not line.startswith("!")
    return out


def test_the_image_is_built_without_what_it_ignores(tmp_path):
    """As in the image's build, configures a copy without the files in .dockerignore; both programs must be targets."""
    copy = tmp_path / "src"
    shutil.copytree(ROOT, copy, ignore=lambda folder, names: [
        n for n in names if ignored_by_the_image(os.path.relpath(os.path.join(folder, n), ROOT))])
    assert not (copy / "trainer").exists() and not (copy / ".git").exists()
    with open(os.path.join(ROOT, "docker", "Dockerfile"), encoding="utf-8") as f:
        configure, = re.findall(r"(cmake --preset release\b.*?) *\\$", f.read(), re.M)
    run(*configure.split(), "-DDG_CUDA=OFF", "--log-level=ERROR", cwd=copy)
    targets = run("cmake", "--build", "build/release", "--target", "help", cwd=copy)
    assert all(re.search(rf"^{program}: ", targets, re.M) for program in ("dragoman", "dragoman-server"))


def test_the_image_has_the_repositorys_bundles_and_no_pulled_one():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "weights/bundles"], capture_output=True, text=True).stdout.split()
    if not os.path.exists(os.path.join(ROOT, ".git")) or not listed:
        pytest.skip("a source archive: git knows nothing of it")
    assert any(path.endswith("/manifest.json") for path in listed)
    assert [path for path in listed if ignored_by_the_image(path)] == []
    for pulled in ("firefox-en-de", "a"):
        assert ignored_by_the_image(f"weights/bundles/{pulled}/manifest.json"), pulled


@pytest.mark.parametrize("name", ["Dockerfile", "Dockerfile.cuda"])
def test_the_image_may_be_made_in_a_checkout_of_any_modes(name):
    """The server's user reads what is copied into the image: everything comes from a stage that sets the modes, or made the files."""
    with open(os.path.join(ROOT, "docker", name), encoding="utf-8") as f:
        stages = dict(re.findall(r"^FROM \S+ AS (\w+)\n(.*?)(?=^FROM|\Z)", f.read(), re.M | re.S))
    copies = re.findall(r"^COPY (.*)", stages["runtime"], re.M)
    assert len(copies) >= 4 and all(copy.startswith("--from=") for copy in copies)
    assert {re.match(r"--from=(\w+)", copy).group(1) for copy in copies} <= {"build", "plugin", "files"}
    assert re.search(r"^RUN chmod -R u=rwX,go=rX /files$", stages["files"], re.M)


@pytest.mark.parametrize("name", ["Dockerfile", "Dockerfile.cuda"])
def test_the_images_user_may_write_in_a_new_volume(name):
    """A named volume gets owner and mode of the image's folder at its place; where there is none, it is root's, and the server, as nobody, cannot
    make its files. A cluster's volume gets the pod's fsGroup."""
    with open(os.path.join(ROOT, "docker", name), encoding="utf-8") as f:
        runtime = f.read().rpartition("\nFROM ")[2]
    user, group = re.search(r"^USER (\d+):(\d+)$", runtime, re.M).groups()
    mode, owner, owners, folder = re.search(r"install -d -m (\d+) -o (\d+) -g (\d+) (\S+)", runtime).groups()
    assert (owner, owners, mode) == (user, group, "0700")
    with open(os.path.join(ROOT, "docs", "operations.md"), encoding="utf-8") as f:
        named = re.search(r"-v dragoman:(\S+) .*?-e DRAGOMAN_DOCUMENTS=(\S+)/", f.read(), re.S).groups()
    assert named == (folder, folder)
    with open(os.path.join(ROOT, "docker", "kubernetes", "deployment.yaml"), encoding="utf-8") as f:
        assert f"\n        fsGroup: {group} " in f.read()


def image_for_arm(tmp_path, version):
    """Run scripts/container with an engine that only prints its arguments and a package for 64-bit ARM of this version."""
    machine = tmp_path / "bin"
    machine.mkdir()
    for name, says in (("engine", 'for word; do echo "$word"; done'), ("uname", "echo x86_64")):
        (machine / name).write_text(f"#!/bin/sh\n{says}\n")
        (machine / name).chmod(0o755)
    tree = tmp_path / "tree"
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin/dragoman-server").write_text("for 64-bit ARM")
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN/control").write_text(
        f"Package: dragoman\nVersion: {version}\nArchitecture: arm64\nMaintainer: nobody <nobody@dragoman.invalid>\nDescription: a test\n")
    run("dpkg-deb", "--root-owner-group", "--build", str(tree), str(tmp_path))
    return subprocess.run(["scripts/container", "build"], cwd=ROOT, capture_output=True, text=True, env=dict(
        os.environ, ENGINE=str(machine / "engine"), PATH=f"{machine}:{os.environ['PATH']}", ARCH="arm64", DEBS=str(tmp_path)))


@pytest.mark.parametrize("user,daemon,engine", [(1000, False, "podman"), (0, False, "buildah"), (1000, True, "docker"), (0, True, "docker")])
def test_an_engine_is_found(tmp_path, user, daemon, engine):
    """Without Docker's daemon, buildah was taken also where it cannot work: it needs root."""
    for name, says in (("docker", f'[ "$1" != info ] || exit {0 if daemon else 1}\necho docker "$@"'), ("podman", 'echo podman "$@"'),
                       ("id", f"echo {user}"), ("buildah", "echo buildah")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{says}\n")
        (tmp_path / name).chmod(0o755)
    env = {k: v for k, v in os.environ.items() if k not in ("ENGINE", "KIND", "ARCH", "PORT")}
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(os.path.join(ROOT, "scripts", "container"), tmp_path / "scripts")
    for name, says in (("version", "echo 0.1.0"), ("deps", "exit 9"), ("emulator", "exit 0")):
        (tmp_path / "scripts" / name).write_text(f"#!/bin/sh\n{says}\n")
        (tmp_path / "scripts" / name).chmod(0o755)
    done = subprocess.run([script, "run"], capture_output=True, text=True, check=False, env=dict(env, PATH=f"{tmp_path}:{env['PATH']}"))
    if engine == "buildah":
        assert done.returncode == 9  # it asks for buildah's packages
    else:
        words = done.stdout.split()
        assert words[:2] == [engine, "run"] and int(words[words.index("--stop-timeout") + 1]) > 5 + 30


def test_the_image_for_64_bit_arm_takes_its_packages_programs(tmp_path):
    version = run(os.path.join(ROOT, "scripts", "version")).strip()
    words = image_for_arm(tmp_path, version).stdout.splitlines()
    assert words[words.index("--platform") + 1] == "linux/arm64" and words[words.index("-t") + 1] == f"dragoman:{version}-arm64"
    # It replaces the stage from which the programs are copied.
    name, folder = words[words.index("--build-context") + 1].split("=")
    with open(os.path.join(ROOT, "docker", "Dockerfile"), encoding="utf-8") as f:
        assert re.findall(r"^COPY --from=(\w+) (\S+) /usr/bin/$", f.read(), re.M) == [(name, "/out/")]
    with open(os.path.join(folder, "out", "dragoman-server"), encoding="utf-8") as f:
        assert f.read() == "for 64-bit ARM"


def test_the_image_for_64_bit_arm_is_not_made_from_another_versions_packages(tmp_path):
    done = image_for_arm(tmp_path, "0.0.1")
    assert done.returncode == 1 and done.stdout == "" and "make deb-arm64" in done.stderr
