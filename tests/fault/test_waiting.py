"""Tasks that are not there yet, or never: who waits says for whom, and does not wait longer than told."""

import time
import unittest

from fault_test import FAILED, LINEAR, TERMINATED, FaultTest, steps_of
from processes import Cluster


class Waiting(FaultTest):
    def test_a_ps_that_never_starts_is_named_every_ten_seconds_until_wait_s(self):
        """Of two ps, the first is there and the second is not. One worker waits 22 s, the other as long as it takes."""
        cluster = Cluster(self.folder, ps=2, workers=2, program=[LINEAR, "--steps=200", f"--logdir={self.logdir}"])
        flags = lambda job, index: cluster.program + cluster.flags(job, index)
        first_ps = self.start(*flags("ps", 0), name="ps/0")
        start = time.monotonic()
        limited = self.start(*flags("worker", 1), "--wait_s=22", name="worker/1")
        patient = self.start(*flags("worker", 0), name="worker/0")

        code = limited.wait(40)
        waited = time.monotonic() - start
        self.assertEqual(code, FAILED, limited.output())
        self.assertTrue(22 <= waited < 27, f"waited {waited:.1f} s\n{limited.output()}")
        self.assertIn("22 s", limited.output().strip().rsplit("\n", 1)[-1])
        for worker in (limited, patient):
            told = [line for line in worker.output().splitlines() if "/job:ps/replica:0/task:1" in line and "wait" in line]
            self.assertGreaterEqual(len(told), 2, worker.output())
            self.assertNotIn("/job:ps/replica:0/task:0", "\n".join(told), "a task that is there is said to be missing")

        start = time.monotonic()
        second_ps = self.start(*flags("ps", 1), name="ps/1")
        self.assertEqual(patient.wait(20), 0, patient.output())
        self.assertLess(time.monotonic() - start, 10)
        for ps in (first_ps, second_ps):
            self.assertEqual(ps.end(), 0)

    def test_a_worker_that_waits_for_a_ps_ends_on_sigterm(self):
        cluster = Cluster(self.folder, ps=1, workers=1, program=[LINEAR, f"--logdir={self.logdir}"])
        worker = self.start(*cluster.program, *cluster.flags("worker", 0), name="worker/0")
        worker.wait_for("listens on")
        self.assertEqual(worker.end(5), TERMINATED, worker.output())

    def test_a_worker_waits_for_the_chief_and_names_what_has_no_value(self):
        cluster = Cluster(self.folder, ps=1, workers=2, program=[LINEAR, "--steps=1000", f"--logdir={self.logdir}"])
        ps, worker = (self.start(*cluster.program, *cluster.flags(*task), name=f"{task[0]}/{task[1]}") for task in (("ps", 0), ("worker", 1)))
        worker.wait_for("weight", 15)
        self.assertEqual(steps_of(worker.output()), [])
        chief = self.start(*cluster.program, *cluster.flags("worker", 0), name="worker/0")
        for process in (chief, worker):
            self.assertEqual(process.wait(20), 0, process.output())
        self.assertEqual(ps.end(), 0)


if __name__ == "__main__":
    unittest.main()
