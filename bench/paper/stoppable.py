"""A driver of long programs that SIGTERM and SIGINT end: the program under way is told to stop, and its work is kept."""
import signal
import subprocess
import sys


class Stoppable:
    def __init__(self):
        self.stopping, self.child = False, None
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)

    def stop(self, *_):
        self.stopping = True
        if self.child:
            self.child.terminate()

    def finish(self, command, stdout=subprocess.PIPE):
        """Run to its end; what it wrote to standard output and to standard error. A failure ends the driver."""
        with subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, text=True, start_new_session=True) as self.child:
            out, said = self.child.communicate()
        code, self.child = self.child.returncode, None
        if code:
            sys.exit(f"bench: {' '.join(command)}: {code}: {said}")
        return out, said
