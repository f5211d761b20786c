"""Random numbers: with seeds, ours are TensorFlow's."""
import numpy as np

from cases import arr, case, f16, f32, f64, i32, i64, strs

ALL = ["float32", "float64", "float16", "bfloat16"]
for op in ["RandomUniform", "RandomStandardNormal", "TruncatedNormal"]:
    tol = 1e-30 if op == "RandomUniform" else 1e-6
    for dtype in ALL:
        case(op, [i32([3, 5])], dtype=dtype, seed=87654321, seed2=42, runs=2, name=dtype, tol=tol if dtype.startswith("float") and dtype != "float16" else None)
    case(op, [i64([7])], dtype="float32", seed=1, seed2=0, name="int64_shape", tol=tol)
    case(op, [i32([2, 3])], dtype="float32", seed=-1, seed2=-5, name="negative_seeds", tol=tol)
    case(op, [i32(0)], dtype="float32", seed=87654321, seed2=1, runs=3, name="scalars", tol=tol)
    case(op, [i32([300])], dtype="float32", seed=123456789012345, seed2=9876543210, name="many", tol=tol)
    case(op, [i32([0, 3])], dtype="float32", seed=3, seed2=4, name="empty")
    case(op, [i32([4])], dtype="float32", name="without_seed", shape_only=True)
    case(op, [i32([2, -3])], dtype="float32", error="INVALID_ARGUMENT", name="negative_size")
    case(op, [i32([[2, 3]])], dtype="float32", error="INVALID_ARGUMENT", name="shape_is_a_matrix")

case("RandomUniformInt", [i32([3, 5]), arr(-10, np.int32), arr(90, np.int32)], seed=87654321, seed2=42, runs=2, name="int32")
case("RandomUniformInt", [i32([7]), arr(-10, np.int64), arr(1 << 40, np.int64)], seed=87654321, seed2=42, runs=2, name="int64")
case("RandomUniformInt", [i32([4]), arr(-2**31, np.int32), arr(2**31 - 1, np.int32)], seed=1, seed2=2, name="whole_range")
case("RandomUniformInt", [i32([0]), arr(5, np.int32), arr(5, np.int32)], seed=1, seed2=2, name="nothing_wanted")
case("RandomUniformInt", [i32([2]), arr(5, np.int32), arr(5, np.int32)], error="INVALID_ARGUMENT", text="Need minval < maxval, got 5 >= 5", name="empty_range")
case("RandomUniformInt", [i32([2]), i32([1]), arr(5, np.int32)], error="INVALID_ARGUMENT", name="minval_is_a_vector")

case("RandomShuffle", [np.arange(10, dtype=np.int32)], seed=87654321, seed2=7, runs=3, name="vector")
case("RandomShuffle", [f32(5, 2)], seed=87654321, seed2=7, runs=2, name="rows")
case("RandomShuffle", [strs("a", "b", "c", "d")], seed=1, seed2=7, runs=2, name="strings")
case("RandomShuffle", [f64(6)], seed=1, seed2=2, name="double")
case("RandomShuffle", [f32(1, 3)], seed=1, seed2=2, name="one_row")
case("RandomShuffle", [f32()], seed=1, seed2=2, name="scalar")
case("RandomShuffle", [f32(3, 0)], seed=1, seed2=2, name="empty_rows")

case("Multinomial", [f32(3, 5), 10], seed=87654321, seed2=7, runs=2, name="float")
case("Multinomial", [f64(2, 3), 5], seed=87654321, seed2=8, output_dtype="int32", name="double_int32")
case("Multinomial", [f16(2, 3), 5], seed=87654321, seed2=8, name="half")
case("Multinomial", [arr([[0, float("-inf"), 2, -1]], np.float32), 8], seed=4, seed2=8, name="impossible_class")
case("Multinomial", [f32(2, 3), 0], seed=4, seed2=8, name="no_samples")
case("Multinomial", [f32(0, 3), 2], seed=4, seed2=8, name="no_rows")
case("Multinomial", [f32(2, 0), 2], error="INVALID_ARGUMENT", name="no_classes")
case("Multinomial", [f32(3), 2], error="INVALID_ARGUMENT", name="vector")
case("Multinomial", [f32(2, 3), -1], error="INVALID_ARGUMENT", name="negative_samples")

case("RandomGamma", [i32([4]), arr([0.3, 1.0, 2.5, 30.0], np.float32)], seed=87654321, seed2=7, runs=2, name="float", tol=1e-6)
case("RandomGamma", [i32([3]), arr([[0.3], [1.5]], np.float64)], seed=87654321, seed2=7, name="double", tol=1e-12)
case("RandomGamma", [i32(0), arr(2.0, np.float16)], seed=87654321, seed2=7, name="half_scalar")
case("RandomGamma", [i32([0]), f32(2)], seed=87654321, seed2=7, name="empty")

PARAMETERS = {"inside": (0.5, 2.0, -3.0, 4.0), "far_above": (0.0, 1.0, 3.0, 9.0), "narrow": (0.0, 1.0, 0.5, 0.7), "one_sided": (1.0, 2.0, float("-inf"), 0.5),
              "below": (0.0, 1.0, -4.0, -2.5)}
for name, (mean, deviation, low, high) in PARAMETERS.items():
    case("ParameterizedTruncatedNormal", [i32([2, 6]), arr(mean, np.float32), deviation, low, high], seed=87654321, seed2=7, runs=2, name=name)
case("ParameterizedTruncatedNormal", [i32([3, 4]), f64(3), f64(3, lo=0.5, hi=1), arr([-1.0, -2.0, -3.0]), arr([2.0, 3.0, 5.0])], seed=1, seed2=7, runs=2,
     name="parameters_per_batch", tol=1e-9)
case("ParameterizedTruncatedNormal", [i32([300]), arr(0.0, np.float32), 1.0, -1.0, 1.0], seed=1, seed2=7, name="several_batches")
case("ParameterizedTruncatedNormal", [i32([2]), arr(0.0, np.float32), -1.0, -1.0, 1.0], error="INVALID_ARGUMENT", name="negative_deviation")
case("ParameterizedTruncatedNormal", [i32([2]), arr(0.0, np.float32), 1.0, 1.0, -1.0], error="INVALID_ARGUMENT", name="crossed_bounds")
case("ParameterizedTruncatedNormal", [i32([2]), f32(3), 1.0, -1.0, 1.0], error="INVALID_ARGUMENT", name="wrong_length")

for op in ["StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"]:
    tol = 1e-30 if op == "StatelessRandomUniform" else 1e-6
    for dtype in ALL:
        case(op, [i32([3, 5]), i64([12, -34])], dtype=dtype, name=dtype, tol=tol if dtype in ("float32", "float64") else None)
    case(op, [i64([5]), i32([1, -2])], dtype="float32", name="int32_seed", tol=tol)
    case(op, [i32([0]), i32([1, 2])], dtype="float32", name="empty")
    case(op, [i32([3]), i32([1, 2, 3])], dtype="float32", error="INVALID_ARGUMENT", text="seed must have shape [2], not [3]", name="wrong_seed")
    key, counter = arr([0x908502c96d2f7fba], np.uint64), arr([0, 0xf7734320619cb60b], np.uint64)
    for dtype in ALL:
        case(op + "V2", [i32([3, 5]), key, counter, 1], dtype=dtype, name=dtype, tol=tol if dtype in ("float32", "float64") else None)
    case(op + "V2", [i32([3]), key, counter, 3], dtype="float32", name="auto_select", tol=tol)
    case(op + "V2", [i32([3]), key, arr([2**64 - 1, 5], np.uint64), 1], dtype="float32", name="counter_carries", tol=tol)
    case(op + "V2", [i32([3]), key, counter, 7], dtype="float32", error="INVALID_ARGUMENT", name="unknown_algorithm")
    case(op + "V2", [i32([3]), arr([1, 2], np.uint64), counter, 1], dtype="float32", error="INVALID_ARGUMENT", name="wrong_key")
case("StatelessRandomGetKeyCounter", [i64([1, 2])], name="int64")
case("StatelessRandomGetKeyCounter", [i32([-1, 2])], name="int32")
case("StatelessRandomGetKeyCounter", [i32([1])], error="INVALID_ARGUMENT", name="one_seed")
case("StatelessRandomGetKeyCounterAlg", [i64([7, -2])], name="int64")
case("StatelessRandomGetAlg", [], name="cpu")
