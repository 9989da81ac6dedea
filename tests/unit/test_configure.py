"""CMake configures the build on systems whose packages differ from Debian 12's."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def test_sentencepiece_is_found_although_pkg_config_refuses_it(tmp_path):
    """Debian 13's libsentencepiece-dev names protobuf-lite, which it does not depend on: pkg-config ends with an error."""
    (tmp_path / "sentencepiece.pc").write_text(
        "Name: sentencepiece\nDescription: x\nVersion: 0.2.0\nLibs: -lsentencepiece\nRequires.private: dragoman-absent\n")
    environment = dict(os.environ, PKG_CONFIG_PATH=str(tmp_path))
    assert subprocess.run(["pkg-config", "--exists", "sentencepiece"], env=environment, check=False).returncode != 0
    done = subprocess.run(["cmake", "-S", ROOT, "-B", str(tmp_path / "build"), "-DDG_TRAINER=OFF"], env=environment, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
