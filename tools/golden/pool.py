"""Pooling, normalisation, morphology. TensorFlow's CPU kernels of pooling know channels-last only."""
import numpy as np

from cases import arr, bf16, case, f16, f32, f64, i8, i32, i64, node, u8

ONE = [1, 1, 1, 1]
WINDOWS = [("valid", dict(ksize=[1, 2, 3, 1], strides=[1, 1, 1, 1], padding="VALID")), ("same", dict(ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1], padding="SAME")),
           ("gaps", dict(ksize=[1, 1, 2, 1], strides=[1, 2, 3, 1], padding="VALID"))]
OUT = {"valid": (2, 4, 4, 3), "same": (2, 3, 3, 3), "gaps": (2, 3, 2, 3)}
V2 = lambda attrs: ([arr(attrs["ksize"], np.int32), arr(attrs["strides"], np.int32)], dict(padding=attrs["padding"]))
for name, attrs in WINDOWS:
    case("MaxPool", [f32(2, 5, 6, 3)], grad=True, name=name, **attrs)
    case("AvgPool", [f32(2, 5, 6, 3)], grad=True, name=name, **attrs)
    case("AvgPoolGrad", [i32([2, 5, 6, 3]), f32(*OUT[name])], grad=True, name=name, **attrs)
    extra, rest = V2(attrs)
    case("MaxPoolV2", [f32(2, 5, 6, 3)] + extra, grad=True, name=name, **rest)
    image = f32(2, 5, 6, 3)
    case("MaxPoolGrad", [image, node("MaxPool", image, **attrs), f32(*OUT[name])], grad=True, name=name, **attrs)
    case("MaxPoolGradGrad", [image, node("MaxPool", image, **attrs), f32(2, 5, 6, 3)], grad=True, name=name, **attrs)
    case("MaxPoolGradV2", [f32(2, 5, 6, 3), f32(*OUT[name]), f32(*OUT[name])] + extra, name=name, **rest)
    case("MaxPoolWithArgmax", [f32(2, 5, 6, 3)], name=name, **attrs)
    case("MaxPoolWithArgmax", [f32(2, 5, 6, 3)], include_batch_in_index=True, Targmax="int32", name=name + "_batch", **attrs)
case("MaxPool", [arr([[[[1.0], [3.0]], [[3.0], [3.0]]]], np.float32)], ksize=[1, 2, 2, 1], strides=ONE, padding="VALID", grad=True, name="ties")
case("MaxPool", [f32(1, 4, 4, 1)], ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, 0, 1, 0, 0], name="explicit")
case("MaxPool", [f32(2, 2, 2, 6)], ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], padding="VALID", name="across_channels")
case("MaxPool", [f64(1, 3, 3, 2)], ksize=[1, 2, 2, 1], strides=ONE, padding="SAME", grad=True, name="double")
case("MaxPool", [f16(1, 3, 3, 2)], ksize=[1, 2, 2, 1], strides=ONE, padding="SAME", name="half")
case("MaxPool", [bf16(1, 3, 3, 2)], ksize=[1, 2, 2, 1], strides=ONE, padding="SAME", name="bfloat16")
case("MaxPool", [i32(1, 3, 3, 2)], ksize=[1, 2, 2, 1], strides=ONE, padding="SAME", name="int32")
case("MaxPool", [u8(1, 3, 3, 2)], ksize=[1, 2, 2, 1], strides=ONE, padding="SAME", name="uint8")
case("MaxPool", [i8(1, 3, 3, 2)], ksize=[1, 2, 2, 1], strides=ONE, padding="SAME", name="int8")
case("MaxPool", [f32(0, 3, 3, 2)], ksize=[1, 2, 2, 1], strides=ONE, padding="SAME", name="no_images")
case("MaxPool", [f32(3, 3, 2)], ksize=[1, 2, 2, 1], strides=ONE, padding="SAME", error="INVALID_ARGUMENT", name="rank_3")
case("MaxPoolGrad", [f32(1, 3, 3, 2), f32(1, 2, 2, 2), f32(1, 3, 2, 2)], ksize=[1, 2, 2, 1], strides=ONE, padding="VALID", error="INVALID_ARGUMENT", name="wrong_gradient")
case("MaxPoolGrad", [f32(1, 3, 3, 2), f32(1, 2, 1, 2), f32(1, 2, 2, 2)], ksize=[1, 2, 2, 1], strides=ONE, padding="VALID", error="INVALID_ARGUMENT", name="wrong_output")
case("MaxPoolGradGrad", [f32(1, 3, 3, 2), f32(1, 2, 2, 2), f32(1, 3, 2, 2)], ksize=[1, 2, 2, 1], strides=ONE, padding="VALID", error="INVALID_ARGUMENT", name="wrong_gradient")
case("MaxPoolGradWithArgmax", [f32(2, 2, 2, 1), f32(2, 1, 1, 1), i64([[[[3]]], [[[1]]]])], ksize=[1, 2, 2, 1], strides=ONE, padding="VALID", name="per_image")
case("MaxPoolGradWithArgmax", [f32(2, 2, 2, 1), f32(2, 1, 1, 1), i64([[[[3]]], [[[5]]]])], ksize=[1, 2, 2, 1], strides=ONE, padding="VALID",
     include_batch_in_index=True, name="whole_batch")
case("AvgPool", [f64(1, 3, 3, 2)], ksize=[1, 2, 2, 1], strides=ONE, padding="SAME", grad=True, name="double")
case("AvgPool", [f16(1, 3, 3, 2)], ksize=[1, 2, 2, 1], strides=ONE, padding="SAME", name="half")
case("AvgPool", [f32(1, 3, 3, 2)], ksize=[1, 3, 3, 1], strides=ONE, padding="VALID", grad=True, name="whole_image")

NONE = arr([], np.float32)
for op in ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"]:
    case(op, [f32(2, 3, 2, 3), f32(3), f32(3), NONE, NONE], name="training", grad=True, tol=1e-4)
    case(op, [f32(2, 3, 2, 3), f32(3), f32(3), f32(3), f32(3, lo=0.5, hi=2)], is_training=False, name="inference", grad=True, tol=1e-4)
    case(op, [f32(2, 3, 2, 2), f32(2), f32(2), f32(2), f32(2, lo=0.5, hi=2)], exponential_avg_factor=0.25, name="running_average")
    case(op, [f32(2, 3, 2, 2), f32(2), f32(2), NONE, NONE], data_format="NCHW", error="INVALID_ARGUMENT", name="nchw_wrong_scale")
    case(op, [f32(2, 2, 3, 2), f32(2), f32(2), NONE, NONE], data_format="NCHW", name="nchw", grad=True, tol=1e-4)
    case(op, [f32(1, 1, 1, 2), f32(2), f32(2), NONE, NONE], epsilon=0.5, name="one_value")
case("FusedBatchNormV3", [f16(2, 2, 2, 2), f32(2), f32(2), NONE, NONE], name="half")
case("FusedBatchNormV3", [f32(1, 2, 2, 2, 2), f32(2), f32(2), NONE, NONE], data_format="NDHWC", name="ndhwc", grad=True, tol=1e-4)
case("FusedBatchNormGrad", [f32(2, 2, 2, 2), f32(2, 2, 2, 2), f32(2), f32(2), f32(2, lo=0.5, hi=2)], name="training", tol=1e-4)
case("FusedBatchNormGrad", [f32(2, 2, 2, 2), f32(2, 2, 2, 2), f32(2), f32(2), f32(2, lo=0.5, hi=2)], is_training=False, name="inference", tol=1e-4)
case("FusedBatchNormGradV2", [f16(2, 2, 2, 2), f16(2, 2, 2, 2), f32(2), f32(2), f32(2, lo=0.5, hi=2)], name="half", tol=1e-2)
case("FusedBatchNormGradV3", [f32(2, 2, 2, 2), f32(2, 2, 2, 2), f32(2), f32(2), f32(2, lo=0.5, hi=2), NONE], name="training", tol=1e-4)
case("FusedBatchNormGradV3", [f32(2, 2, 2, 2), f32(2, 2, 2, 3), f32(2), f32(2), f32(2), NONE], error="INVALID_ARGUMENT", name="different_shapes")

case("LRN", [f32(2, 2, 2, 5)], grad=True, name="defaults", tol=1e-4)
case("LRN", [f32(1, 2, 2, 7)], depth_radius=2, bias=2.0, alpha=0.3, beta=0.75, grad=True, name="radius_2", tol=1e-4)
case("LRN", [f16(1, 1, 2, 4)], depth_radius=1, name="half")
case("LRN", [f32(2, 3)], error="INVALID_ARGUMENT", name="matrix")
case("LRNGrad", [f32(1, 2, 1, 4), f32(1, 2, 1, 4), f32(1, 2, 1, 4)], depth_radius=1, name="any_output", tol=1e-4)

DEPTHWISE = [("valid", dict(strides=ONE, padding="VALID"), (2, 3, 4, 6)), ("same", dict(strides=[1, 2, 2, 1], padding="SAME"), (2, 2, 3, 6)),
             ("explicit", dict(strides=ONE, padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 2, 0, 0, 0]), (2, 4, 6, 6))]
for name, attrs, out in DEPTHWISE:
    case("DepthwiseConv2dNative", [f32(2, 4, 5, 3), f32(2, 2, 3, 2)], grad=True, name=name, tol=1e-4, **attrs)
    case("DepthwiseConv2dNativeBackpropInput", [i32([2, 4, 5, 3]), f32(2, 2, 3, 2), f32(*out)], grad=True, name=name, tol=1e-4, **attrs)
    case("DepthwiseConv2dNativeBackpropFilter", [f32(2, 4, 5, 3), i32([2, 2, 3, 2]), f32(*out)], grad=True, name=name, tol=1e-4, **attrs)
case("DepthwiseConv2dNative", [f64(1, 4, 4, 2), f64(3, 3, 2, 1)], strides=ONE, padding="SAME", grad=True, name="double")
case("DepthwiseConv2dNative", [f16(1, 4, 4, 2), f16(3, 3, 2, 1)], strides=ONE, padding="SAME", name="half", tol=1e-2)
case("DepthwiseConv2dNative", [f32(1, 4, 4, 2), f32(3, 3, 3, 1)], strides=ONE, padding="SAME", error="INVALID_ARGUMENT", name="wrong_channels")
case("DepthwiseConv2dNativeBackpropInput", [i32([1, 4, 4, 2]), f32(2, 2, 2, 1), f32(1, 2, 3, 2)], strides=ONE, padding="VALID", error="INVALID_ARGUMENT",
     name="wrong_gradient")

case("Dilation2D", [f32(1, 4, 5, 2), f32(2, 3, 2)], strides=ONE, rates=ONE, padding="SAME", name="same")
case("Dilation2D", [f32(2, 5, 5, 2), f32(2, 2, 2)], strides=[1, 2, 1, 1], rates=[1, 1, 2, 1], padding="VALID", name="rates")
case("Dilation2D", [i32(1, 3, 3, 1), i32(2, 2, 1)], strides=ONE, rates=ONE, padding="VALID", name="int32")
case("Dilation2D", [f32(1, 4, 5, 2), f32(2, 3, 1)], strides=ONE, rates=ONE, padding="SAME", error="INVALID_ARGUMENT", name="wrong_depth")
