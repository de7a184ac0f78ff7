"""A process that measures on request, so that it is warm when its turn comes."""

import json
import subprocess
import sys


class Rival:
    """Answers each line by a line of JSON; `install` says how to get what the process needs."""

    def __init__(self, name, command, install, environment=None):
        self.name, self.install = name, install
        try:
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                            env=environment)
        except OSError as error:
            sys.exit(f"{error}; what {name} needs: {install}")

    def ask(self, request):
        try:
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, and so has its output
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} ended at \"{request}\", and the reason stands above. What it needs: {self.install}")
        answer = json.loads(line)
        if "error" in answer:
            sys.exit(f"{self.name} at \"{request}\": {answer['error']}")
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()
