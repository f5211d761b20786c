"""A command line that cannot work: one line that names the value, and exit code 2."""

import json
import socket
import unittest

from fault_test import FAILED, LINEAR, TANDEM, WRONG_FLAGS, FaultTest
from processes import free_ports, listens

HOSTS = ("--ps_hosts=127.0.0.1:17001", "--worker_hosts=127.0.0.1:17002,127.0.0.1:17003")
PROGRAMS = ((LINEAR,), (TANDEM, "server"))


class Flags(FaultTest):
    def assert_wrong(self, *command, naming, environment=None):
        with self.subTest(command=" ".join(command)):
            self.assert_refuses(*command, code=WRONG_FLAGS, naming=naming, lines=1, environment=environment)

    def test_an_unknown_flag_is_named(self):
        self.assert_wrong(LINEAR, "--bogus=1", naming=["--bogus"])
        self.assert_wrong(LINEAR, "-bogus", "1", naming=["--bogus"])
        self.assert_wrong(TANDEM, "--bogus", naming=["--bogus"])
        for command in (["server", "--job_name=ps", *HOSTS], ["launch"], ["launch", "--ps=1", "--", "true"], ["inspect"], ["inspect", "somewhere"]):
            self.assert_wrong(TANDEM, *command[:1], "--bogus", *command[1:], naming=["--bogus"])

    def test_an_unknown_word_is_named(self):
        self.assert_wrong(LINEAR, "bogus", naming=["bogus"])
        self.assert_wrong(TANDEM, "bogus", naming=["bogus"])
        self.assert_wrong(TANDEM, "inspect", "one", "bogus", naming=["bogus"])

    def test_flags_of_the_program_belong_behind_two_dashes(self):
        self.assert_wrong(TANDEM, "launch", LINEAR, "--steps=5", naming=["--steps=5", "--"])

    def test_a_missing_flag_is_named(self):
        for program in PROGRAMS:
            self.assert_wrong(*program, *HOSTS, naming=["--job_name"])
        self.assert_wrong(LINEAR, "--job_name=worker", naming=["--ps_hosts"])
        self.assert_wrong(LINEAR, "--job_name=worker", HOSTS[0], naming=["--worker_hosts"])
        self.assert_wrong(TANDEM, "server", naming=["--job_name"])
        self.assert_wrong(TANDEM, "server", "--job_name=worker", naming=["--ps_hosts"])
        self.assert_wrong(TANDEM, "launch", naming=["program"])
        self.assert_wrong(TANDEM, "inspect", naming=["path"])
        self.assert_wrong(TANDEM, naming=["command"])

    def test_a_flag_without_its_value_is_named(self):
        self.assert_wrong(LINEAR, "--steps", naming=["--steps"])
        self.assert_wrong(TANDEM, "server", *HOSTS, "--job_name", naming=["--job_name"])

    def test_a_task_that_is_not_in_the_cluster(self):
        for program in PROGRAMS:
            self.assert_wrong(*program, *HOSTS, "--job_name=worker", "--task_index=2", naming=["2", "worker"])
            self.assert_wrong(*program, *HOSTS, "--job_name=worker", "--task_index=-1", naming=["-1"])
            self.assert_wrong(*program, *HOSTS, "--job_name=worker", "--task_index=first", naming=["task_index", "first"])
            self.assert_wrong(*program, *HOSTS, "--job_name=trainer", "--task_index=0", naming=["trainer"])

    def test_a_malformed_address_is_named(self):
        for address in ("::1:2222", "host", "host:", ":1", "host:99999", "host:0x1", "host:-1", "http://h:1", "grpc://h:1", "h:1/", "127.0.0.1:1 127.0.0.1:2"):
            for program in PROGRAMS:
                self.assert_wrong(*program, "--job_name=worker", "--task_index=0", "--ps_hosts=127.0.0.1:17001", f"--worker_hosts=127.0.0.1:17002,{address}", naming=[address])

    def test_an_empty_address_is_refused(self):
        for program in PROGRAMS:
            self.assert_wrong(*program, "--job_name=worker", "--task_index=0", "--ps_hosts=127.0.0.1:17001", "--worker_hosts=127.0.0.1:17002,,127.0.0.1:17003", naming=["worker", "1"])

    def test_a_number_that_is_none(self):
        self.assert_wrong(LINEAR, "--steps=many", naming=["--steps", "many"])
        for wait in ("soon", "-1", "nan"):
            self.assert_wrong(LINEAR, *HOSTS, "--job_name=worker", f"--wait_s={wait}", naming=["--wait_s", wait])
        self.assert_wrong(TANDEM, "launch", "--workers=none", "--", "true", naming=["--workers", "none"])
        self.assert_wrong(TANDEM, "launch", "--ps=-1", "--", "true", naming=["--ps", "-1"])

    def test_a_cluster_text_that_is_none(self):
        self.assert_wrong(TANDEM, "server", "--cluster=ps=127.0.0.1:17001", "--job_name=ps", naming=["ps=127.0.0.1:17001"])
        self.assert_wrong(TANDEM, "server", "--cluster=ps|nowhere", "--job_name=ps", naming=["nowhere"])

    def test_tf_config_that_is_wrong(self):
        cluster = {"ps": ["127.0.0.1:17001"], "worker": ["127.0.0.1:17002"]}
        wrong = {"{": ["TF_CONFIG"],
                 json.dumps({"cluster": cluster}): ["TF_CONFIG"],
                 json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 5}}): ["TF_CONFIG", "5"],
                 json.dumps({"cluster": cluster, "task": {"type": "trainer", "index": 0}}): ["TF_CONFIG", "trainer"],
                 json.dumps({"cluster": {"ps": "127.0.0.1:17001"}, "task": {"type": "ps", "index": 0}}): ["TF_CONFIG", "ps"]}
        for text, naming in wrong.items():
            for program in PROGRAMS:
                self.assert_wrong(*program, naming=naming, environment={"TF_CONFIG": text})

    def test_help_is_no_error(self):
        for command in ([LINEAR], [TANDEM], [TANDEM, "server"], [TANDEM, "launch"], [TANDEM, "inspect"]):
            code, output = self.run_to_end(*command, "--help")
            self.assertEqual(code, 0, output)
            self.assertIn("--", output)


class Ports(FaultTest):
    def flags(self, ps, worker, job="ps", index=0):
        return [f"--job_name={job}", f"--task_index={index}", f"--ps_hosts={ps}", f"--worker_hosts={worker}"]

    def test_a_port_in_use_is_named(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            address = "127.0.0.1:%d" % other.getsockname()[1]
            for program in PROGRAMS:
                with self.subTest(program=program):
                    self.assert_refuses(*program, *self.flags(address, "127.0.0.1:17002"), code=FAILED, naming=[address, "in use"])

    def test_the_same_task_cannot_start_twice(self):
        port, = free_ports(1)
        flags = self.flags(f"127.0.0.1:{port}", "127.0.0.1:17002")
        first = self.start(TANDEM, "server", *flags)
        first.wait_for("listens on")
        self.assert_refuses(TANDEM, "server", *flags, code=FAILED, naming=[port])
        self.assertIsNone(first.popen.poll())

    def test_a_killed_task_starts_again_at_once(self):
        port, = free_ports(1)
        for _ in range(5):
            server = self.start(TANDEM, "server", *self.flags(f"127.0.0.1:{port}", "127.0.0.1:17002"))
            server.wait_for("listens on")
            server.kill()

    def test_two_tasks_with_one_address_are_both_named(self):
        port, = free_ports(1)
        address = f"127.0.0.1:{port}"
        for program in PROGRAMS:
            with self.subTest(program=program):
                server = self.start(*program, *self.flags(address, f"127.0.0.1:17002,{address}"))
                server.wait_for("/job:ps/replica:0/task:0")
                warning = next(line for line in server.output().splitlines() if address in line)
                self.assertIn("/job:ps/replica:0/task:0", warning)
                self.assertIn("/job:worker/replica:0/task:1", warning)
                server.wait_for("listens on")
                self.assert_refuses(*program, *self.flags(address, f"127.0.0.1:17002,{address}", "worker", 1), code=FAILED, naming=[address, "in use"])
                server.kill()

    def test_ipv6_works_in_brackets(self):
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(("::1", 0))
        except OSError:
            self.skipTest("this machine has no IPv6")
        ps, worker = free_ports(2)
        flags = lambda job: self.flags(f"[::1]:{ps}", f"[::1]:{worker}", job) + ["--steps=50", f"--logdir={self.logdir}"]
        server = self.start(LINEAR, *flags("ps"))
        code, output = self.run_to_end(LINEAR, *flags("worker"))
        self.assertEqual(code, 0, output)
        self.assertFalse(listens(f"127.0.0.1:{ps}"), "it listens on another host than its own entry's")
        self.assertEqual(server.end(), 0)


if __name__ == "__main__":
    unittest.main()
