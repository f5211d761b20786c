"""Convolution. TensorFlow's CPU kernels know channels-last only."""
import numpy as np

from cases import arr, bf16, case, f16, f32, f64, i32, i64

ONE = [1, 1, 1, 1]
GRID = [("valid", dict(strides=ONE, padding="VALID")), ("same", dict(strides=ONE, padding="SAME")), ("stride_2", dict(strides=[1, 2, 2, 1], padding="SAME")),
        ("strides_differ", dict(strides=[1, 2, 1, 1], padding="VALID")),
        ("explicit", dict(strides=[1, 1, 2, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 2, 1, 0, 3, 0, 0]))]
for name, attrs in GRID:
    case("Conv2D", [f32(2, 5, 6, 3), f32(3, 2, 3, 4)], grad=True, name=name, **attrs)
    case("Conv2DBackpropFilter", [f32(1, 4, 4, 2), i32([2, 2, 2, 3]), f32(*{"valid": (1, 3, 3, 3), "same": (1, 4, 4, 3), "stride_2": (1, 2, 2, 3),
                                                                            "strides_differ": (1, 2, 3, 3), "explicit": (1, 6, 3, 3)}[name])],
         grad=True, name=name, **attrs)
    case("Conv2DBackpropInput", [i32([1, 4, 4, 2]), f32(2, 2, 2, 3), f32(*{"valid": (1, 3, 3, 3), "same": (1, 4, 4, 3), "stride_2": (1, 2, 2, 3),
                                                                          "strides_differ": (1, 2, 3, 3), "explicit": (1, 6, 3, 3)}[name])],
         grad=True, name=name, **attrs)
case("Conv2D", [f32(1, 7, 7, 2), f32(3, 3, 2, 2)], strides=ONE, padding="VALID", dilations=[1, 2, 3, 1], name="dilations")
case("Conv2D", [f32(1, 7, 7, 2), f32(3, 3, 2, 2)], strides=ONE, padding="SAME", dilations=[1, 2, 2, 1], name="dilations_same")
case("Conv2D", [f32(2, 3, 3, 4), f32(1, 1, 4, 2)], strides=ONE, padding="VALID", grad=True, name="pointwise")
case("Conv2D", [f32(2, 3, 3, 4), f32(1, 1, 4, 2)], strides=[1, 2, 2, 1], padding="VALID", grad=True, name="pointwise_stride_2")
case("Conv2D", [f64(1, 4, 4, 2), f64(3, 3, 2, 2)], strides=ONE, padding="SAME", grad=True, name="double")
case("Conv2D", [f16(1, 4, 4, 2), f16(3, 3, 2, 2)], strides=ONE, padding="SAME", name="half", tol=1e-2)
case("Conv2D", [i32(1, 4, 4, 2), i32(3, 3, 2, 2)], strides=ONE, padding="SAME", name="int32")
case("Conv2D", [f32(1, 4, 4, 4), f32(3, 3, 2, 6)], strides=ONE, padding="SAME", name="groups")
case("Conv2D", [f32(1, 3, 3, 1), f32(5, 5, 1, 1)], strides=ONE, padding="SAME", grad=True, name="filter_larger_than_input")
case("Conv2D", [f32(0, 3, 3, 1), f32(2, 2, 1, 1)], strides=ONE, padding="VALID", name="no_images")
case("Conv2D", [f32(1, 2, 2, 1), f32(4, 4, 1, 1)], strides=ONE, padding="VALID", error="INVALID_ARGUMENT", name="negative_size")
case("Conv2D", [f32(1, 4, 4, 3), f32(2, 2, 2, 1)], strides=ONE, padding="VALID", error="INVALID_ARGUMENT", name="wrong_channels")
case("Conv2D", [f32(4, 4, 2), f32(2, 2, 2, 1)], strides=ONE, padding="VALID", error="INVALID_ARGUMENT", name="rank_3")
case("Conv2D", [f32(1, 4, 4, 2), f32(2, 0, 2, 1)], strides=ONE, padding="VALID", error="INVALID_ARGUMENT", name="empty_filter")
case("Conv2DBackpropInput", [i32([4, 4]), f32(2, 2, 2, 3), f32(1, 3, 3, 3)], strides=ONE, padding="VALID", name="height_and_width_only")
case("Conv2DBackpropInput", [i32([1, 4, 4, 2]), f32(2, 2, 2, 3), f32(1, 2, 3, 3)], strides=ONE, padding="VALID", error="INVALID_ARGUMENT", name="wrong_gradient_size")
case("Conv2DBackpropInput", [i32([1, 4, 4, 2]), f32(2, 2, 2, 3), f32(2, 3, 3, 3)], strides=ONE, padding="VALID", error="INVALID_ARGUMENT", name="wrong_batch")
case("Conv2DBackpropInput", [i32([1, -4, 4, 2]), f32(2, 2, 2, 3), f32(1, 3, 3, 3)], strides=ONE, padding="VALID", error="INVALID_ARGUMENT", name="negative_sizes")
case("Conv2DBackpropFilter", [f32(1, 4, 4, 2), i32([2, 2, 2, 3]), f32(1, 3, 3, 2)], strides=ONE, padding="VALID", error="INVALID_ARGUMENT", name="wrong_out_channels")
case("Conv2DBackpropFilter", [f64(1, 4, 4, 2), i32([2, 2, 2, 3]), f64(1, 3, 3, 3)], strides=ONE, padding="VALID", name="double")

FIVE = [1, 1, 1, 1, 1]
case("Conv3D", [f32(1, 3, 4, 4, 2), f32(2, 2, 3, 2, 2)], strides=FIVE, padding="SAME", grad=True, name="same")
case("Conv3D", [f32(1, 3, 4, 4, 2), f32(2, 2, 3, 2, 2)], strides=FIVE, padding="VALID", grad=True, name="valid")
case("Conv3D", [f64(1, 4, 4, 4, 1), f64(2, 2, 2, 1, 2)], strides=[1, 2, 1, 2, 1], padding="SAME", grad=True, name="strides_double")
case("Conv3DBackpropInputV2", [i32([1, 3, 3, 3, 1]), f32(2, 2, 2, 1, 2), f32(1, 2, 2, 2, 2)], strides=FIVE, padding="VALID", grad=True, name="valid")
case("Conv3DBackpropInputV2", [i64([1, 3, 3, 3, 1]), f32(2, 2, 2, 1, 2), f32(1, 3, 3, 3, 2)], strides=FIVE, padding="SAME", name="int64_sizes")
case("Conv3DBackpropFilterV2", [f32(1, 3, 3, 3, 1), i32([2, 2, 2, 1, 2]), f32(1, 2, 2, 2, 2)], strides=FIVE, padding="VALID", grad=True, name="valid")
