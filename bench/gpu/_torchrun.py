"""Ranks that are started as torchrun starts them, by its variables, where there may be no torchrun."""

import os
import socket
import subprocess
import tempfile


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Ranks:
    """The processes of a command, one for each rank."""

    def __init__(self, ranks, command, environment=None):
        # The port at which ranks meet is the next one.
        shared = {"WORLD_SIZE": ranks, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port() - 1, **(environment or {})}
        self.output = tempfile.TemporaryFile("w+")  # pylint: disable=consider-using-with
        self.processes = [
            subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=self.output,  # pylint: disable=consider-using-with
                             stderr=subprocess.STDOUT, text=True,
                             env={**os.environ, **{name: str(value) for name, value in
                                                   {**shared, "RANK": rank, "LOCAL_RANK": rank}.items()}})
            for rank in range(ranks)]

    def end(self, seconds):
        """(the exit status of each rank, what they wrote). Kills those that have not ended in so many seconds."""
        try:
            for process in self.processes:
                process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        self.output.seek(0)
        return [process.returncode for process in self.processes], self.output.read()
