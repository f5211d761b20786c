"""The classic script of real TensorFlow against our ps and two workers: training, checkpoints, event files, going on."""

import glob
import os
import re
import sys
import tempfile
import unittest

import numpy as np
import tensorflow.compat.v1 as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from processes import Cluster

HERE = os.path.dirname(os.path.abspath(__file__))


def start_script(cluster, index, logdir, steps=400):
    return cluster.run(f"script-{index}", [sys.executable, os.path.join(HERE, "classic_regression.py"), f"--master={cluster.target(index)}", f"--task_index={index}",
                                           f"--logdir={logdir}", f"--steps={steps}"])


class Classic(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.logdir = os.path.join(cls.folder.name, "log")
        with Cluster(cls.folder.name, ps=1, workers=2) as cluster:
            scripts = [start_script(cluster, index, cls.logdir) for index in (1, 0)]
            cls.codes = [script.wait(120) for script in scripts]
            cls.outputs = [script.output() for script in scripts]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_both_scripts_learn_the_line(self):
        self.assertEqual(self.codes, [0, 0], "\n".join(self.outputs))
        for output in self.outputs:
            w, b = map(float, re.search(r"w (\S+) b (\S+)", output).groups())
            self.assertAlmostEqual(w, 2, delta=0.1)
            self.assertAlmostEqual(b, 10, delta=0.1)

    def test_one_checkpoint_remains_and_tensorflow_reads_it(self):
        self.assertEqual(len(glob.glob(os.path.join(self.logdir, "*.index"))), 1)
        reader = tf.train.load_checkpoint(self.logdir)
        self.assertEqual(sorted(reader.get_variable_to_shape_map()), ["bias", "global_step", "weight"])
        self.assertAlmostEqual(float(reader.get_tensor("bias")[0]), 10, delta=0.1)
        self.assertGreaterEqual(int(reader.get_tensor("global_step")), 400)

    def test_tensorflow_restores_it_in_a_local_session(self):
        with tf.Graph().as_default(), tf.Session() as session:
            weight = tf.get_variable("weight", [1])
            bias = tf.get_variable("bias", [1])
            tf.train.Saver().restore(session, tf.train.latest_checkpoint(self.logdir))
            np.testing.assert_allclose(session.run([weight, bias]), [[2], [10]], atol=0.1)

    def test_tensorboard_lists_scalars_histograms_and_the_graph(self):
        events = EventAccumulator(self.logdir, size_guidance={"scalars": 0, "histograms": 0})
        events.Reload()
        tags = events.Tags()
        self.assertIn("loss_function", tags["scalars"])
        self.assertIn("z", tags["histograms"])
        self.assertTrue(tags["graph"])
        losses = [event.value for event in events.Scalars("loss_function")]
        self.assertGreater(losses[0], losses[-1])

    def test_a_new_cluster_goes_on_from_the_checkpoint(self):
        with Cluster(self.folder.name, ps=1, workers=1) as cluster:
            script = start_script(cluster, 0, self.logdir, steps=450)
            self.assertEqual(script.wait(60), 0, script.output())
            first = int(re.search(r"step at start (\d+)", script.output()).group(1))
            self.assertGreaterEqual(first, 400)


if __name__ == "__main__":
    unittest.main()
