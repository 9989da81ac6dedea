"""Used by scripts/wheel, which puts libdragoman and its dependencies into dragoman/lib and sets version and platform."""
import os

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel


class Binary(Distribution):
    def has_ext_modules(self):
        return True


class Tagged(bdist_wheel):
    """Tags the wheel for any Python 3, because ctypes loads the library."""

    def get_tag(self):
        return "py3", "none", os.environ["DRAGOMAN_PLATFORM"]


setup(version=os.environ["DRAGOMAN_VERSION"], distclass=Binary, cmdclass={"bdist_wheel": Tagged})
