"""Files that are missing, malformed, damaged or cannot be written: the message names them, the exit code is 1, and no training runs over them."""

import os
import shutil
import unittest
from pathlib import Path

from fault_test import BIN, FAILED, LINEAR, TANDEM, FaultTest, restored_steps

MNIST = Path(__file__).resolve().parents[2] / "examples" / "data"


class Data(FaultTest):
    def assert_malformed(self, text, place, naming=()):
        path = self.folder / "points.csv"
        path.write_text(text)
        with self.subTest(text=text):
            self.assert_refuses(LINEAR, f"--data={path}", f"--logdir={self.logdir}", code=FAILED, naming=[f"{path}:{place}", *naming], lines=1)

    def test_a_missing_data_file_is_named(self):
        path = self.folder / "missing.csv"
        self.assert_refuses(LINEAR, f"--data={path}", f"--logdir={self.logdir}", code=FAILED, naming=[path], lines=1)

    def test_a_folder_is_no_data_file(self):
        self.assert_refuses(LINEAR, f"--data={self.folder}", f"--logdir={self.logdir}", code=FAILED, naming=[self.folder], lines=1)

    def test_a_malformed_line_is_named_with_its_column(self):
        self.assert_malformed("1,2\n3,four\n", "2:3", ["four"])
        self.assert_malformed("one,2\n", "1:1", ["one"])
        self.assert_malformed("1,2\n\n3;4\n", "3:")
        self.assert_malformed("1,2\n3,4,5\n", "2:4")
        self.assert_malformed("1,2x\n", "1:3", ["2x"])
        self.assert_malformed("1,\n", "1:3")
        self.assert_malformed("1,2\n5", "2:")
        self.assert_malformed("1,1e99\n", "1:3", ["1e99"])
        self.assert_malformed("1,nan\n", "1:3", ["nan"])

    def test_a_file_without_points_is_refused(self):
        self.assert_malformed("", "1:1")

    def test_good_data_trains(self):
        path = self.folder / "points.csv"
        path.write_text("1,2\r\n 2 , 4\n\n3,6\n")
        code, output = self.run_to_end(LINEAR, f"--data={path}", f"--logdir={self.logdir}", "--steps=5000")
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"w = (1\.[89]|2\.[01])")


class Logdir(FaultTest):
    def test_a_logdir_that_cannot_be_made_is_named(self):
        (self.folder / "file").write_text("")
        logdir = self.folder / "file" / "log"
        self.assert_refuses(LINEAR, f"--logdir={logdir}", code=FAILED, naming=[logdir])

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_logdir_without_permission_is_named(self):
        self.logdir.mkdir(mode=0o555)
        self.assert_refuses(LINEAR, f"--logdir={self.logdir}", code=FAILED, naming=[self.logdir])

    def test_a_checkpoint_that_cannot_be_written_ends_the_job(self):
        program = self.start(LINEAR, f"--logdir={self.logdir}", "--steps=1000000000")
        program.wait_for("saved ")
        self.logdir.rename(self.folder / "elsewhere")
        self.logdir.write_text("no directory")
        self.assertEqual(program.wait(20), FAILED, program.output())
        self.assertIn(str(self.logdir), program.output().strip().rsplit("\n", 1)[-1])


class Checkpoints(FaultTest):
    """A model was trained; then something happens to its files, and the same program starts again."""

    def setUp(self):
        super().setUp()
        self.step = self.train_alone(50)
        self.prefix = self.logdir / f"model.ckpt-{self.step}"
        self.index, self.data = self.logdir / f"{self.prefix.name}.index", self.logdir / f"{self.prefix.name}.data-00000-of-00001"

    def files(self):
        """All but event files, which every start makes anew."""
        return {path.name: path.read_bytes() for path in self.logdir.iterdir() if "tfevents" not in path.name}

    def assert_not_restored(self, *naming):
        before = self.files()
        self.assert_refuses(LINEAR, "--steps=100", f"--logdir={self.logdir}", code=FAILED, naming=naming)
        self.assertEqual(self.files(), before, "the files of the damaged checkpoint were changed")

    def change(self, path, change):
        path.write_bytes(change(path.read_bytes()))

    def flip_last_byte(self):
        """Of global_step, which is saved last."""
        self.change(self.data, lambda b: b[:-1] + bytes([b[-1] ^ 0x40]))

    def test_a_good_one_is_restored(self):
        code, output = self.run_to_end(LINEAR, "--steps=60", f"--logdir={self.logdir}")
        self.assertEqual(code, 0, output)
        self.assertEqual(restored_steps(output), [self.step], output)

    def test_an_emptied_index(self):
        self.change(self.index, lambda b: b"")
        self.assert_not_restored(self.index.name)

    def test_half_an_index(self):
        self.change(self.index, lambda b: b[:len(b) // 2])
        self.assert_not_restored(self.index.name)

    def test_an_index_with_another_end(self):
        self.change(self.index, lambda b: b[:-8] + bytes(8))
        self.assert_not_restored(self.index.name)

    def test_a_flipped_byte_in_the_index(self):
        self.change(self.index, lambda b: b[:8] + bytes([b[8] ^ 1]) + b[9:])
        self.assert_not_restored(self.index.name)

    def test_data_cut_by_a_byte(self):
        self.change(self.data, lambda b: b[:-1])
        self.assert_not_restored(self.data.name, "global_step")

    def test_a_flipped_byte_in_a_tensor(self):
        self.flip_last_byte()
        self.assert_not_restored(self.prefix, "global_step")

    def test_no_data(self):
        self.data.unlink()
        self.assert_not_restored(self.data.name)

    def test_no_index(self):
        self.index.unlink()
        self.assert_not_restored(self.prefix)

    def test_an_empty_state_file(self):
        (self.logdir / "checkpoint").write_bytes(b"")
        self.assert_not_restored(self.logdir / "checkpoint")

    def test_a_state_file_that_names_a_vanished_checkpoint(self):
        (self.logdir / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-40"\nall_model_checkpoint_paths: "model.ckpt-40"\n')
        self.assert_not_restored(self.logdir / "model.ckpt-40")

    def test_a_state_file_that_lists_a_vanished_older_one_too(self):
        (self.logdir / "checkpoint").write_text(
            f'model_checkpoint_path: "{self.prefix.name}"\nall_model_checkpoint_paths: "model.ckpt-40"\nall_model_checkpoint_paths: "{self.prefix.name}"\n')
        code, output = self.run_to_end(LINEAR, "--steps=60", f"--logdir={self.logdir}")
        self.assertEqual(code, 0, output)
        self.assertNotIn("model.ckpt-40", (self.logdir / "checkpoint").read_text())

    def test_a_checkpoint_of_another_model_names_the_missing_tensor(self):
        before = self.files()
        self.assert_refuses(str(BIN / "mnist_softmax"), f"--data={MNIST}", "--steps=10", f"--logdir={self.logdir}", code=FAILED, naming=[self.prefix, "softmax"])
        self.assertEqual(self.files(), before)

    def test_a_chief_of_a_cluster_ends_and_its_ps_lives(self):
        self.flip_last_byte()
        with self.job(ps=1, workers=1) as job:
            self.assertEqual(job.servers["worker", 0].wait(20), FAILED, job.servers["worker", 0].output())
            last = job.servers["worker", 0].output().strip().rsplit("\n", 1)[-1]
            self.assertIn(str(self.prefix), last)
            self.assertIn("global_step", last)
            self.assertIsNone(job.servers["ps", 0].popen.poll())
            shutil.rmtree(self.logdir)
            job.program[1] = "--steps=50"
            self.assertEqual(job.start("worker", 0, wait=False).wait(20), 0, job.servers["worker", 0].output())

    def test_inspect_names_what_is_damaged_and_reads_the_rest(self):
        self.flip_last_byte()
        self.assert_refuses(TANDEM, "inspect", self.prefix, code=FAILED, naming=[self.prefix, "global_step"])
        code, output = self.run_to_end(TANDEM, "inspect", self.prefix, "--tensor=weight")
        self.assertEqual(code, 0, output)
        self.assertIn("1 tensors", output)

    def test_inspect_of_an_index_that_is_none(self):
        self.change(self.index, lambda b: b[:-8] + bytes(8))
        self.assert_refuses(TANDEM, "inspect", self.prefix, code=FAILED, naming=[self.index.name], lines=1)


class Inspect(FaultTest):
    def test_nothing_there(self):
        self.assert_refuses(TANDEM, "inspect", self.folder / "nothing", code=FAILED, naming=[self.folder / "nothing"], lines=1)

    def test_a_folder_without_checkpoints(self):
        (self.folder / "empty").mkdir()
        self.assert_refuses(TANDEM, "inspect", self.folder / "empty", code=FAILED, naming=[self.folder / "empty"], lines=1)

    def test_files_of_random_bytes(self):
        for name in ("graph.pb", "model.meta", "model.index", "events.out.tfevents.1.host"):
            path = self.folder / name
            path.write_bytes(bytes((i * i * 7 + i) % 251 + 4 for i in range(500)))
            with self.subTest(name=name):
                self.assert_refuses(TANDEM, "inspect", path, code=FAILED, naming=[path], lines=1)

    def test_a_tensor_that_is_not_in_the_checkpoint(self):
        step = self.train_alone(5)
        self.assert_refuses(TANDEM, "inspect", self.logdir / f"model.ckpt-{step}", "--tensor=nope", code=FAILED, naming=["nope"])


if __name__ == "__main__":
    unittest.main()
