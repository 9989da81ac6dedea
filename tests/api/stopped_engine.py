"""Stops an engine of a server, as a debugger does."""
import contextlib
import ctypes
import errno
import os

import pytest

LIBC = ctypes.CDLL(None, use_errno=True)
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 17, 0x4206, 0x4207, 0x40000000


def ptrace(request, thread):
    if LIBC.ptrace(ctypes.c_long(request), ctypes.c_long(thread), None, None) != 0:
        number = ctypes.get_errno()
        if number in (errno.EPERM, errno.ENOSYS):
            pytest.skip("ptrace is not allowed here")
        raise OSError(number, os.strerror(number))


@contextlib.contextmanager
def stopped_engine(server):
    """Stops the thread of the first engine until the context is left: it takes no step, and its sentences wait."""
    def named():
        return [thread for thread, name in server.threads().items() if name == "dg-worker-0"]
    server.until(named)  # a thread takes its name when it first runs
    engine, = named()
    ptrace(PTRACE_SEIZE, engine)
    ptrace(PTRACE_INTERRUPT, engine)
    os.waitpid(engine, WALL)
    try:
        yield
    finally:
        ptrace(PTRACE_DETACH, engine)
