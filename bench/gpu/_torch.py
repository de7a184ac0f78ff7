"""torch_step.py at work, which a stage asks for times."""

import json
import subprocess
import sys
import threading

from _stage import ROOT, reason


class Rival:
    """A process of bench/rivals/torch_step.py with the options `words`; a new one replaces one that ended."""

    def __init__(self, stage, name, *words, environment=None):
        self.log = open(stage.work / f"{name}.log", "w+", encoding="utf-8")
        self.command = [sys.executable, "-B", ROOT / "bench" / "rivals" / "torch_step.py", "--device", stage.device, *map(str, words)]
        self.environment, self.process = environment, None

    def ask(self, request, seconds=None):
        """The answer to a line; its "error" says why there is none. The process is ended if it takes longer than `seconds`."""
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
                                            env=self.environment)
        late = threading.Event()
        timer = threading.Timer(seconds, lambda: (late.set(), self.process.kill())) if seconds else None
        try:
            if timer:
                timer.start()
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
        except (BrokenPipeError, ValueError):
            self.end()
            answer = {"error": f"no answer within {seconds:.0f} s" if late.is_set() else reason(self.said())}
        finally:
            if timer:
                timer.cancel()
        if "error" in answer:
            print(f"torch_step.py at \"{request}\": {answer['error']}", *self.said().splitlines()[-40:], sep="\n", flush=True)
        return answer

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def close(self):
        self.end()
        self.log.close()
