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
