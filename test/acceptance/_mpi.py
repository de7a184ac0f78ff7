"""What the tests of ranks share: runs under mpirun that something happens to, and hosts that are network namespaces."""

import os
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

# As root, Open MPI asks to be told twice; more ranks than cores are meant here.
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
#: Within so many seconds after something has happened, all ranks have ended.
LONGEST = 30


def missing():
    """Why ranks cannot run here, or nothing."""
    return "" if shutil.which("mpirun") else "there is no mpirun: apt-get install openmpi-bin"


class Ranks:
    """A run under mpirun. `commands` are those of the ranks, one for each, or one for all `ranks` of them."""

    def __init__(self, commands, ranks=1, options=()):
        words = ["mpirun", "--oversubscribe", *options]
        for number, command in enumerate(commands):
            words += [":"] * (number > 0) + ["-n", ranks, *command]
        self.ranks = ranks * len(commands)
        self.output = tempfile.TemporaryFile("w+")  # pylint: disable=consider-using-with
        self.mpirun = subprocess.Popen([str(word) for word in words], env=ENVIRONMENT,  # pylint: disable=consider-using-with
                                       stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT, text=True)
        self.seen = {}
        self.disturbed = self.ended = None
        # A run may end while the test looks at another one.
        self.watch = threading.Thread(target=self.note_end, daemon=True)
        self.watch.start()

    def note_end(self):
        self.mpirun.wait()
        self.ended = time.monotonic()

    def running(self):
        return self.mpirun.poll() is None

    def processes(self):
        """{rank: process} of those that have begun, which this also remembers."""
        for process in descendants(self.mpirun.pid):
            try:
                words = (Path("/proc") / str(process) / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            for word in words:
                if word.startswith(b"OMPI_COMM_WORLD_RANK="):
                    self.seen[int(word.split(b"=")[1])] = process
        return self.seen

    def wait_for(self, holds):
        """Waits until `holds()`, which is before the end of the run."""
        until = time.monotonic() + 60
        while not holds():
            if not self.running() or time.monotonic() > until:
                raise AssertionError(f"the run ended before it was disturbed:\n{self.end()[1]}")
            time.sleep(0.01)

    def signal(self, rank, number):
        """Returns whether there was such a process."""
        process = self.processes().get(rank)
        try:
            os.kill(process, number)
        except (TypeError, ProcessLookupError):
            return False
        self.disturbed = time.monotonic()
        return True

    def end(self):
        """(exit status, output, seconds since something has happened), and kills what has not ended by itself."""
        began, status, there = self.disturbed or time.monotonic(), None, ""
        self.watch.join(max(0, began + LONGEST + 10 - time.monotonic()))
        status = self.mpirun.poll()
        if status is None:
            self.processes()
            there = "".join(map(describe, [self.mpirun.pid, *descendants(self.mpirun.pid)]))
            self.mpirun.kill()
            self.watch.join()
        took = max(0, self.ended - began)
        self.output.seek(0)
        return status, self.output.read() + there, took

    def left(self):
        """The ranks whose processes are still there a second after mpirun has ended, and ends them."""
        until, there = time.monotonic() + 1, dict(self.seen)
        while there and time.monotonic() < until:
            there = {rank: process for rank, process in there.items() if is_alive(process)}
            time.sleep(0.01)
        for process in there.values():
            os.kill(process, 9)
        return sorted(there)


def describe(process):
    """What a process is and what its threads wait in, for the message about a run that hangs."""
    text = ""
    for thread in sorted((Path("/proc") / str(process) / "task").glob("*")):
        try:
            text += " ".join([str(process), thread.name, *((thread / name).read_text().strip() for name in ("comm", "wchan")),
                              (thread / "stat").read_text().rsplit(")", 1)[1].split()[0]]) + "\n"
        except OSError:
            pass
    return text


def is_alive(process):
    try:
        return (Path("/proc") / str(process) / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def descendants(process):
    try:
        children = (Path("/proc") / str(process) / "task" / str(process) / "children").read_text().split()
    except OSError:
        return
    for child in children:
        yield int(child)
        yield from descendants(int(child))


class Hosts:
    """Two hosts on one machine: network namespaces, joined by a bridge, each with a host name of its own. Only root may make
    them; `why_not` says what is missing."""

    def __init__(self, folder):
        self.names = [f"mp{os.getpid()}{letter}" for letter in "ab"]
        self.bridge, self.why_not = f"mp{os.getpid()}", ""
        self.network = f"10.{77 + os.getpid() % 100}.0"
        self.agent = folder / "agent.sh"
        folder.mkdir(parents=True, exist_ok=True)
        self.agent.write_text("#!/bin/sh\n# agent.sh HOST COMMAND..., as ssh\nhost=$1\nshift\n"
                              'exec ip netns exec "$host" unshare --uts sh -c "hostname $host && $*"\n')
        self.agent.chmod(0o755)

    def __enter__(self):
        words = [f"link add {self.bridge} type bridge", f"addr add {self.network}.254/24 dev {self.bridge}",
                 f"link set {self.bridge} up"]
        for number, name in enumerate(self.names, 1):
            words += [f"netns add {name}", f"link add {name}v type veth peer name eth0 netns {name}",
                      f"link set {name}v master {self.bridge} up", f"-n {name} addr add {self.network}.{number}/24 dev eth0",
                      f"-n {name} link set eth0 up", f"-n {name} link set lo up"]
        for line in words:
            self.why_not = self.why_not or self.ip(line)
        return self

    def __exit__(self, *_):
        for name in self.names:
            self.ip(f"netns del {name}")
        self.ip(f"link del {self.bridge}")

    @staticmethod
    def ip(line):
        """Runs a command of iproute2; a message or nothing."""
        if not shutil.which("ip"):
            return "there is no ip: apt-get install iproute2"
        result = subprocess.run(["ip", *line.split()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return f"ip {line}: {result.stdout.strip()}" if result.returncode else ""

    def options(self):
        """Those of mpirun by which a rank runs on each host, ranks talk over TCP, and mpirun soon misses a host."""
        network = f"{self.network}.0/24"
        return ("--mca", "plm_rsh_agent", self.agent, "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", network,
                "--mca", "oob_tcp_if_include", network, "--mca", "oob_tcp_keepalive_time", 5, "--mca", "oob_tcp_keepalive_intvl", 2,
                "--mca", "oob_tcp_keepalive_probes", 3, "--host", ",".join(f"{name}:1" for name in self.names))

    def cut(self):
        """Takes the second host off the network."""
        self.ip(f"link set {self.names[1]}v down")
