"""What the tests of this folder share: processes that end with the test, and what a user may expect of a refusal."""

import re
import tempfile
import unittest
from pathlib import Path

from processes import BIN, MARK, TANDEM, Cluster, Process, marked_processes

LINEAR = str(BIN / "linear_regression")
FOR_EVER = "1000000000"  # steps

FAILED, WRONG_FLAGS, INTERRUPTED, KILLED, TERMINATED = 1, 2, 130, 137, 143  # exit codes of docs/failures.md


class FaultTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.logdir = self.folder / "log"

    def start(self, *command, name="program", environment=None):
        process = Process(name, command, self.folder, {MARK: self.folder, **(environment or {})})
        self.addCleanup(lambda: process.popen.poll() is None and process.kill())
        return process

    def run_to_end(self, *command, seconds=20, environment=None):
        """(exit code, output)"""
        process = self.start(*command, environment=environment)
        return process.wait(seconds), process.output()

    def assert_refuses(self, *command, code, naming, lines=None, environment=None):
        """It ends with `code` within seconds, and its last line holds all of `naming`. `lines`: how many it prints at most."""
        result, output = self.run_to_end(*command, environment=environment)
        self.assertEqual(result, code, output)
        last = output.strip().rsplit("\n", 1)[-1]
        for text in naming:
            self.assertIn(str(text), last, output)
        if lines is not None:
            self.assertLessEqual(output.strip().count("\n") + 1, lines, output)

    def train_alone(self, steps):
        """Trains in one process, which leaves a checkpoint in self.logdir. Returns its step."""
        code, output = self.run_to_end(LINEAR, f"--steps={steps}", f"--logdir={self.logdir}")
        self.assertEqual(code, 0, output)
        return saved_steps(output)[-1]

    def job(self, ps=1, workers=2, steps=FOR_EVER, flags=()):
        """A cluster of linear_regression, to be used in `with`."""
        return Cluster(self.folder, ps, workers, [LINEAR, f"--steps={steps}", f"--logdir={self.logdir}", *flags])


def steps_of(output):
    """What a worker has told of its progress, in order."""
    return [int(step) for step in re.findall(r"\bstep (\d+) +loss", output)]


def saved_steps(output):
    return [int(step) for step in re.findall(r"saved \S*model\.ckpt-(\d+)", output)]


def restored_steps(output):
    return [int(step) for step in re.findall(r"restored \S*model\.ckpt-(\d+)", output)]
