"""Ops around checkpoint files that need no file. The others: tests/save_restore_test.cc, src/checkpoint."""
from cases import case, i32, strs

case("ShardedFilename", [strs("a/b", shape=()), i32([3])[0], i32([12])[0]], name="padded")
case("ShardedFilename", [strs("a", shape=()), i32([-3])[0], i32([123456])[0]], name="odd_numbers")
case("ShardedFilename", [strs("a", "b"), i32([3])[0], i32([12])[0]], name="two_names", error="INVALID_ARGUMENT", text="basename must be a scalar")
case("ShardedFilespec", [strs("a/b", shape=()), i32([12])[0]], name="padded")
case("RestoreV2", [strs("no/such/prefix", shape=()), strs("w"), strs("")], dtypes=["float"], name="no_checkpoint", error="NOT_FOUND",
     text="Unsuccessful TensorSliceReader constructor: Failed to find any matching files for no/such/prefix")
case("RestoreV2", [strs("x", shape=()), strs("w", "v"), strs("")], dtypes=["float", "float"], name="counts_differ", error="INVALID_ARGUMENT",
     text="tensor_names and shape_and_slices have different number of elements: 2 vs. 1")
case("Restore", [strs("no/such/file", shape=()), strs("w", shape=())], dt="float", name="no_checkpoint", error="NOT_FOUND")
case("ReadFile", [strs("no/such/file", shape=())], name="no_file", error="NOT_FOUND", text="no/such/file; No such file or directory")
case("MatchingFiles", [strs("no/such/*", shape=())], name="nothing")
