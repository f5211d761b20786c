"""Variables: assignment, questions, counting, scatter and gather."""
from cases import bf16, bools, c64, c128, case, f16, f32, f64, i8, i16, i32, i64, ref, strs, u8, u16, u32, u64, var

NUMBERS = dict(float=f32, double=f64, half=f16, bfloat16=bf16, int32=i32, int64=i64, int8=i8, int16=i16, uint8=u8, uint16=u16, complex64=c64, complex128=c128)
ALL = dict(NUMBERS, bool=bools)

# Assign
for name, make in ALL.items():
    case("Assign", [ref(make(2, 3)), make(2, 3)], name=name)
    case("AssignVariableOp", [var(make(2, 3)), make(2, 3)], name=name)
    case("ReadVariableOp", [var(make(2, 3))], name=name, dtype=name)
case("Assign", [ref(strs("a", "b")), strs("", "longer than before")], name="string")
case("AssignVariableOp", [var(strs("a", "b")), strs("", "longer than before")], name="string")
case("Assign", [ref(f32(2)), f32(3)], name="without_validation", validate_shape=False)
case("Assign", [ref(f32(2)), f32(3)], name="other_shape", error="INVALID_ARGUMENT", text="Assign requires shapes of both tensors to match. lhs shape= [2] rhs shape= [3]")
case("Assign", [ref(f32(0, 2)), f32(0, 2)], name="empty")
case("Assign", [ref(f32()), f32()], name="scalar")
case("AssignVariableOp", [var(f32(2), shape=[None]), f32(3)], name="another_shape")
case("AssignVariableOp", [var(f32(2), shape=[None]), f32(3)], name="another_shape_refused", validate_shape=True, error="INVALID_ARGUMENT",
     text="Trying to assign to variable with tensor with wrong shape. Expected [2] got [3]")

for name, make in NUMBERS.items():
    for op in ("AssignAdd", "AssignSub"):
        case(op, [ref(make(2, 3)), make(2, 3)], name=name)
        case(op + "VariableOp", [var(make(2, 3)), make(2, 3)], name=name)
case("AssignAdd", [ref(i64()), i64([1]).reshape(())], name="counts", runs=3, use_locking=True)
case("AssignAdd", [ref(f32(2)), f32(3)], name="other_shape", error="INVALID_ARGUMENT", text="Parameters and update must be the same size")
case("AssignAdd", [ref(f32(2)), f32()], name="no_broadcast", error="INVALID_ARGUMENT", text="Parameters and update must be the same size")
case("AssignSub", [ref(f32(2), initialized=False), f32(2)], name="uninitialized", error="FAILED_PRECONDITION", text="Attempting to use uninitialized value")
case("AssignAddVariableOp", [var(f32(2)), f32(3)], name="other_shape", error="INVALID_ARGUMENT",
     text="Cannot update variable with shape [2] using a Tensor with shape [3], shapes must be equal.")
case("AssignAddVariableOp", [var(f32(2), initialized=False), f32(2)], name="uninitialized", error="NOT_FOUND")

# Questions
case("IsVariableInitialized", [ref(f32(2))], name="yes")
case("IsVariableInitialized", [ref(f32(2), initialized=False)], name="no")
case("VarIsInitializedOp", [var(f32(2))], name="yes")
case("VarIsInitializedOp", [var(f32(2), initialized=False)], name="no")
case("ReadVariableOp", [var(f32(2), initialized=False)], name="uninitialized", dtype="float", error="FAILED_PRECONDITION", text="Could not find variable")
case("ReadVariableOp", [var(f32(2, 3))], name="gradient", dtype="float", grad=True)
case("VariableShape", [var(f32(2, 0, 3))], name="int32")
case("VariableShape", [var(f32())], name="scalar", out_type="int64")
case("VariableShape", [var(f32(2), initialized=False)], name="uninitialized", error="NOT_FOUND")
case("DestroyResourceOp", [var(f32(2), initialized=False)], name="missing")
case("DestroyResourceOp", [var(f32(2), initialized=False)], name="missing_refused", ignore_lookup_error=False, error="NOT_FOUND")
case("RefIdentity", [ref(f32(2))], name="plain")
case("RefSelect", [1, [ref(f32(2)), ref(f32(2))]], name="second")
case("RefSelect", [2, [ref(f32(2)), ref(f32(2))]], name="out_of_range", error="INVALID_ARGUMENT", text="Index must be in the range [0, 2) but got 2")

# Counting
for make in (i32, i64):
    case("CountUpTo", [ref(make([3]).reshape(()))], name="counts", limit=6, runs=3)
    case("CountUpTo", [ref(make([3]).reshape(()))], name="ends", limit=3, error="OUT_OF_RANGE", text="Reached limit of 3")
    case("ResourceCountUpTo", [var(make([3]).reshape(()))], name="counts", limit=6, runs=3, T="int32" if make is i32 else "int64")
case("ResourceCountUpTo", [var(i64([3]).reshape(()))], name="ends", limit=3, T="int64", error="OUT_OF_RANGE", text="Reached limit of 3")

# Scatter
ORDERED = dict(float=f32, double=f64, half=f16, bfloat16=bf16, int32=i32, int64=i64)
for name, make in NUMBERS.items():
    for kind in ("Add", "Sub", "Mul"):
        case("Scatter" + kind, [ref(make(4, 2)), i32([3, 0, 3]), make(3, 2)], name=name)
        case("ResourceScatter" + kind, [var(make(4, 2)), i64([3, 0, 3]), make(3, 2)], name=name)
    positive = dict(lo=1, hi=5)
    case("ScatterDiv", [ref(make(4, 2)), i32([3, 0]), make(2, 2, **positive)], name=name)
    case("ResourceScatterDiv", [var(make(4, 2)), i64([3, 0]), make(2, 2, **positive)], name=name)
for name, make in ORDERED.items():
    for kind in ("Min", "Max"):
        case("Scatter" + kind, [ref(make(4, 2)), i32([3, 0, 3]), make(3, 2)], name=name)
        case("ResourceScatter" + kind, [var(make(4, 2)), i64([3, 0, 3]), make(3, 2)], name=name)
for name, make in ALL.items():
    case("ScatterUpdate", [ref(make(4, 2)), i32([3, 0]), make(2, 2)], name=name)
    case("ResourceScatterUpdate", [var(make(4, 2)), i64([3, 0]), make(2, 2)], name=name)
case("ResourceScatterUpdate", [var(strs("a", "b", "c")), i32([2, 0]), strs("new", "")], name="string")
for prefix, kind in (("", ref), ("Resource", var)):
    case(prefix + "ScatterAdd", [kind(f32(4, 3)), i32([[1, 2], [1, 1]]), f32(2, 2, 3)], name="matrix_of_indices")
    case(prefix + "ScatterAdd", [kind(f32(4, 3)), i32([1, 2]), 2.0], name="scalar_updates")
    case(prefix + "ScatterAdd", [kind(f32(4, 3)), i32([1]).reshape(()), f32(3)], name="scalar_index")
    case(prefix + "ScatterMul", [kind(f32(4)), i64([1, 2]), 2.0], name="scalar_updates_of_vector")
    case(prefix + "ScatterAdd", [kind(f32(4)), i64([]), f32(0)], name="nothing")
    case(prefix + "ScatterAdd", [kind(f32(4, 3)), i32([[1, 4]]), f32(1, 2, 3)], name="index_past_the_end", error="INVALID_ARGUMENT", text="indices[0,1] = 4 is not in [0, 4)")
    case(prefix + "ScatterSub", [kind(f32(4)), i64([-1]), f32(1)], name="negative_index", error="INVALID_ARGUMENT", text="indices[0] = -1 is not in [0, 4)")
    case(prefix + "ScatterAdd", [kind(f32(4, 3)), i32([1, 2]), f32(3, 3)], name="other_shape", error="INVALID_ARGUMENT")

ND = dict(float=f32, double=f64, int32=i32, int64=i64, half=f16, bfloat16=bf16, complex64=c64)
for prefix, kind in (("", ref), ("Resource", var)):
    for name, make in ND.items():
        for op in ("Update", "Add", "Sub"):
            case(prefix + "ScatterNd" + op, [kind(make(3, 2)), i32([[2, 1], [0, 0]]), make(2)], name=name)
    case(prefix + "ScatterNdUpdate", [kind(f32(3, 2)), i64([[2], [0]]), f32(2, 2)], name="rows")
    case(prefix + "ScatterNdAdd", [kind(f32(3, 2, 2)), i64([[[2], [0]], [[2], [2]]]), f32(2, 2, 2, 2)], name="duplicates_add_up")
    case(prefix + "ScatterNdAdd", [kind(f32(3)), i32([[1], [3]]), f32(2)], name="index_past_the_end", error="INVALID_ARGUMENT", text="indices[1] = [3] does not index into shape [3]")
    case(prefix + "ScatterNdAdd", [kind(f32(3)), i32([[1], [2]]), f32(3)], name="other_shape", error="INVALID_ARGUMENT")

# Gather
for name, make in ALL.items():
    case("ResourceGather", [var(make(4, 2)), i32([[3, 0], [3, 1]])], name=name, dtype=name)
case("ResourceGather", [var(strs("a", "b", "c")), i64([2, 0])], name="string", dtype="string")
case("ResourceGather", [var(f32(2, 4, 2)), i32([[3, 0], [1, 1]])], name="batch", dtype="float", batch_dims=1)
case("ResourceGather", [var(f32(4, 2)), i32([2]).reshape(())], name="scalar_index", dtype="float", grad=True)
case("ResourceGather", [var(f32(4, 2, 3)), i64([[3, 0], [3, 1]])], name="gradient", dtype="float", grad=True)
case("ResourceGather", [var(f32(4, 2)), i32([0, 4])], name="index_past_the_end", dtype="float", error="INVALID_ARGUMENT", text="indices[1] = 4 is not in [0, 4)")
case("ResourceGather", [var(f32(4, 2), initialized=False), i32([0])], name="uninitialized", dtype="float", error="NOT_FOUND")
case("ResourceGatherNd", [var(f32(4, 2)), i32([[3, 0], [1, 1]])], name="elements", dtype="float", grad=True)
case("ResourceGatherNd", [var(f32(4, 2)), i64([[3], [1], [3]])], name="rows", dtype="float", grad=True)
case("ResourceGatherNd", [var(f32(4, 2)), i32([[3, 2]])], name="index_past_the_end", dtype="float", error="INVALID_ARGUMENT", text="does not index into param shape [4,2]")
