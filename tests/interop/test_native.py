"""Programs of ours and TensorFlow's readers: checkpoints both ways, event files, the MNIST example on a cluster."""

import glob
import json
import os
import re
import subprocess
import tempfile
import unittest

import numpy as np
import tensorflow.compat.v1 as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from processes import BIN, TANDEM, Process


def launch(folder, *words, ps=1, workers=2):
    """A job by `tandem launch`, run to its end; its output."""
    process = Process("launch", [TANDEM, "launch", "--color=never", f"--ps={ps}", f"--workers={workers}", "--", *words], folder)
    code = process.wait(120)
    assert code == 0, process.output()[-3000:]
    return process.output()


def inspect(path):
    """What `tandem inspect` says of a checkpoint: name -> (dtype, shape, values)."""
    lines = subprocess.run([TANDEM, "inspect", "--json", "--values=-1", path], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line["name"]: (line["dtype"], line["shape"], line["values"]) for line in map(json.loads, lines)}


class LinearRegression(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.logdir = os.path.join(cls.folder.name, "log")
        cls.output = launch(cls.folder.name, BIN / "linear_regression", f"--logdir={cls.logdir}", "--steps=4000")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_it_learns_the_line_and_says_where_things_are(self):
        w, b = map(float, re.search(r"w = (\S+), b = (\S+)", self.output).groups())
        self.assertAlmostEqual(w, 2, delta=0.3)
        self.assertAlmostEqual(b, 0, delta=0.3)
        self.assertIn(self.logdir, self.output)
        self.assertIn("tensorboard", self.output)

    def test_tensorflow_reads_the_checkpoint_tensor_by_tensor(self):
        path = tf.train.latest_checkpoint(self.logdir)
        ours, reader = inspect(path), tf.train.load_checkpoint(path)
        self.assertEqual(sorted(ours), sorted(reader.get_variable_to_shape_map()))
        for name, (dtype, shape, values) in ours.items():
            theirs = reader.get_tensor(name)
            self.assertEqual(theirs.dtype.name, {"float": "float32"}.get(dtype, dtype))
            self.assertEqual(list(theirs.shape), shape)
            np.testing.assert_array_equal(theirs.ravel(), np.array(values, theirs.dtype))

    def test_tensorflow_restores_graph_and_values_from_the_meta_file(self):
        path = tf.train.latest_checkpoint(self.logdir)
        with tf.Graph().as_default(), tf.Session() as session:
            saver = tf.train.import_meta_graph(path + ".meta", clear_devices=True)
            saver.restore(session, path)
            self.assertGreaterEqual(session.run("global_step/Read/ReadVariableOp:0"), 4000)

    def test_tensorboard_reads_our_event_files(self):
        events = EventAccumulator(self.logdir, size_guidance={"scalars": 0, "histograms": 0})
        events.Reload()
        tags = events.Tags()
        self.assertIn("loss_function", tags["scalars"])
        self.assertIn("z", tags["histograms"])
        self.assertTrue(tags["graph"])
        self.assertIn("weight", [node.name for node in events.Graph().node])
        steps = [event.step for event in events.Scalars("loss_function")]
        self.assertEqual(steps, sorted(steps))
        self.assertTrue(all(np.isfinite(event.value) and event.value >= 0 for event in events.Scalars("loss_function")))
        self.assertTrue(all(event.histogram_value.num == 1 for event in events.Histograms("z")))

    def test_a_second_run_goes_on(self):
        output = launch(self.folder.name, BIN / "linear_regression", f"--logdir={self.logdir}", "--steps=4000")
        self.assertGreaterEqual(int(re.search(r"done at step (\d+)", output).group(1)), 8000)


class TensorFlowsCheckpoints(unittest.TestCase):
    def test_every_dtype_is_read(self):
        values = {"float32": np.float32([[1.5, -2]]), "float64": np.float64([3.25]), "int32": np.int32([[1], [2]]), "int64": np.int64(7), "bool": np.array([True, False]),
                  "uint8": np.uint8([0, 255]), "int8": np.int8([-128]), "float16": np.float16([0.5, 65504])}
        with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default(), tf.Session() as session:
            for name, value in values.items():
                tf.Variable(value, name=name)
            tf.Variable([b"ab", b"", b"xyz"], name="string")
            session.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(session, os.path.join(folder, "model"))
            read = inspect(path)
        self.assertEqual(read.pop("string")[2], ["ab", "", "xyz"])
        self.assertEqual(sorted(read), sorted(values))
        for name, value in values.items():
            self.assertEqual(read[name][1], list(value.shape))
            np.testing.assert_array_equal(np.array(read[name][2], value.dtype), value.ravel())

    def test_our_program_goes_on_from_it(self):
        with tempfile.TemporaryDirectory() as folder:
            logdir = os.path.join(folder, "log")
            os.mkdir(logdir)
            with tf.Graph().as_default(), tf.Session() as session:
                tf.Variable([2.0], name="weight")
                tf.Variable([0.0], name="bias")
                tf.Variable(np.int64(1500), name="global_step")
                session.run(tf.global_variables_initializer())
                tf.train.Saver().save(session, os.path.join(logdir, "model.ckpt"), global_step=1500)
            output = launch(folder, BIN / "linear_regression", f"--logdir={logdir}", "--steps=1000", workers=1)
            self.assertIn("restored", output)
            self.assertRegex(output, r"done at step 200\d")


class Mnist(unittest.TestCase):
    def test_the_perceptron_reaches_93_percent_on_a_cluster(self):
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "data")
            output = launch(folder, BIN / "mnist_mlp", f"--data={data}", f"--logdir={os.path.join(folder, 'log')}")
        self.assertGreaterEqual(float(re.search(r"([\d.]+) % of the 2000", output).group(1)), 93)



if __name__ == "__main__":
    unittest.main()
