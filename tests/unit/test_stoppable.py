"""bench/stoppable.py: a driver that is told to stop lets the running program save its work."""
import os
import signal
import subprocess
import sys
import time

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench")
# Like the trainer: the first SIGTERM makes it save its work, which takes a while; a second one ends it at once. Where SIGTERM is blocked
# when it starts, it comes when it can be handled.
CHILD = """import signal, sys, time
def first(*_):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    open(sys.argv[1] + ".told", "w").close()
    time.sleep(1.5)
    open(sys.argv[1], "w").close()
    sys.exit(0)
signal.signal(signal.SIGTERM, first)
open(sys.argv[1] + ".runs", "w").close()
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
time.sleep(600)"""
DRIVER = """import os, signal, sys
sys.path.insert(0, sys.argv[1])
import stoppable
driver = stoppable.Stoppable()
{more}
driver.finish([sys.executable, "-c", {child!r}, sys.argv[2]]{enough})
print(driver.stopping)"""
BLOCK = "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])"


def start(saved, more="", enough=""):
    return subprocess.Popen([sys.executable, "-c", DRIVER.format(child=CHILD, more=more, enough=enough), BENCH, saved],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until_there(path):
    end = time.monotonic() + 120
    while not os.path.exists(path):
        assert time.monotonic() < end, path
        time.sleep(0.05)


def test_two_signals_are_one_to_the_program(tmp_path):
    saved = str(tmp_path / "saved")
    driver = start(saved)
    for sign in ".runs", ".told":
        until_there(saved + sign)
        driver.send_signal(signal.SIGTERM)
    assert driver.communicate(timeout=120) == ("True\n", "") and os.path.exists(saved)


def test_a_signal_before_the_program_runs_counts(tmp_path):
    saved = str(tmp_path / "saved")
    driver = start(saved, more="os.kill(os.getpid(), signal.SIGTERM); " + BLOCK)
    assert driver.communicate(timeout=120) == ("True\n", "") and os.path.exists(saved)


def test_a_program_that_has_done_enough_is_stopped(tmp_path):
    saved = str(tmp_path / "saved")
    driver = start(saved, more=BLOCK, enough=", enough=lambda process: True")
    assert driver.communicate(timeout=120) == ("False\n", "") and os.path.exists(saved)


def test_a_failure_ends_the_driver():
    driver = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {BENCH!r}); import stoppable; "
                             "stoppable.Stoppable().finish(['sh', '-c', 'echo no >&2; exit 3'])"], capture_output=True, text=True)
    assert driver.returncode == 1 and driver.stderr.startswith("bench: sh -c ") and driver.stderr.endswith(": 3: no\n\n")
