"""A task with two CPU devices, as TensorFlow's client sees it."""

import subprocess
import tempfile
import unittest

import tensorflow.compat.v1 as tf

from processes import TANDEM, Cluster


class Devices(unittest.TestCase):
    def test_each_device_has_its_own_variables(self):
        with tempfile.TemporaryDirectory() as folder, Cluster(folder, ps=1, workers=1, program=(TANDEM, "server", "--devices=CPU:2")) as cluster, tf.Graph().as_default():
            with tf.device("/job:ps/task:0/cpu:1"):
                v = tf.Variable([1.0, 2.0], name="v", use_resource=True)
            with tf.device("/job:ps/task:0/cpu:0"):
                doubled = v * 2.0
            with tf.Session(cluster.target()) as session:
                session.run(v.initializer)
                self.assertEqual(list(session.run(doubled)), [2.0, 4.0])
                names = [device.name for device in session.list_devices()]
        self.assertIn("/job:ps/replica:0/task:0/device:CPU:1", names)
        self.assertIn("/job:worker/replica:0/task:0/device:CPU:1", names)

    def test_a_wrong_number_is_named(self):
        run = subprocess.run([TANDEM, "server", "--job_name=ps", "--ps_hosts=localhost:0", "--worker_hosts=localhost:0", "--devices=GPU:1"], capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 2)
        self.assertIn("GPU:1", run.stderr)


if __name__ == "__main__":
    unittest.main()
