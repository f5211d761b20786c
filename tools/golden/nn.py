"""Activations, biases, softmax and losses, ranking."""
import numpy as np

from cases import arr, bf16, bools, c64, case, f16, f32, f64, i8, i16, i32, i64, u8

EDGES = [float("-inf"), -100.0, -3.0, -0.0, 0.0, 0.5, 6.0, 7.0, 100.0, float("inf"), float("nan")]
FINITE = [-100.0, -18.0, -3.0, -1e-4, 0.0, 1e-4, 0.5, 6.0, 18.0, 100.0]

for op in ["Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign"]:
    case(op, [f32(2, 3, lo=-8, hi=8)], grad=True, name="matrix")
    case(op, [f64(7, lo=-8, hi=8)], grad=True, name="double")
    case(op, [f16(5)], name="half")
    case(op, [bf16(5)], name="bfloat16")
    case(op, [arr(FINITE, np.float32)], name="far_values")
    case(op, [f32(0, 3)], name="empty")
    case(op, [f32()], name="scalar", grad=True)
for op in ["Relu", "Relu6", "LeakyRelu", "Elu"]:
    case(op, [arr(EDGES, np.float32)], name="edges")
for op in ["Relu", "Relu6"]:
    case(op, [i32(6, lo=-9, hi=10)], name="int32")
    case(op, [i8(6, lo=-9, hi=10)], name="int8")
    case(op, [u8(6)], name="uint8")
    case(op, [i64(2, 2)], name="int64")
case("LeakyRelu", [f32(4)], alpha=0.5, grad=True, name="alpha")
case("LeakyRelu", [f32(4)], alpha=2.0, grad=True, name="alpha_above_one")
for op, has_grad in [("ReluGrad", True), ("Relu6Grad", True), ("LeakyReluGrad", True), ("EluGrad", True), ("SeluGrad", True), ("SoftplusGrad", True),
                     ("SoftsignGrad", False)]:
    case(op, [f32(2, 4), f32(2, 4, lo=-8, hi=8)], grad=has_grad, name="matrix")
    case(op, [f16(4), f16(4)], name="half")
    case(op, [f32(4), f32(2, 2)], error="INVALID_ARGUMENT", name="different_shapes")
    case(op, [f32(0), f32(0)], name="empty")
case("ReluGrad", [i32(4), i32(4)], name="int32")

case("BiasAdd", [f32(2, 3), f32(3)], grad=True, name="matrix")
case("BiasAdd", [f32(2, 2, 3), f32(3)], grad=True, name="rank_3")
case("BiasAdd", [f32(2, 2, 2, 3), f32(3)], grad=True, name="rank_4")
case("BiasAdd", [f64(1, 2, 1, 2, 3), f64(3)], grad=True, name="rank_5")
case("BiasAdd", [f32(2, 3, 2, 2), f32(3)], data_format="NCHW", grad=True, name="nchw")
case("BiasAdd", [f32(2, 3, 2), f32(3)], data_format="NCHW", grad=True, name="nchw_rank_3")
case("BiasAdd", [i32(2, 3), i32(3)], name="int32")
case("BiasAdd", [f16(2, 3), f16(3)], name="half", tol=2e-3)
case("BiasAdd", [f32(0, 3), f32(3)], name="no_rows")
case("BiasAdd", [f32(2, 3), f32(2)], error="INVALID_ARGUMENT", name="wrong_length")
case("BiasAdd", [f32(3), f32(3)], error="INVALID_ARGUMENT", name="value_is_a_vector")
case("BiasAdd", [f32(2, 3), f32(1, 3)], error="INVALID_ARGUMENT", name="bias_is_a_matrix")
case("BiasAddV1", [f32(2, 3), f32(3)], grad=True, name="matrix")
case("BiasAddGrad", [f32(4, 3)], grad=True, name="matrix")
case("BiasAddGrad", [f32(2, 2, 2, 3)], grad=True, name="rank_4")
case("BiasAddGrad", [f32(2, 3, 2, 2)], data_format="NCHW", grad=True, name="nchw")
case("BiasAddGrad", [f32(0, 3)], name="no_rows")
case("BiasAddGrad", [f32(3)], error="INVALID_ARGUMENT", name="vector")

for op in ["Softmax", "LogSoftmax"]:
    case(op, [f32(3, 4, lo=-6, hi=6)], grad=True, name="matrix")
    case(op, [f64(3, 4)], grad=True, name="double")
    case(op, [f32(2, 2, 3)], grad=True, name="rank_3")
    case(op, [f32(5)], grad=True, name="vector")
    case(op, [f16(2, 3)], name="half")
    case(op, [bf16(2, 3)], name="bfloat16")
    case(op, [arr([[1000.0, 1001.0], [-1000.0, 0.0]], np.float32)], name="large_logits")
    case(op, [arr([[1.0, float("-inf")], [float("nan"), 0.0]], np.float32)], name="infinite_logits")
    case(op, [f32(0, 4)], name="no_rows")
    case(op, [f32(3, 1)], name="one_class")
    case(op, [f32()], error="INVALID_ARGUMENT", name="scalar")

LABELS = arr([[0.1, 0.2, 0.3, 0.4], [1, 0, 0, 0], [0.25, 0.25, 0.25, 0.25]], np.float32)
case("SoftmaxCrossEntropyWithLogits", [f32(3, 4, lo=-5, hi=5), LABELS], grad=True, name="matrix")
case("SoftmaxCrossEntropyWithLogits", [f64(2, 3), f64(2, 3, lo=0, hi=1)], grad=True, name="double")
case("SoftmaxCrossEntropyWithLogits", [f16(2, 3), f16(2, 3, lo=0, hi=1)], name="half")
case("SoftmaxCrossEntropyWithLogits", [f32(3, 4), f32(1, 4, lo=0, hi=1)], name="one_row_of_labels")
case("SoftmaxCrossEntropyWithLogits", [f32(3, 4), f32(4, lo=0, hi=1)], name="vector_of_labels")
case("SoftmaxCrossEntropyWithLogits", [f32(1, 4), f32(3, 4, lo=0, hi=1)], name="one_row_of_logits")
case("SoftmaxCrossEntropyWithLogits", [f32(0, 4), f32(0, 4)], name="no_rows")
case("SoftmaxCrossEntropyWithLogits", [f32(3, 4), f32(3, 3)], error="INVALID_ARGUMENT", name="different_classes", text="must be broadcastable")
case("SoftmaxCrossEntropyWithLogits", [f32(4), f32(4)], error="INVALID_ARGUMENT", name="vectors", text="2-dimensional")
case("SparseSoftmaxCrossEntropyWithLogits", [f32(3, 4), i64([0, 3, 1])], grad=True, name="matrix")
case("SparseSoftmaxCrossEntropyWithLogits", [f64(3, 4), i32([0, 3, 1])], grad=True, name="double_int32")
case("SparseSoftmaxCrossEntropyWithLogits", [f16(2, 3), i32([2, 0])], name="half")
case("SparseSoftmaxCrossEntropyWithLogits", [arr([[500.0, -500.0]], np.float32), i32([1])], name="large_logits")
case("SparseSoftmaxCrossEntropyWithLogits", [f32(0, 4), i32(0)], name="no_rows")
case("SparseSoftmaxCrossEntropyWithLogits", [f32(3, 4), i64([0, 4, 1])], name="label_out_of_range", error="INVALID_ARGUMENT",
     text="Received a label value of 4 which is outside the valid range of [0, 4).  Label values: 0 4 1")
case("SparseSoftmaxCrossEntropyWithLogits", [f32(2, 4), i32([-1, 0])], name="negative_label", error="INVALID_ARGUMENT",
     text="Received a label value of -1 which is outside the valid range of [0, 4).  Label values: -1 0")
case("SparseSoftmaxCrossEntropyWithLogits", [f32(2, 4), i32([1])], name="too_few_labels", error="INVALID_ARGUMENT", text="same first dimension")
case("SparseSoftmaxCrossEntropyWithLogits", [f32(4), i32([1])], name="logits_vector", error="INVALID_ARGUMENT", text="logits must be 2-D")
case("SparseSoftmaxCrossEntropyWithLogits", [f32(2, 4), i32([[1], [2]])], name="labels_matrix", error="INVALID_ARGUMENT", text="labels must be 1-D")
