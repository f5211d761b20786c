"""Constants, shapes, slices, joins, gathers, scatters, segments and other moving of elements."""
import numpy as np

from cases import arr, bf16, bools, c64, c128, case, f16, f32, f64, i8, i16, i32, i64, ref, strs, u8, u16, u32, u64, var

BAD = "INVALID_ARGUMENT"
TYPES = {"half": f16, "bfloat16": bf16, "double": f64, "int8": i8, "int16": i16, "int32": i32, "int64": i64, "uint8": u8, "uint16": u16, "complex64": c64,
         "complex128": c128, "bool": bools}


def words(*shape):
    count = int(np.prod(shape))
    return strs(*[b"w%d" % i * (i % 3) for i in range(count)], shape=shape)


# -- constants, feeding, control

case("Identity", [f32(2, 3)], grad=True)
case("Identity", [words(2, 2)], name="string")
case("IdentityN", [[f32(2), i32(3)]], name="two_types")
case("Snapshot", [f32(3)])
case("GuaranteeConst", [f32(3)])
case("StopGradient", [f32(3)])
case("PreventGradient", [f32(3)])
case("DeepCopy", [f32(3)])
case("PlaceholderWithDefault", [f32(2, 3)], shape=[None, 3], grad=True)
case("Placeholder", [], dtype="float", shape=[None, 7], error=BAD, text="with dtype float and shape [?,7]")
case("Assert", [True, [f32(3)]])
case("Assert", [False, [arr([1, 2, 3, 4], np.int32), arr(b"a b", object)]], error=BAD, text="assertion failed: [1 2 3...] [a b]")
case("Assert", [False, [arr([[1.5, 2], [3, 4]], np.float32), bools([True, False])]], error=BAD, text="assertion failed: [[1.5 2][3...]...] [1 0]")
case("EnsureShape", [f32(2, 3)], shape=[None, 3], grad=True)
case("EnsureShape", [f32(2, 3)], shape=[3, None], error=BAD, text="is not compatible with expected shape [3,?]")
case("StringFormat", [[f32(3), arr([[1, 2], [3, 4]], np.int32)]], template="a % b %", placeholder="%")
case("StringFormat", [[i64(9, 8, 7), words(4), f64(20), bools(2), f16(2), u8(3)]], template="......", placeholder=".", name="long")
case("StringFormat", [[i64(2, 0)]], template="x%s", summarize=-1, name="empty")

# -- shape

case("Shape", [f32(2, 0, 3)])
case("Shape", [f32()], out_type="int64", name="of_a_scalar")
case("ShapeN", [[f32(3), f32(2, 2)]])
case("Size", [f32(2, 3)])
case("Size", [f32(2, 0)], out_type="int64", name="int64")
case("Rank", [f32(2, 3)])
case("Reshape", [f32(2, 3), i32([3, 2])], grad=True)
case("Reshape", [f32(2, 3), i64([-1])], grad=True, name="one_unknown")
case("Reshape", [f32(0, 6), i32([0, -1])], name="zero_and_unknown")
case("Reshape", [f32(0), i32([-1, 0])], name="unknown_against_zero")
case("Reshape", [f32(1), i32([])], name="to_a_scalar")
case("Reshape", [f32(6), i32([4])], error=BAD, text="Input to reshape is a tensor with 6 values, but the requested shape has 4")
case("Reshape", [f32(6), i32([-1, 4])], error=BAD, text="requires a multiple of 4")
case("Reshape", [f32(6), i32([-1, -1])], error=BAD)
case("Reshape", [f32(6), i32([-2])], error=BAD)
case("ExpandDims", [f32(2, 3), i32([1])[0]], grad=True)
case("ExpandDims", [words(2), -1], name="last")
case("ExpandDims", [f32(2), 3], error=BAD)
case("Squeeze", [f32(1, 3, 1)], grad=True)
case("Squeeze", [f32(1, 3, 1)], squeeze_dims=[-1], grad=True, name="one_axis")
case("Squeeze", [f32(1, 3)], squeeze_dims=[1], error=BAD)

# -- slices

case("Slice", [f32(4, 3), i32([1, 0]), i32([2, 2])], grad=True)
case("Slice", [f32(4, 3), i64([1, 0]), i64([-1, 3])], grad=True, name="rows_to_the_end")
case("Slice", [words(4, 3), i32([2, 1]), i32([2, 1])], name="string")
case("Slice", [f32(4, 3), i32([4, 0]), i32([0, 1])], name="nothing")
case("Slice", [f32(3), i32([0]), i32([5])], error=BAD, text="Expected size[0] in [0, 3], but got 5")
case("Slice", [f32(3), i32([-1]), i32([1])], error=BAD)
case("Slice", [f32(3), i32([0, 1]), i32([1, 1])], error=BAD)
X = f32(4, 3, 2)
for name, begin, end, strides, masks in (
        ("row", [1], [2], [1], dict(shrink_axis_mask=1)),
        ("last_row", [-1], [0], [1], dict(shrink_axis_mask=1)),
        ("rows", [1], [3], [1], {}),
        ("columns", [0, 1], [0, 2], [1, 1], dict(begin_mask=1, end_mask=1)),
        ("every_second", [0], [0], [2], dict(begin_mask=1, end_mask=1)),
        ("backwards", [0, 0], [0, 0], [-1, -2], dict(begin_mask=3, end_mask=3)),
        ("ellipsis_then_index", [0, 1], [0, 2], [1, 1], dict(ellipsis_mask=1, shrink_axis_mask=2)),
        ("new_axes", [1, 0, 0], [9, 0, 2], [1, 1, 1], dict(new_axis_mask=2)),
        ("new_axis_after_ellipsis", [0, 0, 1], [0, 0, 2], [1, 1, 1], dict(ellipsis_mask=1, new_axis_mask=2)),
        ("ellipsis_of_nothing", [0, 1, 0, 0], [2, 3, 0, 1], [1, 1, 1, 1], dict(ellipsis_mask=4)),
        ("negative_bounds", [-3, -2], [-1, 99], [1, 1], {}),
        ("empty", [2], [2], [1], {}),
        ("wrong_way", [3], [1], [1], {}),
        ("down_to_the_start", [2], [-9], [-1], {}),
        ("all", [], [], [], {}),
):
    case("StridedSlice", [X, i32(begin), i32(end), i32(strides)], grad=True, name=name, **masks)
for name, make in TYPES.items():
    case("StridedSlice", [make(3, 4), i64([2, 0]), i64([-9, 3]), i64([-1, 2])], name=name)
case("StridedSlice", [words(3, 4), i16([2, 0]), i16([-9, 3]), i16([-1, 2])], name="string")
case("StridedSlice", [f32(3), i32([3]), i32([4]), i32([1])], shrink_axis_mask=1, error=BAD, text="slice index 3 of dimension 0 out of bounds.")
case("StridedSlice", [f32(3), i32([0]), i32([4]), i32([0])], error=BAD, text="strides[0] must be non-zero")
case("StridedSlice", [f32(3), i32([0]), i32([4]), i32([-1])], shrink_axis_mask=1, error=BAD, text="only stride 1 allowed on non-range indexing.")
case("StridedSlice", [f32(3), i32([0, 0]), i32([4, 1]), i32([1, 1])], error=BAD, text="Index out of range using input dim 1; input has only 1 dims")
case("StridedSlice", [f32(3), i32([0, 0]), i32([4, 1]), i32([1, 1])], ellipsis_mask=3, error=BAD, text="Multiple ellipses")
case("StridedSliceGrad", [i32([4, 3]), i32([1, 0]), i32([3, 3]), i32([1, 2]), f32(2, 2)], grad=True)
case("StridedSliceGrad", [i32([3, 4]), i32([1]), i32([3]), i32([1]), f32(3, 4)], error=BAD, text="shape of dy was [3,4] instead of [2,4]")
case("StridedSliceAssign", [ref(f32(4, 3)), i32([1, 0]), i32([3, 3]), i32([1, 2]), f32(2, 2)])
case("StridedSliceAssign", [ref(f32(4)), i32([0]), i32([0]), i32([-1]), f32(4)], begin_mask=1, end_mask=1, name="backwards")
case("ResourceStridedSliceAssign", [var(f32(4, 3)), i32([1, 0]), i32([3, 3]), i32([1, 2]), f32(2, 2)])
case("ResourceStridedSliceAssign", [var(f32(4, 3)), i32([1]), i32([0]), i32([1]), f32(3)], shrink_axis_mask=1, name="one_row")

# -- joins and parts

case("Pack", [[f32(2, 3), f32(2, 3)]], grad=True)
case("Pack", [[f32(2, 3), f32(2, 3), f32(2, 3)]], axis=1, grad=True, name="middle")
case("Pack", [[f32(), f32()]], axis=-1, name="scalars")
case("Pack", [[words(2), words(2)]], axis=1, name="string")
case("Pack", [[f32(2), f32(3)]], error=BAD)
case("Pack", [[f32(2), f32(2)]], axis=2, error=BAD)
case("Unpack", [f32(2, 3)], num=2)
case("Unpack", [f32(2, 3)], num=3, axis=1, grad=True, name="columns")
case("Unpack", [words(2, 3)], num=3, axis=-1, name="string")
case("Unpack", [f32(2)], num=3, error=BAD)
case("ConcatV2", [[f32(2, 3), f32(4, 3)], 0], grad=True)
case("ConcatV2", [[f32(2, 3), f32(2, 1), f32(2, 0)], -1], grad=True, name="columns")
case("ConcatV2", [[words(2, 1), words(2, 2)], i64([1])[0]], name="string")
case("Concat", [1, [f32(2, 3), f32(2, 1)]], grad=True)
for name, make in TYPES.items():
    case("ConcatV2", [[make(2, 2), make(2, 1)], 1], name=name)
case("ConcatV2", [[f32(2, 3), f32(2, 2)], 0], error=BAD, text="ConcatOp : Dimension")
case("ConcatV2", [[f32(2), f32(2, 1)], 0], error=BAD)
case("ConcatV2", [[f32(2), f32(2)], 3], error=BAD)
case("ConcatV2", [[f32(), f32()], 0], error=BAD)
case("ConcatOffset", [1, [i32([2, 3]), i32([2, 1]), i32([2, 5])]])
case("ConcatOffset", [0, [i32([2, 3]), i32([2, 1])]], error=BAD)
case("Split", [1, f32(2, 6)], num_split=3, grad=True)
case("Split", [0, words(4, 2)], num_split=2, name="string")
case("Split", [0, f32(3)], num_split=2, error=BAD)
case("SplitV", [f32(4, 6), i64([1, 2, 3]), 1], num_split=3, grad=True)
case("SplitV", [f32(4, 6), i32([1, -1]), -2], num_split=2, grad=True, name="one_unknown")
case("SplitV", [f32(3), i32([1, 1]), 0], num_split=2, error=BAD)
case("SplitV", [f32(3), i32([-1, -1]), 0], num_split=2, error=BAD)

# -- one value, repeats, ranges

case("Fill", [i32([2, 3]), 7.0], grad=True)
case("Fill", [i64([2]), arr(b"x", object)], name="string")
case("Fill", [i32([]), arr(True)], name="scalar")
case("Fill", [i32([-1]), 1.0], error=BAD)
case("Fill", [i32([2, 0]), c64()], name="empty")
case("ZerosLike", [f32(2, 3)])
case("ZerosLike", [words(2)], name="string")
case("OnesLike", [f32(2, 3)])
for name, make in TYPES.items():
    case("OnesLike", [make(2)], name=name)
case("Empty", [i32([2, 3])], dtype="float", init=True)
case("Range", [arr(1, np.int32), arr(8, np.int32), arr(3, np.int32)])
case("Range", [arr(1, np.int64), arr(-8, np.int64), arr(-3, np.int64)], name="down")
case("Range", [arr(0.5, np.float32), arr(1.5, np.float32), arr(0.1, np.float32)], name="float")
case("Range", [arr(0, np.float64), arr(1, np.float64), arr(0.3, np.float64)], name="double")
case("Range", [arr(3, np.int32), arr(3, np.int32), arr(1, np.int32)], name="empty")
case("Range", [arr(1, np.int32), arr(8, np.int32), arr(0, np.int32)], error=BAD)
case("Range", [arr(1, np.int32), arr(8, np.int32), arr(-1, np.int32)], error=BAD)
case("LinSpace", [arr(1.0, np.float32), arr(2.0, np.float32), 5])
case("LinSpace", [arr(1.0, np.float64), arr(2.0, np.float64), 1], name="one")
case("LinSpace", [arr(3.0, np.float32), arr(-2.0, np.float32), i64([7])[0]], name="down")
case("LinSpace", [arr(1, np.float32), 2.0, 0], error=BAD)
case("Tile", [f32(2, 3), i32([2, 3])], grad=True)
case("Tile", [f32(2, 3), i64([1, 0])], name="none")
case("Tile", [words(2), i32([3])], name="string")
case("Tile", [f32(2, 3), i32([2])], error=BAD)
case("Tile", [f32(2), i32([-2])], error=BAD)
case("BroadcastTo", [f32(2, 1), i32([3, 2, 4])], grad=True)
case("BroadcastTo", [words(3), i64([2, 3])], name="string")
case("BroadcastTo", [f32(3), i32([2])], error=BAD)
case("BroadcastArgs", [i32([3, 1]), i32([2, 1, 4])])
case("BroadcastArgs", [i32([3]), i32([2])], error=BAD)

# -- order

case("Transpose", [f32(2, 3, 4), i32([2, 0, 1])], grad=True)
case("Transpose", [f32(33, 35), i64([1, 0])], name="large")
case("Transpose", [f32(2, 33, 1, 34), i32([0, 3, 2, 1])], name="large_4d")
case("Transpose", [f32(1, 3, 1, 2), i32([2, 1, 0, 3])], name="only_ones_move")
for name, make in TYPES.items():
    case("Transpose", [make(2, 3), i32([1, 0])], name=name)
case("Transpose", [words(2, 3), i32([1, 0])], name="string")
case("Transpose", [f32(2, 3), i32([0, 0])], error=BAD)
case("Transpose", [f32(2, 3), i32([0, 2])], error=BAD)
case("Transpose", [f32(2, 3), i32([0])], error=BAD)
case("ConjugateTranspose", [c64(2, 3), i32([1, 0])])
case("InvertPermutation", [i32([2, 0, 1])])
case("InvertPermutation", [i64([2, 0, 0])], error=BAD, text="0 is duplicated in the input.")
case("InvertPermutation", [i32([2, 0, 3])], error=BAD)

# -- gather, stitch

case("Where", [bools([True, False, True])])
case("Where", [i32(3, 4, lo=-1, hi=2)], name="int32")
case("Where", [arr([[0.0, np.nan], [-0.0, 2.0]], np.float32)], name="float")
case("Where", [bools(0, 3)], name="empty")
case("Gather", [f32(4, 3), i32([3, 0, 3])], grad=True)
case("Gather", [words(4), i64([[3, 0], [1, 1]])], name="string")
case("Gather", [f32(4, 3), i32([1, 4])], error=BAD, text="indices[1] = 4 is not in [0, 4)")
case("GatherV2", [f32(4, 3), i32(2, 2, lo=0, hi=4), 0], grad=True)
case("GatherV2", [f32(4, 3, 2), i64([2, 0]), 1], grad=True, name="axis_1")
case("GatherV2", [f32(4, 3), i64([2, 2, 0]), -1], grad=True, name="last_axis")
case("GatherV2", [f32(4, 3), i16([]), 0], name="no_indices")
case("GatherV2", [f32(4, 3), arr(2, np.int32), 0], grad=True, name="scalar_index")
case("GatherV2", [f32(2, 4), arr([[0, 3], [1, 1]], np.int32), 1], batch_dims=1, name="batch_dims", grad=True)
case("GatherV2", [f32(2, 3, 4, 2), i32(2, 3, lo=0, hi=4), 2], batch_dims=1, name="batch_dims_outer", grad=True)
case("GatherV2", [f32(3, 0), i32([7]), 0], name="empty_rows")
case("GatherV2", [f32(3), arr([[0, -1]], np.int32), 0], error=BAD, text="indices[0,1] = -1 is not in [0, 3)")
case("GatherV2", [f32(3), i32([0]), 2], error=BAD)
case("DynamicStitch", [[i32([0, 2]), arr(1, np.int32)], [f32(2, 3), f32(3)]], grad=True)
case("DynamicStitch", [[i32([0, 1]), i32([1])], [f32(2), f32(1)]], name="later_wins")
case("ParallelDynamicStitch", [[i32([0, 2]), i32([1])], [words(2), words(1)]])
case("DynamicStitch", [[i32([])], [f32(0, 2)]], name="empty")
case("DynamicStitch", [[i32([0, -2])], [f32(2)]], error=BAD)
case("DynamicStitch", [[i32([0, 1])], [f32(3)]], error=BAD)
case("DynamicPartition", [f32(5, 2), i32([0, 2, 1, 0, 2])], num_partitions=3, grad=True)
case("DynamicPartition", [words(2, 2), arr([[1, 0], [0, 0]], np.int32)], num_partitions=3, name="string")
case("DynamicPartition", [f32(2), i32([0, 2])], num_partitions=2, error=BAD, text="partitions[1] = 2 is not in [0, 2)")

# -- indices of several coordinates

case("GatherNd", [f32(2, 3), i32([0])], name="one_row")
case("GatherNd", [f32(2, 3), arr([[0, 1], [1, 2]], np.int32)], grad=True)
case("GatherNd", [f32(2, 3, 2), arr([[[1], [0]], [[1], [1]]], np.int64)], grad=True, name="slices")
case("GatherNd", [words(2, 3), arr([[1, 1]], np.int16)], name="string")
case("GatherNd", [f32(2, 3), arr(np.zeros((2, 0)), np.int32)], name="no_coordinates")
case("GatherNd", [f32(2, 3), arr([[0, 3]], np.int32)], error=BAD, text="indices[0] = [0, 3] does not index into param shape [2,3]")
case("GatherNd", [f32(2, 3), arr([[0, 0, 0]], np.int32)], error=BAD)
case("ScatterNd", [arr([[4], [1], [4]], np.int32), f32(3), i32([5])], grad=True)
case("ScatterNd", [arr([[1], [1]], np.int64), f32(2, 3), i64([2, 3])], grad=True, name="slices")
case("ScatterNd", [arr([[1], [1]], np.int32), strs(b"a", b"b"), i32([3])], name="string")
case("ScatterNd", [arr([[0, 1]], np.int32), c64(1), i32([2, 2])], name="complex")
case("ScatterNd", [arr([[5]], np.int32), f32(1), i32([3])], error=BAD, text="indices[0] = [5] does not index into shape [3]")
case("ScatterNd", [arr([[1]], np.int32), f32(2), i32([3])], error=BAD)
case("ScatterNd", [arr([[1]], np.int32), f32(1), i32([0])], error=BAD)
case("TensorScatterUpdate", [f32(5), arr([[1], [4]], np.int32), f32(2)], grad=True)
case("TensorScatterUpdate", [words(2, 2), arr([[1, 0]], np.int64), strs(b"x")], name="string")
case("TensorScatterAdd", [f32(5), arr([[1], [1]], np.int32), f32(2)], grad=True)
case("TensorScatterSub", [f32(3, 2), arr([[1], [1]], np.int32), f32(2, 2)], grad=True)
case("TensorScatterUpdate", [f32(3), arr([[3]], np.int32), f32(1)], error=BAD)
case("ScatterNdNonAliasingAdd", [f32(3), arr([[0], [2]], np.int32), f32(2)], grad=True)

# -- padding and blocks

case("Pad", [f32(2, 3), arr([[1, 0], [2, 1]], np.int32)], grad=True)
case("Pad", [words(2), arr([[1, 2]], np.int64)], name="string")
case("Pad", [f32(), arr(np.zeros((0, 2)), np.int32)], name="scalar")
case("Pad", [f32(0, 2), arr([[1, 1], [0, 0]], np.int32)], name="empty")
case("Pad", [f32(2), arr([[-1, 0]], np.int32)], error=BAD)
case("Pad", [f32(2), arr([[1, 0], [0, 0]], np.int32)], error=BAD)
case("PadV2", [f32(2, 2), arr([[0, 1], [1, 0]], np.int32), arr(5, np.float32)])
case("MirrorPad", [f32(3, 4), arr([[2, 1], [3, 2]], np.int32)], mode="REFLECT", grad=True)
case("MirrorPad", [f32(3, 4), arr([[3, 1], [4, 0]], np.int64)], mode="SYMMETRIC", grad=True)
case("MirrorPad", [i32(2, 2, 2), arr([[1, 0], [1, 1], [0, 1]], np.int32)], mode="REFLECT", name="3d")
case("MirrorPad", [f32(3), arr([[3, 0]], np.int32)], mode="REFLECT", error=BAD)
case("MirrorPad", [f32(3), arr([[0, 4]], np.int32)], mode="SYMMETRIC", error=BAD)
case("MirrorPadGrad", [f32(7, 6), arr([[2, 1], [1, 2]], np.int32)], mode="REFLECT")
case("MirrorPadGrad", [f32(7, 6), arr([[2, 1], [1, 2]], np.int32)], mode="SYMMETRIC")
case("SpaceToDepth", [f32(2, 4, 6, 3)], block_size=2, grad=True)
case("SpaceToDepth", [f32(1, 3, 4, 1)], block_size=2, error=BAD)
case("DepthToSpace", [f32(2, 2, 3, 8)], block_size=2, grad=True)
case("DepthToSpace", [f32(1, 2, 2, 6)], block_size=2, error=BAD)
case("SpaceToBatchND", [f32(2, 4, 3, 2), i32([2, 2]), arr([[0, 0], [1, 0]], np.int32)], grad=True)
case("SpaceToBatchND", [i32(1, 5), i64([3]), arr([[2, 2]], np.int64)], name="1d")
case("BatchToSpaceND", [f32(8, 2, 2, 2), i32([2, 2]), arr([[0, 0], [1, 0]], np.int32)], grad=True)

# -- order, diagonals

case("Reverse", [f32(2, 3), bools([False, True])], grad=True)
case("ReverseV2", [f32(2, 3, 2), i32([-1, 0])], grad=True)
case("ReverseV2", [words(4), i64([0])], name="string")
case("ReverseV2", [f32(3), i32([0, 0])], error=BAD)
case("ReverseV2", [f32(3), i32([1])], error=BAD)
case("ReverseSequence", [f32(3, 4, 2), i32([2, 0, 4])], seq_dim=1, batch_dim=0, grad=True)
case("ReverseSequence", [i32(4, 2, 3), i64([2, 0, 4])], seq_dim=0, batch_dim=2, name="batch_last")
case("ReverseSequence", [f32(3, 4), i32([1, 2, 5])], seq_dim=1, batch_dim=0, error=BAD)
case("Diag", [f32(3)], grad=True)
case("Diag", [i32(2, 2)], name="matrix")
case("DiagPart", [f32(3, 3)], grad=True)
case("DiagPart", [f64(2, 3, 2, 3)], name="4d")
case("DiagPart", [f32(2, 3)], error=BAD)
case("MatrixDiag", [f32(2, 3)], grad=True)
case("MatrixDiagPart", [f32(2, 3, 4)], grad=True)
case("MatrixDiagV3", [f32(2, 3), 0, -1, -1, 0.0], grad=True)
case("MatrixDiagV3", [f32(2, 3), 1, -1, -1, 9.0], name="super")
case("MatrixDiagV3", [f32(3), -1, 4, 3, 9.0], name="sub_rectangular")
for align in ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"):
    case("MatrixDiagV3", [f32(2, 4, 3), i32([-2, 1]), 4, 3, 9.0], align=align, name=align.lower())
    case("MatrixDiagPartV3", [f32(2, 4, 3), i32([-2, 1]), 9.0], align=align, name=align.lower(), grad=align == "LEFT_RIGHT")
    case("MatrixSetDiagV3", [f32(2, 4, 3), f32(2, 3, 3), i32([-1, 1])], align=align, name=align.lower(), grad=align == "LEFT_RIGHT")
case("MatrixDiagPartV3", [f32(3, 3), 3, 0.0], error=BAD)
case("MatrixDiagPartV3", [f32(3, 3), i32([1, 0]), 0.0], error=BAD)
case("MatrixSetDiagV3", [f32(3, 3), f32(2), 0], error=BAD)
case("MatrixBandPart", [f32(2, 3, 4), i64([1])[0], i64([0])[0]], grad=True)
case("MatrixBandPart", [f32(3, 3), i32([0])[0], i32([-1])[0]], name="upper")
case("MatrixBandPart", [f32(2, 2), i64([3])[0], i64([0])[0]], error=BAD)

# -- segments

IDS = i32([1, 0, 1, -1, 3])
for op in ("Sum", "Max", "Min", "Prod"):
    case("UnsortedSegment" + op, [f32(5, 2), IDS, 5], grad=True)
    case("UnsortedSegment" + op, [i32(2, 3, 2), arr([[0, 1, 0], [2, 2, -5]], np.int64), 3], name="matrix_of_ids")
    case("UnsortedSegment" + op, [f32(0, 2), i32([]), 2], name="empty")
    case("Segment" + op, [f32(5, 2), i32([0, 0, 2, 3, 3])], grad=True)
    case("Segment" + op, [i64(4), i64([1, 1, 1, 2])], name="int64")
    case("Segment" + op, [f16(4, 3), i64([0, 1, 1, 1])], name="half")
case("UnsortedSegmentProd", [arr([2, 0, 3, 0, 0], np.float32), i32([0, 0, 1, 2, 2]), 3], grad=True, name="zeros")
case("SegmentProd", [arr([2, 0, 3, 0, 0], np.float32), i32([0, 0, 1, 2, 2])], grad=True, name="zeros")
case("UnsortedSegmentSum", [c64(3), i16([1, 0, 1]), 2], name="complex")
case("UnsortedSegmentSum", [f32(3), i32([0, 2, 1]), 2], error=BAD, text="segment_ids[1] = 2 is out of range [0, 2)")
case("UnsortedSegmentSum", [f32(3), i32([0, 2]), 2], error=BAD)
case("UnsortedSegmentSum", [f32(3), i32([0, 1, 1]), -2], error=BAD)
case("SegmentMean", [f32(5, 2), i32([0, 0, 2, 3, 3])], grad=True)
case("SegmentMean", [i32([1, 2, 4]), i32([1, 1, 1])], name="int32")
case("SegmentSum", [f32(0, 2), i32([])], name="empty")
case("SegmentSum", [f32(3), i32([2, 1, 1])], error=BAD, text="segment ids are not increasing")
case("SegmentSum", [f32(3), i32([0, 0])], error=BAD)
case("SegmentSum", [f32(3), i32([0, 0, -1])], error=BAD)
for op in ("Sum", "Mean", "SqrtN"):
    case("SparseSegment" + op, [f32(4, 3), i32([0, 3, 3, 1]), i32([0, 0, 2, 2])], grad=True)
    case("SparseSegment" + op, [f16(4, 2), i64([0, 3, 3, 1]), i64([0, 0, 0, 1])], name="half")
    case("SparseSegment%sWithNumSegments" % op, [f64(4, 3), i32([0, 3, 3, 1]), i32([0, 0, 2, 2]), 4], grad=True)
    case("SparseSegment%sGrad" % op, [f32(3, 2), i32([0, 3, 3, 1]), i32([0, 0, 2, 2]), 5])
case("SparseSegmentSum", [i32(4), i32([]), i32([])], name="empty")
case("SparseSegmentSum", [f32(3, 2), i32([0, 3]), i32([0, 0])], error=BAD, text="Bad: indices[1] == 3 out of range [0, 3)")
case("SparseSegmentSum", [f32(3, 2), i32([0, 1]), i32([1, 0])], error=BAD)
case("SparseSegmentSumWithNumSegments", [f32(3, 2), i32([0, 1]), i32([0, 2]), 2], error=BAD)
case("SparseSegmentMeanGrad", [f32(3, 2), i32([0, 5]), i32([0, 2]), 5], error=BAD)

# -- unique, bins

case("Unique", [i32([3, 1, 3, 3, 2, 1])])
case("Unique", [i64([5, 5, -1])], out_idx="int64", name="int64")
case("Unique", [strs(b"b", b"a", b"b", b"")], name="string")
case("Unique", [arr([3, np.nan, 3, np.nan, 0, -0.0], np.float32)], name="nan_and_zero")
case("Unique", [i32([])], name="empty")
case("UniqueWithCounts", [i32([3, 1, 3, 3, 2, 1])], out_idx="int64")
case("UniqueV2", [arr([[1, 2], [1, 2], [3, 4]], np.int32), i64([0])])
case("UniqueV2", [arr([[1, 1, 2], [1, 1, 2]], np.float32), i64([-1])], name="columns")
case("UniqueV2", [i32([3, 1, 3]), i32([])], name="no_axis")
case("UniqueWithCountsV2", [words(5, 1), i32([0])], name="string")
case("Unique", [i32(2, 2)], error=BAD)
case("ListDiff", [i32([1, 2, 3, 2, 5]), i32([2, 5])])
case("ListDiff", [strs(b"b", b"a", b"b"), strs(b"a")], out_idx="int64", name="string")
case("Bucketize", [arr([-1, 0, 3, 10], np.float32)], boundaries=[0.0, 3.0, 5.0])
case("Bucketize", [i64([-1, 0, 3, 10])], boundaries=[0.0, 3.0, 5.0], name="int64")
case("Bincount", [i32([1, 2, 2, 7]), 4, f32(4)])
case("Bincount", [i32([1, 2, 2, 7]), 4, i64([])], name="no_weights")
case("Bincount", [i32([1, -2]), 4, i32([1, 2])], error=BAD)

# -- einsum

for name, equation, shapes in (
        ("matmul", "ij,jk->ik", [(2, 3), (3, 4)]), ("transposed_result", "ij,jk->ki", [(2, 3), (3, 4)]), ("batch", "bij,bjk->bik", [(2, 3, 4), (2, 4, 2)]),
        ("dot", "ij,ij->", [(2, 3), (2, 3)]), ("outer", "i,j->ij", [(2,), (3,)]), ("transpose", "ijk->kij", [(2, 3, 4)]), ("sum_rows", "ij->i", [(2, 3)]),
        ("sum_all", "ij->", [(2, 3)]), ("diagonal", "ii->i", [(3, 3)]), ("trace", "ii->", [(3, 3)]), ("several_contracted", "abcd,cbe->ade", [(2, 3, 2, 2), (2, 3, 2)]),
        ("summed_in_one_input", "ijk,jl->il", [(2, 3, 2), (3, 2)]), ("ellipsis", "...ij,...jk->...ik", [(2, 3, 4), (2, 4, 2)]),
        ("ellipsis_broadcast", "...ij,...jk->...ik", [(3, 1, 2, 2), (2, 2, 3)]), ("elementwise", "ij,ij->ij", [(2, 3), (2, 3)]), ("identity", "ij->ij", [(2, 3)])):
    case("Einsum", [[f32(*s) for s in shapes]], equation=equation, grad=True, name=name)
case("Einsum", [[f32(3, 2)]], equation="ij->iji", name="diagonal_result")
for name in ("half", "double", "int32", "complex64"):
    case("Einsum", [[TYPES[name](2, 3), TYPES[name](3, 2)]], equation="ij,jk->ik", name=name)
case("Einsum", [[f32(2, 0), f32(0, 3)]], equation="ij,jk->ik", name="nothing_to_sum")
case("Einsum", [[f32(2, 3), f32(2, 3)]], equation="ij,jk->ik", error=BAD)
case("Einsum", [[f32(2, 3)]], equation="ijk->i", error=BAD)

# -- without elements

for op, inputs, attrs in (
        ("Transpose", [f32(0, 3), i32([1, 0])], {}), ("Tile", [f32(0, 2), i32([2, 3])], {}), ("Pack", [[f32(0, 2), f32(0, 2)]], dict(axis=1)),
        ("Unpack", [f32(2, 0)], dict(num=2)), ("Slice", [f32(0, 3), i32([0, 1]), i32([0, 2])], {}), ("Split", [1, f32(0, 4)], dict(num_split=2)),
        ("ReverseV2", [f32(0, 2), i32([0, 1])], {}), ("ReverseSequence", [f32(2, 0), i32([0, 0])], dict(seq_dim=1, batch_dim=0)),
        ("MatrixBandPart", [f32(0, 2, 2), i64([0])[0], i64([0])[0]], {}), ("MatrixDiagPart", [f32(0, 2, 2)], {}), ("MatrixDiag", [f32(0, 2)], {}),
        ("GatherNd", [f32(0, 3), i32(0, 1)], {}), ("ScatterNd", [i32(0, 1), f32(0, 2), i32([3, 2])], {}), ("DynamicPartition", [f32(0, 2), i32([])], dict(num_partitions=2)),
        ("UnsortedSegmentSum", [f32(2, 0), i32([0, 1]), 3], {}), ("SparseSegmentMean", [f32(3, 0), i32([0, 1]), i32([0, 0])], {}), ("UniqueV2", [f32(0, 2), i64([0])], {}),
        ("Where", [f32(0)], {}), ("BroadcastTo", [f32(0, 1), i32([2, 0, 3])], {}), ("Einsum", [[f32(0, 2), f32(2, 3)]], dict(equation="ij,jk->ik")),
        ("SpaceToDepth", [f32(0, 2, 2, 1)], dict(block_size=2)), ("MirrorPad", [f32(0, 3), arr([[0, 0], [1, 1]], np.int32)], dict(mode="SYMMETRIC"))):
    case(op, inputs, name="without_elements", **attrs)
