"""Activations, softmax, losses, convolution, pooling, normalisation."""
import numpy as np

from cases import arr, bf16, case, f16, f32, f64, i32, i64

case("Relu", [f32(2, 3)], grad=True)
case("BiasAdd", [f32(2, 3), f32(3)], grad=True)
case("SparseSoftmaxCrossEntropyWithLogits", [f32(3, 4), i64([0, 3, 1])], grad=True)
case("SparseSoftmaxCrossEntropyWithLogits", [f32(3, 4), i64([0, 4, 1])], name="label_out_of_range", error="INVALID_ARGUMENT", text="Received a label value of 4")
