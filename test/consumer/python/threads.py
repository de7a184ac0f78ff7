"""Threads, signals and processes."""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import mantissa
from _model import TEXT, batch, compiled, message

BUSY = "another thread is using this step: a step is for one thread at a time"


def in_threads(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Threads(unittest.TestCase):
    def test_a_step_for_each(self):
        def train(seed, losses):
            step = compiled(seed=seed, threads=1)
            losses.extend(step(batch(i)).loss for i in range(100))

        alone, together = ([], []), ([], [])
        for seed in (0, 1):
            train(seed, alone[seed])
        in_threads(lambda: train(0, together[0]), lambda: train(1, together[1]))
        self.assertEqual(together, alone)
        self.assertNotEqual(*alone)

    def test_one_step_for_both(self):
        """Calls that overlap, which shows that Python's lock is released, give the error, and results are never mixed."""
        step, rows = mantissa.compile(TEXT, batch=1 << 16), 1 << 16
        inputs = [batch(seed, rows) for seed in (0, 1)]
        expected = [step.predict({"x": given["x"]})["y"].tobytes() for given in inputs]
        refused, done = [], [0, 0]
        deadline = time.monotonic() + 60

        def use(which):
            while (not refused or min(done) < 20) and time.monotonic() < deadline:
                try:
                    got = step.predict({"x": inputs[which]["x"]})["y"].tobytes()
                    assert got == expected[which], "results of the other thread"
                    done[which] += 1
                except mantissa.Error as error:
                    refused.append(str(error))
                time.sleep(0.0005 * (which + 1))

        in_threads(lambda: use(0), lambda: use(1))
        self.assertEqual(set(refused), {BUSY})
        self.assertGreaterEqual(min(done), 20)


class Interrupts(unittest.TestCase):
    def test_a_step_ends_before_its_interrupt(self):
        step, inputs = compiled(), batch()
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        results = 0
        with self.assertRaises(KeyboardInterrupt):
            while True:
                results = step(inputs).step
        self.assertIn(step.steps, (results, results + 1))
        self.assertEqual(step(inputs).step, step.steps)

    def test_compiling_ends_before_its_interrupt(self):
        threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            while True:
                compiled()
        self.assertTrue(compiled()(batch()).loss > 0)


class Processes(unittest.TestCase):
    def test_a_fork_may_not_use_the_step(self):
        step = compiled()
        child = os.fork()
        if child == 0:
            # Ends as a worker process of a loader of data does: with what it has inherited.
            text = message(step, batch())
            del step
            os._exit(0 if "this step belongs to process" in text else 1)
        for _ in range(1200):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                break
            time.sleep(0.05)
        else:
            os.kill(child, signal.SIGKILL)
            self.fail("the fork hangs")
        self.assertEqual(status, 0)
        self.assertEqual(step(batch()).step, 1)

    def test_a_program_may_end_while_steps_live(self):
        program = "import _model; step = _model.compiled(); step(_model.batch()); cycle = [step]; cycle.append(cycle); {}"
        for end, status in (("", 0), ("raise SystemExit(3)", 3)):
            result = subprocess.run([sys.executable, "-B", "-c", program.format(end)], capture_output=True, text=True, check=False,
                                    cwd=os.path.dirname(os.path.abspath(__file__)), timeout=120)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (status, "", ""))

    def test_a_program_may_end_while_threads_work(self):
        """Python ends a thread that is in the library when it asks for Python's lock again."""
        program = "import _model, threading, time\nstep = _model.compiled()\ndef work():\n  while True: {}\n" \
                  "for _ in range(3): threading.Thread(target=work, daemon=True).start()\ntime.sleep(0.2)"
        for call in ("_model.compiled(threads=1)(_model.batch())", "_model.compiled(threads=1)"):
            result = subprocess.run([sys.executable, "-B", "-c", program.format(call)], capture_output=True, text=True, check=False,
                                    cwd=os.path.dirname(os.path.abspath(__file__)), timeout=120)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
