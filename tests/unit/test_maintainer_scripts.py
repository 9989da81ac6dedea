"""What the Debian package's maintainer scripts do with the units, as debhelper writes them by packaging/debian/rules."""
import os
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNITS = ("dragoman.service", "dragoman.socket")


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """The folder of the scripts that a build makes, without the build."""
    if not shutil.which("dh_installsystemd"):
        pytest.skip("debhelper is not installed (scripts/deps package brings it)")
    source = tmp_path_factory.mktemp("source")
    shutil.copytree(os.path.join(ROOT, "packaging", "debian"), source / "debian")
    folder = source / "debian/dragoman/lib/systemd/system"
    folder.mkdir(parents=True)
    for unit in UNITS:
        shutil.copy(os.path.join(ROOT, "packaging", "systemd", unit + ".in"), folder / unit)
    for command in (["debian/rules", "override_dh_installsystemd"], ["dh_installdeb", "--package=dragoman"]):
        subprocess.run(command, cwd=source, check=True, capture_output=True)
    return source / "debian/dragoman/DEBIAN"


@pytest.fixture
def calls(scripts, tmp_path):
    """Runs a script as dpkg does, on a machine with systemd; returns what it asks of systemd: (verb, unit), in order."""
    stub = tmp_path / "deb-systemd-invoke"
    stub.write_text('#!/bin/sh\nverb=$1\nshift\nfor unit; do echo "$verb $unit"; done >>"$ASKED"\n')
    for name in ("deb-systemd-helper", "systemctl"):
        (tmp_path / name).write_text("#!/bin/sh\n")
    for name in (stub.name, "deb-systemd-helper", "systemctl"):
        (tmp_path / name).chmod(0o755)
    asked = tmp_path / "asked"

    def run(script, *arguments):
        asked.write_text("")
        if (scripts / script).exists():
            text = (scripts / script).read_text().replace("/run/systemd/system", str(tmp_path))
            subprocess.run(["sh", "-s", "--", *arguments], input=text, text=True, check=True,
                           env=dict(os.environ, PATH=f"{tmp_path}:{os.environ['PATH']}", ASKED=str(asked)))
        return [tuple(line.split()) for line in asked.read_text().splitlines()]
    return run


def test_an_upgrade_keeps_the_socket_open(calls):
    done = calls("prerm", "upgrade", "0.2.0") + calls("preinst", "upgrade", "0.1.0", "0.2.0") + calls("postinst", "configure", "0.1.0")
    assert ("stop", "dragoman.socket") not in done and ("restart", "dragoman.socket") not in done
    assert ("restart", "dragoman.service") in done


@pytest.mark.parametrize("before", [[], ["0.1.0"]], ids=["first", "again"])
def test_an_enabled_socket_is_open_before_the_service_starts(calls, before):
    """deb-systemd-invoke starts no unit that is disabled, and systemd refuses the socket of a service that runs."""
    units = [unit for _, unit in calls("postinst", "configure", *before)]
    assert units.index("dragoman.socket") < units.index("dragoman.service")


def test_the_socket_is_closed_before_the_service_is_removed(calls):
    """A connection in between would start the service again."""
    done = calls("prerm", "remove")
    assert {unit for verb, unit in done if verb == "stop"} == set(UNITS)
    assert done.index(("stop", "dragoman.socket")) < done.index(("stop", "dragoman.service"))
