"""A driver of long programs that handles SIGTERM and SIGINT: it tells the running program to stop, and keeps its work."""
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
        """Run the command to its end: (standard output, standard error). A failure ends the driver."""
        with subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, text=True, start_new_session=True) as self.child:
            out, said = self.child.communicate()
        code, self.child = self.child.returncode, None
        if code:
            sys.exit(f"bench: {' '.join(command)}: {code}: {said}")
        return out, said
