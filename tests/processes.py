"""Starts the processes of a test on free ports of this machine, and ends all of them."""

import os
import random
import signal
import socket
import subprocess
import time
from pathlib import Path

BIN = Path(os.environ["TANDEM_BIN"])
TANDEM = str(BIN / "tandem")
MARK = "TANDEM_TEST_OF"  # in the environment of what a test starts: finds what outlives it


def free_ports(count):
    """Ports below the range from which outgoing connections take theirs."""
    sockets = []
    while len(sockets) < count:
        candidate = socket.socket()
        try:
            candidate.bind(("127.0.0.1", random.randrange(15000, 32000)))
            sockets.append(candidate)
        except OSError:
            candidate.close()
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def listens(address):
    host, port = address.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), 1).close()
        return True
    except OSError:
        return False


def marked_processes(mark):
    """The processes of this machine that have `mark` in MARK, by inheritance: {pid: words of the command line}."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:  # it has ended meanwhile, or is another user's
            pass
    return found


class Process:
    """A program whose output goes to a file."""

    def __init__(self, name, command, folder, environment=None):
        self.name, self.log = name, Path(folder) / f"{name.replace('/', '-')}-{time.monotonic_ns()}.log"
        with open(self.log, "wb") as log:
            self.popen = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                          env={**os.environ, **(environment or {})})

    def output(self):
        return self.log.read_text(errors="replace")

    def wait(self, seconds):
        """The exit code as a shell tells it; an error with the end of the log if the process does not end in time."""
        try:
            code = self.popen.wait(seconds)
            return code if code >= 0 else 128 - code
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} did not end within {seconds} s:\n{self.output()[-3000:]}") from None

    def wait_for(self, text, seconds=30):
        """Until the output holds `text`."""
        deadline = time.monotonic() + seconds
        while text not in self.output():
            if self.popen.poll() is not None and text not in self.output():
                raise AssertionError(f"{self.name} ended with {self.popen.returncode} before it said {text!r}:\n{self.output()[-3000:]}")
            if time.monotonic() > deadline:
                raise AssertionError(f"{self.name} did not say {text!r} within {seconds} s:\n{self.output()[-3000:]}")
            time.sleep(0.02)

    def kill(self):
        self.popen.kill()
        self.popen.wait()

    def end(self, seconds=5):
        """SIGTERM; returns the exit code. A process that does not end in time is killed, and an error."""
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGTERM)
        try:
            return self.wait(seconds)
        except AssertionError:
            self.kill()
            raise AssertionError(f"{self.name} did not end within {seconds} s of SIGTERM:\n{self.output()[-2000:]}") from None


class Cluster:
    """Processes of one cluster, ps and workers: `tandem server`, or each `program` with its flags. Entering the context starts them all;
    leaving it ends them and everything else that was started here."""

    def __init__(self, folder, ps=1, workers=2, program=(TANDEM, "server")):
        self.folder, self.program = folder, list(program)
        ports = free_ports(ps + workers)
        self.hosts = {"ps": [f"127.0.0.1:{p}" for p in ports[:ps]], "worker": [f"127.0.0.1:{p}" for p in ports[ps:]]}
        self.servers, self.others = {}, []

    def flags(self, job, index):
        return [f"--job_name={job}", f"--task_index={index}", f"--ps_hosts={','.join(self.hosts['ps'])}", f"--worker_hosts={','.join(self.hosts['worker'])}"]

    def start(self, job, index, wait=True):
        self.servers[job, index] = Process(f"{job}/{index}", self.program + self.flags(job, index), self.folder)
        if wait:
            self.wait_until_listening(job, index)
        return self.servers[job, index]

    def wait_until_listening(self, job, index, seconds=20):
        server, deadline = self.servers[job, index], time.monotonic() + seconds
        while not listens(self.hosts[job][index]):
            if server.popen.poll() is not None:
                raise AssertionError(f"{server.name} ended with {server.popen.returncode}:\n{server.output()[-2000:]}")
            if time.monotonic() > deadline:
                raise AssertionError(f"{server.name} does not listen after {seconds} s")
            time.sleep(0.02)

    def run(self, name, command, environment=None):
        process = Process(name, command, self.folder, environment)
        self.others.append(process)
        return process

    def target(self, worker=0):
        return "grpc://" + self.hosts["worker"][worker]

    def __enter__(self):
        try:
            for job, hosts in self.hosts.items():
                for index in range(len(hosts)):
                    self.start(job, index, wait=False)
            for job, index in list(self.servers):
                self.wait_until_listening(job, index)
        except BaseException:  # nobody leaves a context that was not entered
            for server in self.servers.values():
                server.kill()
            raise
        return self

    def __exit__(self, *_):
        for process in self.others:
            if process.popen.poll() is None:
                process.kill()
        problems = []
        for server in self.servers.values():
            try:
                server.end()
            except AssertionError as problem:
                problems.append(str(problem))
        assert not problems, "\n".join(problems)
