"""A driver of long programs that handles SIGTERM and SIGINT: it tells the running program to stop, and keeps its work."""
import signal
import subprocess
import sys


class Stoppable:
    def __init__(self):
        self.stopping = False
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)

    def stop(self, *_):
        self.stopping = True

    def finish(self, command, stdout=subprocess.PIPE, enough=lambda process: False):
        """Run the command to its end: (standard output, standard error). It is told to stop when the driver is, or when enough(process),
        asked twice a second, is true; only once, because a second SIGTERM ends the trainer without a checkpoint. A failure ends the driver."""
        with subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
            told = False
            while True:
                try:
                    out, said = process.communicate(timeout=0.5)
                    break
                except subprocess.TimeoutExpired:
                    if not told and (enough(process) or self.stopping):
                        process.terminate()
                        told = True
        if process.returncode:
            sys.exit(f"bench: {' '.join(command)}: {process.returncode}: {said}")
        return out, said
