"""For scripts/wheel, which puts libdragoman and what it needs into dragoman/lib and says version and platform."""
import os

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel


class Binary(Distribution):
    def has_ext_modules(self):
        return True


class Tagged(bdist_wheel):
    """Any Python 3: the library is opened by ctypes."""

    def get_tag(self):
        return "py3", "none", os.environ["DRAGOMAN_PLATFORM"]


setup(version=os.environ["DRAGOMAN_VERSION"], distclass=Binary, cmdclass={"bdist_wheel": Tagged})
