"""tandem launch: one end for all tasks, whatever ends the first of them."""

import os
import signal
import time
import unittest

from fault_test import FAILED, FOR_EVER, INTERRUPTED, KILLED, LINEAR, TANDEM, TERMINATED, FaultTest, restored_steps, steps_of
from processes import marked_processes

# For sh -c: the first word that follows is $0, then come the flags of the task.
WORKER_1_FAILS = 'case "$*" in *job_name=worker*task_index=1*) exit 7;; *) exec sleep 600;; esac'
IGNORES_SIGTERM = 'trap "" TERM; echo started; while true; do sleep 600; done'


class Launch(FaultTest):
    def launch(self, *words):
        return self.start(TANDEM, "launch", "--color=never", *words, name="launch")

    def launch_linear(self, *flags, steps=FOR_EVER):
        return self.launch("--ps=1", "--workers=2", *flags, "--", LINEAR, f"--steps={steps}", f"--logdir={self.logdir}")

    def lines_of(self, launcher, task):
        return "\n".join(line for line in launcher.output().splitlines() if line.startswith(task))

    def wait_for_steps(self, launcher, *tasks, seconds=30):
        """Until each of `tasks` has told of progress once more."""
        before = {task: len(steps_of(self.lines_of(launcher, task))) for task in tasks}
        deadline = time.monotonic() + seconds
        while any(len(steps_of(self.lines_of(launcher, task))) <= count for task, count in before.items()):
            self.assertIsNone(launcher.popen.poll(), launcher.output()[-3000:])
            self.assertLess(time.monotonic(), deadline, f"no steps within {seconds} s:\n{launcher.output()[-3000:]}")
            time.sleep(0.02)

    def pid_of(self, job, index):
        """Of the task's program."""
        for pid, words in marked_processes(self.folder).items():
            if f"--job_name={job}" in words and f"--task_index={index}" in words:
                return pid
        self.fail(f"there is no process of {job}/{index}")

    def assert_nothing_runs(self, seconds=0):
        deadline = time.monotonic() + seconds
        while marked_processes(self.folder) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(marked_processes(self.folder), {})

    def test_a_job_ends_by_itself_and_a_second_one_goes_on(self):
        first = self.launch_linear(steps=400)
        self.assertEqual(first.wait(30), 0, first.output())
        self.assertIn("all workers are done", first.output())
        self.assert_nothing_runs()
        second = self.launch_linear(steps=800)
        self.assertEqual(second.wait(30), 0, second.output())
        self.assertGreaterEqual(restored_steps(second.output())[0], 400)
        self.assertGreaterEqual(int(second.output().rsplit("done at step ", 1)[1].split(":")[0]), 800)

    def test_ctrl_c_leaves_nothing_running(self):
        launcher = self.launch_linear()
        self.wait_for_steps(launcher, "worker/0", "worker/1")
        launcher.popen.send_signal(signal.SIGINT)
        self.assertEqual(launcher.wait(8), INTERRUPTED, launcher.output())
        self.assert_nothing_runs()

    def test_sigterm_ends_all(self):
        launcher = self.launch_linear()
        self.wait_for_steps(launcher, "worker/0")
        launcher.popen.send_signal(signal.SIGTERM)
        self.assertEqual(launcher.wait(8), TERMINATED, launcher.output())
        self.assert_nothing_runs()

    def test_a_task_that_ignores_sigterm_is_killed(self):
        launcher = self.launch("--ps=0", "--workers=2", "--", "sh", "-c", IGNORES_SIGTERM, "task")
        for task in ("worker/0", "worker/1"):
            launcher.wait_for(f"{task}  started")
        launcher.popen.send_signal(signal.SIGINT)
        self.assertEqual(launcher.wait(8), INTERRUPTED, launcher.output())
        self.assertIn("killing it", launcher.output())
        self.assert_nothing_runs(2)

    def test_a_second_ctrl_c_does_not_wait(self):
        launcher = self.launch("--ps=0", "--workers=1", "--", "sh", "-c", IGNORES_SIGTERM, "task")
        launcher.wait_for("started")
        launcher.popen.send_signal(signal.SIGINT)
        launcher.wait_for("ending all tasks")
        launcher.popen.send_signal(signal.SIGINT)
        self.assertEqual(launcher.wait(3), INTERRUPTED, launcher.output())
        self.assert_nothing_runs(2)

    def test_nothing_outlives_a_killed_launcher(self):
        launcher = self.launch_linear()
        self.wait_for_steps(launcher, "worker/1")
        launcher.kill()
        self.assert_nothing_runs(5)

    def test_one_failing_task_ends_all_with_its_code(self):
        launcher = self.launch("--ps=1", "--workers=2", "--", "sh", "-c", WORKER_1_FAILS, "task")
        self.assertEqual(launcher.wait(8), 7, launcher.output())
        self.assertIn("worker/1 ended with exit code 7", launcher.output())
        self.assert_nothing_runs(2)

    def test_a_killed_task_ends_all_and_the_code_names_the_signal(self):
        launcher = self.launch_linear()
        self.wait_for_steps(launcher, "worker/0")
        os.kill(self.pid_of("worker", 1), signal.SIGKILL)
        self.assertEqual(launcher.wait(8), KILLED, launcher.output())
        self.assertIn("worker/1 was ended by signal 9", launcher.output())
        self.assert_nothing_runs()

    def test_restart_brings_any_task_back_and_the_job_ends_well(self):
        launcher = self.launch_linear("--restart")
        self.wait_for_steps(launcher, "worker/0", "worker/1")
        for job, index in (("ps", 0), ("worker", 0), ("worker", 1)):
            os.kill(self.pid_of(job, index), signal.SIGKILL)
            launcher.wait_for(f"{job}/{index} is started again")
            self.wait_for_steps(launcher, "worker/0", "worker/1")
        for index in (1, 0):
            os.kill(self.pid_of("worker", index), signal.SIGTERM)  # whoever is asked to end is done: no restart
        self.assertEqual(launcher.wait(10), 0, launcher.output())
        self.assertIn("all workers are done", launcher.output())
        self.assert_nothing_runs()

    def test_restarts_have_a_limit(self):
        launcher = self.launch("--ps=0", "--workers=1", "--restart", "--max_restarts=1", "--", "sh", "-c", "exit 9", "task")
        self.assertEqual(launcher.wait(8), 9, launcher.output())
        self.assertIn("restart 1 of 1", launcher.output())

    def test_wrong_flags_of_the_program_are_not_tried_again(self):
        launcher = self.launch("--restart", "--", LINEAR, "--bogus=1")
        self.assertEqual(launcher.wait(8), 2, launcher.output())
        self.assertIn("unknown flag --bogus", launcher.output())
        self.assertNotIn("started again", launcher.output())

    def test_a_program_that_does_not_exist_is_named(self):
        self.assert_refuses(TANDEM, "launch", "--", "/nowhere/program", code=FAILED, naming=["/nowhere/program"], lines=1)
        self.assert_nothing_runs()


if __name__ == "__main__":
    unittest.main()
