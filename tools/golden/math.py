"""Element-wise ops, reductions, matrix products."""
import numpy as np

from cases import arr, bf16, bools, c64, c128, case, f16, f32, f64, i8, i16, i32, i64, strs, u8, u16, u32, u64

NAN, INF = float("nan"), float("inf")

# -- sums, differences, products

for op in ("Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "RealDiv", "Div"):
    case(op, [f32(2, 3), f32(2, 3, lo=0.5)], grad=True, name="same_shape")
    case(op, [f32(), f32(2, 3, lo=0.5)], grad=True, name="scalar_first")
    case(op, [f32(2, 3), f32(lo=0.5)], grad=True, name="scalar_second")
    case(op, [f32(2, 3, 2), f32(3, 1, lo=0.5)], grad=True, name="broadcast_middle")
    case(op, [f32(3, 1, 2), f32(2, 1, 4, 1, lo=0.5)], grad=True, name="broadcast_both_ways")
    case(op, [f32(0, 3), f32(3)], name="empty")
    case(op, [f32(1, 1), f32(1, lo=0.5)], name="ones")
    case(op, [f64(5, 4), f64(5, 1, lo=0.5)], grad=True, name="double")
    case(op, [f16(9, lo=0.5), f16(9, lo=0.5)], name="half")
    case(op, [bf16(9, lo=0.5), bf16(lo=0.5)], name="bfloat16")
    case(op, [f32(3), f32(4)], name="incompatible", error="INVALID_ARGUMENT", text="Incompatible shapes: [3] vs. [4]")
for op in ("Add", "AddV2", "Sub", "Mul", "SquaredDifference", "Div"):
    case(op, [i32(2, 3), i32(3, lo=1)], name="int32")
    case(op, [i64(4), i64(lo=1)], name="int64")
for op in ("AddV2", "Sub", "Mul", "RealDiv", "SquaredDifference", "Div"):
    case(op, [c64(3), c64(2, 3)], name="complex64", grad=op != "SquaredDifference")
    case(op, [c128(3), c128(1)], name="complex128")
for op in ("AddV2", "Sub", "Mul", "Maximum", "Minimum"):
    for make in (i8, i16, u8, u16):
        case(op, [make(7), make(7)], name=make.__name__)
for op in ("AddV2", "Sub", "Mul"):
    case(op, [i32([2**31 - 1, -2**31, 7]), i32([1, -1, 7])], name="int32_wraps")
    case(op, [i8([100, -128, 7]), i8([100, -1, 7])], name="int8_wraps")
    case(op, [u16([65535, 0, 7]), u16([65535, 1, 9])], name="uint16_wraps")
case("Add", [strs("a", "b", ""), strs("xy")], name="strings")
for op in ("Maximum", "Minimum"):
    case(op, [arr([NAN, 1, NAN, 0, -0.0, INF], np.float32), arr([1, NAN, NAN, 0, 5, 2], np.float32)], name="nan")
    case(op, [i32(5), i32(5)], name="int32")
    case(op, [arr([1, 2], np.float32), arr([1, 3], np.float32)], grad=True, name="ties")
case("MulNoNan", [arr([NAN, INF, 3, 0], np.float32), arr([0, 0, 2, NAN], np.float32)], name="edges")
case("MulNoNan", [f32(2, 3), f32(3)], grad=True)
case("MulNoNan", [c64(3), c64(3)])

# -- quotients and remainders

SIGNS = [7, -7, 7, -7, 0, 6, -6], [2, 2, -2, -2, 5, 3, 3]
for op in ("Div", "FloorDiv", "TruncateDiv", "FloorMod", "Mod", "TruncateMod"):
    case(op, [i32(SIGNS[0]), i32(SIGNS[1])], name="signs")
    case(op, [i64(SIGNS[0]), i64(SIGNS[1])], name="signs_int64")
for op in ("Div", "FloorDiv", "FloorMod", "Mod"):
    case(op, [i32(4), i32([1, 2, 0, 4])], name="by_zero", error="INVALID_ARGUMENT", text="Integer division by zero")
    case(op, [i32(0), i32([0])], name="nothing_by_zero")
for op in ("Div", "FloorDiv", "TruncateDiv"):
    case(op, [i8(SIGNS[0]), i8(SIGNS[1])], name="int8")
    case(op, [u8(5), u8(5, lo=1)], name="uint8")
for op in ("FloorDiv", "FloorMod"):
    case(op, [arr([5.5, -5.5, 5.5, -5.5, 0, 1, -1, 0], np.float32), arr([2, 2, -2, -2, 3, 0, 0, 0], np.float32)], name="float_signs")
    case(op, [f64(6, lo=1, hi=9), f64(6, lo=1, hi=3)], name="double")
case("FloorMod", [f32(4, lo=1, hi=9), f32(4, lo=1, hi=3)], grad=True)
case("FloorMod", [u8(5), u8(5, lo=1)], name="uint8")
for op in ("Mod", "TruncateMod"):
    case(op, [arr([5.5, -5.5, 5.5, -5.5], np.float32), arr([2, 2, -2, -2], np.float32)], name="float_signs")
case("RealDiv", [arr([1, -1, 0, INF, NAN], np.float32), arr([0, 0, 0, INF, 1], np.float32)], name="edges")
case("DivNoNan", [arr([1, -1, 0, INF, NAN], np.float32), arr([0, 0, 0, INF, 0], np.float32)], name="edges")
case("DivNoNan", [f32(2, 3), f32(3, lo=0.5)], grad=True)
case("DivNoNan", [c64(3), c64(3)])

# -- one operand

SIGNED = (f64, f16, bf16, i8, i16, i32, i64, c64, c128)
for op in ("Neg", "Sign", "Square", "Reciprocal", "Inv"):
    case(op, [f32(2, 3, lo=0.5)], grad=True)
    for make in SIGNED:
        if op not in ("Reciprocal", "Inv") or make not in (i8, i16, i32, i64):
            case(op, [make(5)], name=make.__name__)
    case(op, [f32(0, 2)], name="empty")
    case(op, [f32()], name="scalar", grad=op != "Sign")
case("Neg", [i32([-2**31, 5])], name="smallest")
case("Abs", [i32([-2**31, 5, -5])], name="smallest")
case("Abs", [arr([-0.0, NAN, -INF, -2.5], np.float32)], name="edges")
case("Abs", [f32(2, 3)], grad=True)
for make in (f64, f16, bf16, i8, i16, i64):
    case("Abs", [make(5)], name=make.__name__)
case("Sign", [arr([-0.0, NAN, -INF, INF, 0], np.float32)], name="edges")
case("Square", [c64(3)], grad=True, name="complex_gradient")
case("Square", [i32([2**16, 3])], name="int32_wraps")
for make in (u8, u16, u32, u64):
    case("Square", [make(5)], name=make.__name__)
for op in ("Sqrt", "Rsqrt"):
    case(op, [f32(2, 3, lo=0.5)], grad=True)
    for make in (f64, f16, bf16, c64, c128):
        case(op, [make(9, lo=0.5)], name=make.__name__, grad=make in (f64, c64))
    case(op, [arr([0.0, INF, NAN, -1, 4], np.float32)], name="edges")
for op in ("Floor", "Ceil", "Rint", "Round"):
    case(op, [arr([-2.5, -1.5, -0.5, -0.4, 0.0, 0.4, 0.5, 1.5, 2.5, 1e10, NAN, INF], np.float32)], name="halves")
    case(op, [f64(9)], name="double")
    if op != "Rint":
        case(op, [f16(9)], name="half")
case("Rint", [f32(4)], grad=True)
case("Round", [i32(4)], name="int32")
case("Conj", [c64(2, 2)], grad=True)
for op in ("IsNan", "IsInf", "IsFinite"):
    for dtype in (np.float32, np.float64, np.float16, "bfloat16"):
        case(op, [arr([NAN, INF, -INF, 0, -0.0, 1e4], dtype)], name=str(np.dtype(dtype)) if dtype != "bfloat16" else dtype)

# -- casts

PLAIN = dict(float=f32, double=f64, half=f16, bfloat16=bf16, int8=i8, int16=i16, int32=i32, int64=i64, uint8=u8, uint16=u16, uint32=u32, uint64=u64,
             complex64=c64, complex128=c128, bool=bools)
for source, make in PLAIN.items():
    for target in PLAIN:
        if source != target:
            case("Cast", [make(5) if make in (bools, u8, u16, u32, u64) or not target.startswith("u") else make(5, lo=0, hi=9)],
                 DstT={"float": "float32", "double": "float64", "half": "float16"}.get(target, target), name="%s_to_%s" % (source, target))
case("Cast", [f32(260)], DstT="float16", name="more_than_a_piece")
case("Cast", [arr([-1.9, -0.5, 0.5, 1.9, 100.99], np.float32)], DstT="int32", name="towards_zero")
case("Cast", [i32([-1, 128, 255, 256, 300])], DstT="uint8", name="wraps")
case("Cast", [arr([NAN, INF, -INF, 1e10, 0], np.float32)], DstT="float16", name="special")
case("Cast", [arr([NAN, 0, -0.0, 1e-20], np.float32)], DstT="bool", name="to_bool")
case("Cast", [f32(2, 3)], DstT="float64", grad=True, name="gradient")
case("Cast", [f32(3)], DstT="complex64", grad=True, name="complex_gradient")
for target in ("float16", "bfloat16"):
    case("Cast", [f32(20)], DstT=target, Truncate=True, name="truncate_float_to_" + target)
    case("Cast", [f64(20)], DstT=target, Truncate=True, name="truncate_double_to_" + target)
case("Cast", [f64(20)], DstT="float32", Truncate=True, name="truncate_double_to_float")
case("Cast", [c128(20)], DstT="complex64", Truncate=True, name="truncate_complex")
case("Cast", [f32(0, 3)], DstT="int32", name="empty")

# -- reductions

for op in ("Sum", "Mean"):
    for axes in ([], [0], [1], [-1], [0, 2], [0, 1, 2], [1, 0]):
        case(op, [f32(2, 3, 4), i32(axes)], grad=True, name="axes_" + "_".join(str(a).replace("-", "m") for a in axes))
        case(op, [f32(2, 3, 4), i32(axes)], keep_dims=True, grad=True, name="keep_dims_" + "_".join(str(a).replace("-", "m") for a in axes))
    case(op, [f32(2, 1, 3, 1, 2), i32([0, 3, 4])], name="ones_between")
    case(op, [f32(), i32([])], name="scalar", grad=True)
    case(op, [f32(3), arr(0, np.int32)], name="scalar_axis")
    case(op, [f32(3, 2), i64([0])], name="int64_axis")
    case(op, [f32(0, 3), i32([0])], name="of_nothing")
    case(op, [f32(0, 3), i32([1])], name="to_nothing")
    case(op, [f32(3, 0), i32([0])], name="columns_to_nothing")
    case(op, [f32(201, 3, lo=0), i32([0])], name="narrow_columns")
    case(op, [f32(140, 33, lo=0), i32([0])], name="wide_columns")
    case(op, [f32(2, 1101, lo=0), i32([1])], name="long_rows")
    case(op, [f32(3, 40, 5), i32([1])], name="middle")
    case(op, [arr([[1, NAN], [INF, 2]], np.float32), i32([1])], name="nan_and_inf")
    for make in (f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64, c64, c128):
        case(op, [make(6, 3), i32([0])], name=make.__name__)
    case(op, [f32(3), i32([1])], name="axis_out_of_range", error="INVALID_ARGUMENT", text="Invalid reduction dimension (1 for input with 1 dimension(s)")
    case(op, [f32(3, 2), i32([0, -2])], name="axis_twice", error="INVALID_ARGUMENT", text="Axes contains duplicate dimension: 0")
case("Sum", [i32([2**31 - 1, 1]), i32([0])], name="int32_wraps")
case("Mean", [i32([2**31 - 1, 2**31 - 1]), i32([0])], name="int32_does_not_overflow")
case("Mean", [i32([-3, -4]), i32([0])], name="int32_rounds_to_zero")
case("Mean", [i32(0), i32([0])], name="int32_of_nothing")

# -- matrix products

for a, b, flags in (((3, 4), (4, 5), {}), ((4, 3), (4, 5), dict(transpose_a=True)), ((3, 4), (5, 4), dict(transpose_b=True)),
                    ((4, 3), (5, 4), dict(transpose_a=True, transpose_b=True))):
    name = "plain" if not flags else "_".join(sorted(flags))
    case("MatMul", [f32(*a), f32(*b)], grad=True, name=name, **flags)
    for make in (f64, f16, bf16, i32, i64, c64, c128):
        case("MatMul", [make(*a), make(*b)], name="%s_%s" % (make.__name__, name), grad=make in (f64, c64), tol=1e-2 if make is f16 else 5e-2 if make is bf16 else None,
             **flags)
case("MatMul", [f32(1, 6), f32(6, 1)], name="to_one")
case("MatMul", [f32(6, 1), f32(1, 6)], name="outer")
case("MatMul", [f32(3, 0), f32(0, 2)], name="nothing_inside", grad=True)
case("MatMul", [f32(0, 4), f32(4, 2)], name="no_rows", grad=True)
case("MatMul", [f64(0, 4), f64(4, 0)], name="nothing")
case("MatMul", [f32(20, 40), f32(40, 17)], name="larger", tol=1e-4)
case("MatMul", [f64(20, 40), f64(40, 17)], name="larger_double")
case("MatMul", [i32(20, 70), i32(70, 9)], name="larger_int")
case("MatMul", [arr([[NAN, 1], [0, 1]], np.float32), arr([[0, 1], [1, INF]], np.float32)], name="nan")
case("MatMul", [f32(3, 4), f32(5, 2)], name="unlike_sizes", error="INVALID_ARGUMENT", text="Matrix size-incompatible: In[0]: [3,4], In[1]: [5,2]")
case("MatMul", [f32(3), f32(3, 2)], name="vector", error="INVALID_ARGUMENT")

# -- broadcasting of gradients

for s0, s1 in (([2, 3], [2, 3]), ([2, 1, 3], [1, 1, 3]), ([3], [2, 3]), ([], [2, 3]), ([1, 3], [3]), ([1], []), ([], []), ([0, 3], [1, 3]), ([5, 1, 2], [4, 1])):
    case("BroadcastGradientArgs", [i32(s0), i32(s1)])
case("BroadcastGradientArgs", [i64([2, 3]), i64([3])], name="int64")
case("BroadcastGradientArgs", [i32([2, 3]), i32([4])], name="incompatible", error="INVALID_ARGUMENT", text="Incompatible shapes: [2,3] vs. [4]")

# -- comparisons and logic

for op in ("Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"):
    case(op, [arr([1, 2, NAN, 3, INF], np.float32), arr([1, 3, NAN, 2, INF], np.float32)], name="float")
    case(op, [i64(3, 1, lo=0, hi=3), i64(3, lo=0, hi=3)], name="broadcast")
    for make in (f64, f16, bf16, i8, i16, i32, u8, u16, u32, u64):
        case(op, [make(6, lo=0, hi=3), make(6, lo=0, hi=3)], name=make.__name__)
    case(op, [f32(3), f32(4)], name="incompatible", error="INVALID_ARGUMENT", text="Incompatible shapes: [3] vs. [4]")
for op in ("Equal", "NotEqual"):
    case(op, [strs("a", "b", ""), strs("a", "c", "")], name="strings")
    case(op, [bools(5), bools(5)], name="bools")
    case(op, [arr([1, 1j, 2], np.complex64), arr([1, 1, 2], np.complex64)], name="complex")
    case(op, [i32(3), i32(4)], incompatible_shape_error=False, name="incompatible_without_error")
    case(op, [i32(3, 1), i32(4)], incompatible_shape_error=False, name="compatible_without_error")
for op in ("LogicalAnd", "LogicalOr"):
    case(op, [bools(3, 1), bools(4)])
    case(op, [bools(0), bools(1)], name="empty")
case("LogicalNot", [bools(7)])
case("ApproximateEqual", [arr([1, 2, 3, NAN], np.float32), arr([1.05, 2.2, 3, 0], np.float32)], tolerance=0.1)
case("ApproximateEqual", [f32(3), f32(1)], name="unlike_shapes", error="INVALID_ARGUMENT", text="x and y must be of the same shape")

# -- functions of one operand

EDGES = [NAN, INF, -INF, 0.0, -0.0]
for op in ("Exp", "Expm1", "Log", "Log1p", "Sin", "Cos", "Tan", "Tanh", "Sigmoid"):
    case(op, [f32(2, 9, lo=0.1)], grad=True)
    case(op, [f64(7, lo=0.1)], grad=True, name="double")
    case(op, [f16(9, lo=0.1)], name="half")
    case(op, [bf16(9, lo=0.1)], name="bfloat16")
    case(op, [c64(9)], grad=True, name="complex64")
    case(op, [c128(5)], name="complex128")
    case(op, [f32(0, 2)], name="empty")
    if op not in ("Sin", "Cos", "Tan"):
        case(op, [arr(EDGES + [1.2e-38, -1.2e-38], np.float32)], name="edges")
        case(op, [arr(EDGES, np.float64)], name="double_edges")
for op in ("Exp", "Expm1", "Tanh", "Sigmoid"):
    case(op, [arr([-200, -88, -20, -9, -1e-5, 1e-5, 9, 20, 88, 200], np.float32)], name="wide")
case("Log", [arr([-1, 1e-30, 1e30], np.float32)], name="wide")
case("Log1p", [arr([-1, -2, 1e-7, 1e30], np.float32)], name="wide")
case("Sin", [arr([1e-4, 100, -1000], np.float32)], name="wide")
for op in ("Erf", "Erfc", "Lgamma"):
    case(op, [f32(2, 9, lo=0.05)], grad=True)
    case(op, [f64(7, lo=0.1)], grad=True, name="double")
    case(op, [f16(9, lo=0.1)], name="half")
    case(op, [arr([-5, -1.5, -0.3, 0.0, 6, INF, NAN], np.float32)], name="wide", tol=1e-4)
case("Digamma", [f32(9, lo=0.1, hi=20)])
case("Digamma", [arr([-2.5, -0.3, 0.5, 1, 30], np.float64)], name="double")

# -- functions of two operands

case("Pow", [f32(3, 4, lo=0.1), f32(4)], grad=True, name="broadcast")
case("Pow", [f32(3, 4, lo=0.1), arr(2.0, np.float32)], grad=True, name="square")
case("Pow", [arr([0, 0, -1, NAN, INF, 2, -2], np.float32), arr([0, -1, 0.5, 0, -1, INF, 3], np.float32)], name="edges")
case("Pow", [arr([0, -1, 2], np.float32), arr([2, 2, 3], np.float32)], grad=True, name="gradient_of_not_positive")
case("Pow", [f64(5, lo=0.1), f64(5)], grad=True, name="double")
case("Pow", [f16(5, lo=0.1), f16(5)], name="half")
case("Pow", [c64(5), c64(5)], grad=True, name="complex64", tol=1e-4)
case("Pow", [i32([2, 3, -2, 0, 7]), i32([0, 4, 3, 0, 1])], name="int32")
case("Pow", [i64([2, 3, -2, 0, 7]), i64([40, 4, 3, 0, 30])], name="int64")
case("Pow", [i32([2, 3]), i32([-1, 2])], name="negative_exponent", error="INVALID_ARGUMENT", text="Integers to negative integer powers are not allowed")
for op in ("Xdivy", "Xlogy", "Xlog1py"):
    case(op, [arr([0, 0, 1, 2], np.float32), arr([0, NAN, 0, 3], np.float32)], name="edges")
    case(op, [f32(3, 4, lo=0.1), f32(4, lo=0.1)], grad=True, name="broadcast")
    case(op, [f64(5, lo=0.1), f64(5, lo=0.1)], grad=True, name="double")
    case(op, [f16(5, lo=0.1), f16(5, lo=0.1)], name="half")
    case(op, [c64(4), c64(4)], name="complex64")

# -- gradients of functions, and theirs

for op in ("SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad", "TanhGrad", "SigmoidGrad"):
    case(op, [f32(2, 5, lo=0.2), f32(2, 5)], grad=True)
    case(op, [f64(4, lo=0.2), f64(4)], grad=True, name="double")
    case(op, [c64(4), c64(4)], grad=True, name="complex64", tol=1e-4)
    case(op, [f16(4, lo=0.5), f16(4)], name="half", tol=1e-2)

# -- choices

case("Select", [bools(3, 2), f32(3, 2), f32(3, 2)], grad=True, name="same_shape")
case("Select", [bools(3), f32(3, 2), f32(3, 2)], grad=True, name="rows")
case("Select", [bools(), f32(3, 2), f32(3, 2)], grad=True, name="scalar")
case("Select", [bools(3), strs("a", "b", "c"), strs("x", "y", "z")], name="strings")
case("Select", [bools(3), f64(3), f64(3)], name="double")
case("Select", [bools(3), c128(3), c128(3)], name="complex128")
case("Select", [bools(3), bools(3), bools(3)], name="bools")
case("Select", [bools(0), f32(0, 2), f32(0, 2)], name="empty")
case("Select", [bools(2), f32(3), f32(3)], name="unlike_condition", error="INVALID_ARGUMENT")
case("Select", [bools(3), f32(3), f32(2)], name="unlike_branches", error="INVALID_ARGUMENT")
case("SelectV2", [bools(3, 2), f32(3, 2), f32(3, 2)], grad=True, name="same_shape")
case("SelectV2", [bools(3, 1), f32(3, 2), f32()], grad=True, name="broadcast")
case("SelectV2", [bools(2), f32(3, 1), f32(4, 1, 2)], grad=True, name="broadcast_all")
case("SelectV2", [bools(), f32(3), f32(2, 1)], grad=True, name="scalar")
case("SelectV2", [bools(3), strs("a", "b", "c"), strs("x")], name="strings")
case("SelectV2", [bools(3), i8(3), i8()], name="int8")
case("SelectV2", [bools(3), f16(3), f16(1)], name="half")
case("SelectV2", [bools(2, 0), f32(1), f32(1)], name="empty")
case("SelectV2", [bools(2), f32(3), f32(3)], name="incompatible", error="INVALID_ARGUMENT", text="must be broadcastable")
case("ClipByValue", [f32(3, 4), arr(-0.5, np.float32), arr(0.5, np.float32)], grad=True)
case("ClipByValue", [f32(3, 4), f32(3, 4), arr(0.5, np.float32)], grad=True, name="minimum_per_element")
case("ClipByValue", [f32(3, 4), arr(-0.5, np.float32), f32(3, 4)], name="maximum_per_element")
case("ClipByValue", [arr([NAN, INF, -INF, 1], np.float32), arr(5, np.float32), arr(2, np.float32)], name="edges")
case("ClipByValue", [f16(5), arr(-0.5, np.float16), arr(0.5, np.float16)], name="half")
case("ClipByValue", [i32(9), i32(lo=-2, hi=-1), i32(lo=2, hi=3)], name="int32")
case("ClipByValue", [f32(3, 2), f32(2), arr(2, np.float32)], name="does_not_broadcast", error="INVALID_ARGUMENT", text="must be either of the same shape as input")
case("CheckNumerics", [f32(3)], message="bad", grad=True, name="passes")
case("CheckNumerics", [arr([1, NAN], np.float32)], message="bad loss", name="nan", error="INVALID_ARGUMENT", text="bad loss : Tensor had NaN values")
case("CheckNumerics", [arr([1, INF], np.float64)], message="bad", name="inf", error="INVALID_ARGUMENT", text="bad : Tensor had Inf values")
case("CheckNumerics", [arr([NAN, INF], np.float16)], message="bad", name="both", error="INVALID_ARGUMENT", text="bad : Tensor had Inf and NaN values")

# -- bits, sums of many

case("Bitcast", [f32(4)], type="int32", name="same_size")
case("Bitcast", [i32(3, 2)], type="float64", name="wider")
case("Bitcast", [f32(3)], type="uint8", name="narrower")
case("Bitcast", [i64(2)], type="complex64", name="complex")
case("Bitcast", [f32(3)], type="float64", name="last_dimension", error="INVALID_ARGUMENT", text="Cannot bitcast")
case("AddN", [[f32(3, 2), f32(3, 2), f32(3, 2)]], grad=True)
case("AddN", [[f32(3)]], name="one", grad=True)
case("AddN", [[f32(2100), f32(2100)]], name="more_than_a_piece", shape_only=True)
for make in (f64, f16, bf16, i8, i32, i64, u8, u16, c64):
    case("AddN", [[make(5), make(5), make(5), make(5)]], name=make.__name__)
case("AddN", [[f32(0, 3), f32(0, 3)]], name="empty")
case("AddN", [[f32(3), f32(4)]], name="unlike_shapes", error="INVALID_ARGUMENT", text="must have the same size and shape.  Input 0: [3] != input 1: [4]")

# -- more reductions

for op in ("Prod", "Max", "Min", "EuclideanNorm"):
    for axes in ([], [0], [-1], [0, 2], [0, 1, 2]):
        case(op, [f32(2, 3, 4), i32(axes)], grad=op != "EuclideanNorm" or axes != [], name="axes_" + "_".join(str(a).replace("-", "m") for a in axes))
    case(op, [f32(2, 3), i32([1])], keep_dims=True, grad=True, name="keep_dims")
    case(op, [f32(0, 3), i32([0])], name="of_nothing")
    case(op, [f32(140, 3, lo=0.9, hi=1.1), i32([0])], name="columns", tol=1e-4)
    case(op, [f32(2, 1101, lo=0.99, hi=1.01), i32([1])], name="rows", tol=1e-4)
    for make in (f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64) + ((c64, c128) if op in ("Prod", "EuclideanNorm") else ()):
        case(op, [make(4, 3, lo=1, hi=4), i32([0])], name=make.__name__)
case("Prod", [arr([[0, 2, 3], [0, 0, 5]], np.float32), i32([1])], grad=True, name="gradient_with_zeros")
case("Prod", [i32([2**30, 4, 3]), i32([0])], name="int32_wraps")
for op in ("Max", "Min"):
    case(op, [arr([3, 1, 3, 1], np.float32), i32([0])], grad=True, name="ties")
    case(op, [arr([[NAN, 1, 2], [1, NAN, 2], [1, 2, NAN], [1, 2, 3]], np.float32), i32([1])], name="nan")
    case(op, [arr([[NAN, 1, 2], [1, NAN, 2]], np.float32), i32([0])], name="nan_in_columns")
    case(op, [i32(0), i32([0])], name="int32_of_nothing")
for op in ("All", "Any"):
    for axes in ([], [0], [1], [0, 1]):
        case(op, [bools(3, 4), i32(axes)], name="axes_" + "_".join(map(str, axes)))
    case(op, [bools(3, 300), i32([1])], keep_dims=True, name="keep_dims")
    case(op, [bools(2, 0), i32([1])], name="of_nothing")
case("L2Loss", [f32(3, 4)], grad=True)
case("L2Loss", [f64(600)], name="double")
case("L2Loss", [f16(5)], name="half")
case("L2Loss", [f32(0)], name="empty")

# -- where the extremes are

for op in ("ArgMax", "ArgMin"):
    for axis in (0, 1, -1):
        case(op, [f32(4, 3, 5), arr(axis, np.int32)], name="axis_%s" % str(axis).replace("-", "m"))
    case(op, [i32([3, 1, 3, 1]), arr(0, np.int32)], name="first_of_equals")
    case(op, [arr([[NAN, 1, 2], [1, NAN, 2], [1, 2, NAN]], np.float32), arr(1, np.int32)], name="nan")
    case(op, [arr([-INF, -INF], np.float32), arr(0, np.int32)], name="infinite")
    case(op, [f32(4, 3), arr(0, np.int64)], output_type="int32", name="int32_result")
    for make in (f64, f16, bf16, i8, i16, i64, u8, u16, u32, u64, bools):
        case(op, [make(9), arr(0, np.int32)], name=make.__name__)
    case(op, [f32(0, 2), arr(1, np.int32)], name="no_rows")
    case(op, [f32(2, 0), arr(1, np.int32)], name="empty_axis", error="INVALID_ARGUMENT", text="Reduction axis 1 is empty in shape [2,0]")
    case(op, [f32(2, 3), arr(2, np.int32)], name="out_of_range", error="INVALID_ARGUMENT", text="Expected dimension in the range [-2, 2), but got 2")
    case(op, [f32(2, 3), arr([1], np.int32)], name="axis_not_scalar", error="INVALID_ARGUMENT", text="dim must be a scalar")
case("ArgMax", [f32(4, 3), arr(0, np.int32)], output_type="uint16", name="uint16_result")

# -- running sums and products

for op in ("Cumsum", "Cumprod"):
    for axis in (0, -1):
        for flags in ({}, dict(exclusive=True), dict(reverse=True), dict(exclusive=True, reverse=True)):
            case(op, [f32(3, 4, lo=0.3), arr(axis, np.int32)], grad=True, name="_".join(["axis_%s" % str(axis).replace("-", "m")] + sorted(flags)), **flags)
    for make in (f64, f16, i8, i16, i32, i64, u8, u16, c64):
        case(op, [make(2, 3), arr(1, np.int32)], name=make.__name__)
    case(op, [f32(0, 2), arr(0, np.int64)], name="empty")
    case(op, [f32(2), arr(1, np.int32)], name="out_of_range", error="INVALID_ARGUMENT", text="ScanOp: Expected scan axis in the range [-1, 1), but got 1")
case("Cumprod", [arr([2, 0, 3], np.float32), arr(0, np.int32)], grad=True, name="gradient_with_zero")

# -- products of many matrices

for adj_x, adj_y in ((False, False), (True, False), (False, True), (True, True)):
    x, y = (2, 4, 3) if adj_x else (2, 3, 4), (2, 2, 4) if adj_y else (2, 4, 2)
    for op in ("BatchMatMul", "BatchMatMulV2"):
        for make in (f32, c64):
            case(op, [make(*x), make(*y)], adj_x=adj_x, adj_y=adj_y, grad=True, name="%s_adj_%d%d" % (make.__name__, adj_x, adj_y))
for op in ("BatchMatMul", "BatchMatMulV2"):
    case(op, [f64(3, 2, 4, 2), f64(3, 2, 2, 3)], grad=True, name="double")
    case(op, [i32(2, 3, 4), i32(2, 4, 2)], name="int32")
    case(op, [f16(2, 3, 4), f16(2, 4, 2)], name="half", tol=1e-2)
    case(op, [f32(3, 4), f32(4, 2)], name="matrices", grad=True)
    case(op, [f32(2, 3, 0), f32(2, 0, 2)], name="nothing_inside")
    case(op, [f32(0, 3, 4), f32(0, 4, 2)], name="no_matrices")
    case(op, [f32(2, 3, 2), f32(2, 3, 3)], name="unlike_sizes", error="INVALID_ARGUMENT", text="Matrix size-incompatible")
case("BatchMatMulV2", [f32(5, 1, 2, 3), f32(4, 3, 2)], grad=True, name="broadcast")
case("BatchMatMulV2", [f32(2, 3), f32(4, 3, 2)], grad=True, name="broadcast_a_matrix")
case("BatchMatMulV2", [f32(2, 3, 2), f32(3, 2, 3)], name="incompatible", error="INVALID_ARGUMENT", text="In[0] and In[1] must have compatible batch dimensions: [2,3,2] vs. [3,2,3]")
case("BatchMatMul", [f32(2, 3, 2), f32(3, 2, 3)], name="incompatible", error="INVALID_ARGUMENT", text="In[0].dim(0) and In[1].dim(0) must be the same: [2,3,2] vs [3,2,3]")
case("BatchMatMul", [f32(2, 3, 2), f32(2, 3)], name="unlike_ranks", error="INVALID_ARGUMENT", text="In[0] and In[1] has different ndims: [2,3,2] vs. [2,3]")
case("BatchMatMulV3", [f32(2, 3, 4), f32(2, 4, 2)], Tout="float32", grad=True)
case("BatchMatMulV3", [i8(2, 3, 4), i8(2, 4, 2)], Tout="int32", name="int8")
