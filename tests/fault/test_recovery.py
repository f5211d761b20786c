"""A task dies in mid-training: the others say so, wait, and go on from the last checkpoint; a worker more or less is nobody's business."""

import signal
import time
import unittest

from fault_test import TERMINATED, FaultTest, restored_steps, saved_steps, steps_of
from processes import Cluster


class Recovery(FaultTest):
    def wait_until(self, condition, seconds, what, *processes):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                self.fail(f"{what}: not within {seconds} s\n" + "\n".join(f"{p.name}:\n{p.output()[-2500:]}" for p in processes))
            time.sleep(0.02)

    def wait_for_steps(self, worker, count=1, seconds=30):
        """Until the worker has told of `count` more reports of progress than before."""
        before = len(steps_of(worker.output()))
        self.wait_until(lambda: len(steps_of(worker.output())) >= before + count, seconds, f"{worker.name} makes steps", worker)

    def wait_for_checkpoint(self, chief, seconds=30):
        """Of a model that has been trained a little."""
        self.wait_until(lambda: any(step > 0 for step in saved_steps(chief.output())), seconds, "a checkpoint", chief)

    def test_ps_killed_and_started_again(self):
        with self.job() as job:
            ps, chief, worker = (job.servers[task] for task in (("ps", 0), ("worker", 0), ("worker", 1)))
            self.wait_for_checkpoint(chief)
            self.wait_for_steps(worker)
            ps.kill()
            for process in (chief, worker):
                process.wait_for("lost the session", 10)
            saved = saved_steps(chief.output())[-1]
            before = {process: len(steps_of(process.output())) for process in (chief, worker)}

            ps = job.start("ps", 0)
            for process in (chief, worker):
                process.wait_for("going on after", 20)
            self.assertEqual(restored_steps(chief.output()), [saved], chief.output())
            for process in (chief, worker):
                self.wait_for_steps(process, 2)
                after = steps_of(process.output())[before[process]:]
                self.assertGreaterEqual(after[0], saved)
                self.assertEqual(after, sorted(after))
            for process in (worker, chief, ps):
                self.assertEqual(process.end(5), 0, process.output())

    def test_ps_killed_twice_in_a_row(self):
        """The second time while the workers are about to find their way back."""
        with self.job() as job:
            chief, worker = job.servers["worker", 0], job.servers["worker", 1]
            self.wait_for_steps(chief)
            for _ in range(2):
                job.servers["ps", 0].kill()
                chief.wait_for("lost the session", 10)
                job.start("ps", 0)
            for process in (chief, worker):
                self.wait_for_steps(process, 2)
                self.assertEqual(process.end(5), 0, process.output())

    def test_chief_killed_and_started_again(self):
        with self.job() as job:
            chief, worker = job.servers["worker", 0], job.servers["worker", 1]
            self.wait_for_checkpoint(chief)
            chief.kill()
            self.wait_for_steps(worker, 2)  # goes on alone
            saved = saved_steps(chief.output())[-1]
            chief = job.start("worker", 0)
            chief.wait_for("restored ", 20)
            self.assertEqual(restored_steps(chief.output()), [saved], chief.output())
            for process in (chief, worker):
                self.wait_for_steps(process, 2)
                self.assertGreaterEqual(steps_of(process.output())[-1], saved)
            self.assertNotIn("lost the session", worker.output())

    def test_worker_killed_and_started_again(self):
        with self.job() as job:
            chief, worker = job.servers["worker", 0], job.servers["worker", 1]
            self.wait_for_steps(worker)
            worker.kill()
            self.wait_for_steps(chief, 3, seconds=10)
            step = steps_of(chief.output())[-1]
            worker = job.start("worker", 1)
            self.wait_for_steps(worker, seconds=10)
            self.assertGreaterEqual(steps_of(worker.output())[0], step)
            self.wait_for_steps(chief)
            steps = steps_of(chief.output())
            self.assertEqual(steps, sorted(steps), "the step went down")
            self.assertNotIn("lost the session", chief.output())
            self.assertNotIn("initialised", worker.output())


class Sigterm(Recovery):
    """Each task ends within 5 s (Process.end), and the exit code tells whether it was done."""

    def test_any_task_of_a_job_in_mid_training(self):
        with self.job() as job:
            ps, chief, worker = (job.servers[task] for task in (("ps", 0), ("worker", 0), ("worker", 1)))
            self.wait_for_steps(chief)
            self.assertEqual(worker.end(5), 0, worker.output())
            self.wait_for_steps(chief)
            self.assertEqual(chief.end(5), 0, chief.output())
            step = int(chief.output().rsplit("done at step ", 1)[1].split(":")[0])
            self.assertEqual(saved_steps(chief.output())[-1], step)
            self.assertEqual(ps.end(5), 0, ps.output())

    def test_ps_that_workers_are_using(self):
        with self.job() as job:
            self.wait_for_steps(job.servers["worker", 1])
            self.assertEqual(job.servers["ps", 0].end(5), 0, job.servers["ps", 0].output())
            for index in (0, 1):
                job.servers["worker", index].wait_for("lost the session", 10)

    def test_workers_whose_ps_is_gone(self):
        with self.job() as job:
            chief, worker = job.servers["worker", 0], job.servers["worker", 1]
            self.wait_for_steps(worker)
            job.servers["ps", 0].kill()
            for process in (chief, worker):
                process.wait_for("lost the session", 10)
                self.assertEqual(process.end(5), TERMINATED, process.output())

    def test_workers_whose_ps_does_not_answer(self):
        """A stopped process keeps its connections: nothing but time tells."""
        with self.job() as job:
            ps, chief, worker = (job.servers[task] for task in (("ps", 0), ("worker", 0), ("worker", 1)))
            self.wait_for_steps(worker)
            ps.popen.send_signal(signal.SIGSTOP)
            try:
                for process in (chief, worker):
                    self.assertEqual(process.end(5), TERMINATED, process.output())
            finally:
                ps.popen.send_signal(signal.SIGCONT)

    def test_tandem_server(self):
        with Cluster(self.folder, ps=1, workers=1) as servers:
            for server in servers.servers.values():
                self.assertEqual(server.end(5), TERMINATED, server.output())


if __name__ == "__main__":
    unittest.main()
