"""Optimizer updates: every rule, dense and sparse, on reference and resource variables."""
import numpy as np

from cases import arr, bf16, case, f16, f32, f64, i32, i64, ref, var

KINDS = {"Apply": ref, "SparseApply": ref, "ResourceApply": var, "ResourceSparseApply": var}
TYPES = {"float": f32, "double": f64, "half": f16, "bfloat16": bf16}

# rule -> the ranges of var and its slots, then the other inputs in order: "g" is the gradient, (name, value) a scalar
SMALL, POSITIVE = dict(lo=-1.0, hi=1.0), dict(lo=0.25, hi=1.5)
RULES = {
    "GradientDescent": ([SMALL], [0.1, "g"]),
    "Momentum": ([SMALL, SMALL], [0.1, "g", 0.9]),
    "KerasMomentum": ([SMALL, SMALL], [0.1, "g", 0.9]),
    "Adagrad": ([SMALL, POSITIVE], [0.1, "g"]),
    "AdagradV2": ([SMALL, POSITIVE], [0.1, 0.01, "g"]),
    "AdagradDA": ([SMALL, SMALL, POSITIVE], ["g", 0.1, 0.05, 0.2, np.int64(3)]),
    "Adadelta": ([SMALL, POSITIVE, POSITIVE], [0.5, 0.9, 0.01, "g"]),
    "Adam": ([SMALL, SMALL, POSITIVE], [0.8, 0.9, 0.1, 0.8, 0.9, 0.01, "g"]),
    "AdamWithAmsgrad": ([SMALL, SMALL, POSITIVE, POSITIVE], [0.8, 0.9, 0.1, 0.8, 0.9, 0.01, "g"]),
    "AdaMax": ([SMALL, SMALL, POSITIVE], [0.8, 0.1, 0.8, 0.9, 0.01, "g"]),
    "RMSProp": ([SMALL, POSITIVE, SMALL], [0.1, 0.9, 0.5, 0.01, "g"]),
    "CenteredRMSProp": ([SMALL, dict(lo=-0.25, hi=0.25), dict(lo=0.5, hi=1.5), SMALL], [0.1, 0.9, 0.5, 0.01, "g"]),
    "Ftrl": ([SMALL, POSITIVE, SMALL], ["g", 0.2, 0.3, 0.1, -0.5]),
    "FtrlV2": ([SMALL, POSITIVE, SMALL], ["g", 0.2, 0.3, 0.1, 0.05, -0.5]),
    "ProximalGradientDescent": ([SMALL], [0.1, 0.3, 0.2, "g"]),
    "ProximalAdagrad": ([SMALL, POSITIVE], [0.1, 0.3, 0.2, "g"]),
    "AddSign": ([SMALL, SMALL], [0.1, 1.0, 0.5, 0.9, "g"]),
    "PowerSign": ([SMALL, SMALL], [0.1, 1.0, 0.5, 0.9, "g"]),
}
ONLY_RESOURCE = ("KerasMomentum", "AdamWithAmsgrad")
ONLY_DENSE = ("GradientDescent", "Adam", "AdamWithAmsgrad", "AdaMax", "AddSign", "PowerSign")
NO_BFLOAT16 = ("AdaMax", "RMSProp", "CenteredRMSProp")  # for some form or other
NO_16_BITS = ("AdagradDA", "ProximalGradientDescent", "ProximalAdagrad")
FLAGS = {
    "Momentum": "use_nesterov", "KerasMomentum": "use_nesterov", "Adam": "use_nesterov",
    "Adagrad": "update_slots", "AdagradV2": "update_slots",
    "Ftrl": "multiply_linear_by_lr", "FtrlV2": "multiply_linear_by_lr",
}


def inputs(form, rule, make, change=None):
    """The inputs of one op. `change`: position among the scalars -> value."""
    ranges, rest = RULES[rule]
    kind = KINDS[form]
    is_sparse = "Sparse" in form
    shape = (4, 3) if is_sparse else (2, 3)
    made = [kind(make(*shape, **r)) for r in ranges]
    scalars = 0
    for item in rest:
        if isinstance(item, str):
            made.append(make(2, 3) if is_sparse else make(*shape))
            if is_sparse:
                made.append((i32 if make is f32 else i64)([3, 1]))
            continue
        made.append((change or {}).get(scalars, item))
        scalars += 1
    return made


def forms(rule):
    for form in KINDS:
        if "Resource" not in form and rule in ONLY_RESOURCE or "Sparse" in form and rule in ONLY_DENSE:
            continue
        yield form


for rule in RULES:
    for form in forms(rule):
        for name, make in TYPES.items():
            if rule in NO_16_BITS and name in ("half", "bfloat16") or rule in NO_BFLOAT16 and name == "bfloat16":
                continue  # TensorFlow has no kernel
            if name == "float" or form in ("Apply", "ResourceSparseApply"):
                # TensorFlow rounds to 16 bits after each operation, we once.
                tol = {"half": 1e-2, "bfloat16": 8e-2}.get(name, None)
                case(form + rule, inputs(form, rule, make), name=name, tol=tol)
        case(form + rule, inputs(form, rule, f32), name="three_steps_with_locking", runs=3, use_locking=True)
        if rule in FLAGS:
            flag = FLAGS[rule]
            case(form + rule, inputs(form, rule, f32), name=flag + "_flipped", **{flag: flag != "update_slots"})

for form in ("Apply", "SparseApply", "ResourceApply", "ResourceSparseApply"):
    case(form + "Ftrl", inputs(form, "Ftrl", f32, {3: -0.3}), name="other_power")
    case(form + "FtrlV2", inputs(form, "FtrlV2", f32, {4: -0.7}), name="other_power", multiply_linear_by_lr=True)
    case(form + "ProximalAdagrad", inputs(form, "ProximalAdagrad", f32, {1: 0.0}), name="without_l1")
    case(form + "ProximalGradientDescent", inputs(form, "ProximalGradientDescent", f32, {1: 0.0}), name="without_l1")
    case(form + "AdagradDA", inputs(form, "AdagradDA", f32, {1: 0.0}), name="without_l1")
for place, value, text in ((0, -0.1, "lr is not a positive scalar"), (1, -0.1, "l1 regularization strength"), (2, -0.1, "l2 regularization strength"),
                           (3, -0.1, "l2 shrinkage regularization strength"), (4, 0.5, "lr_power is not a non-positive scalar")):
    case("ResourceSparseApplyFtrlV2", inputs("ResourceSparseApply", "FtrlV2", f32, {place: value}), name="bad_scalar_%d" % place, error="INVALID_ARGUMENT", text=text)
    case("ResourceApplyFtrlV2", inputs("ResourceApply", "FtrlV2", f32, {place: value}), name="odd_scalar_%d" % place)
    if place < 3:
        case("ApplyProximalAdagrad", inputs("Apply", "ProximalAdagrad", f32, {place: value}), name="bad_scalar_%d" % place, error="INVALID_ARGUMENT", text=text)

# Edges
for form, kind in (("Apply", ref), ("ResourceApply", var)):
    case(form + "GradientDescent", [kind(f32()), 0.5, f32()], name="scalar")
    case(form + "GradientDescent", [kind(f32(0, 3)), 0.5, f32(0, 3)], name="empty")
    case(form + "GradientDescent", [kind(f32(37)), 0.5, f32(37)], name="odd_length")
    case(form + "GradientDescent", [kind(f32(2)), 0.5, f32(3)], name="other_shape", error="INVALID_ARGUMENT", text="var and delta do not have the same shape[2] [3]")
    case(form + "GradientDescent", [kind(f32(2)), f32(2), f32(2)], name="rate_is_no_scalar", error="INVALID_ARGUMENT", text="alpha is not a scalar: [2]")
    case(form + "Adam", [kind(f32(3)), kind(f32(3)), kind(arr([0.0, np.nan, 0.5], np.float32)), 0.9, 0.999, 0.1, 0.9, 0.999, 1e-8,
                         arr([0.0, 1.0, np.inf], np.float32)], name="nan_and_inf")
    case(form + "AdaMax", [kind(f32(3)), kind(f32(3)), kind(arr([0.0, 1.0, 0.5], np.float32)), 0.9, 0.1, 0.9, 0.999, 1e-8,
                           arr([0.0, -2.0, 3.0], np.float32)], name="plain")
case("ApplyGradientDescent", [ref(f32(2), initialized=False), 0.5, f32(2)], name="uninitialized", error="FAILED_PRECONDITION")
case("ApplyMomentum", [ref(f32(2)), ref(f32(2), initialized=False), 0.1, f32(2), 0.9], name="slot_uninitialized", error="FAILED_PRECONDITION")

for form, kind in (("SparseApply", ref), ("ResourceSparseApply", var)):
    table = lambda: [kind(f32(4, 3)), kind(f32(4, 3, lo=0.5, hi=1.0))]
    case(form + "Adagrad", table() + [0.1, f32(3, 3), i32([2, 0, 2])], name="duplicate_indices_follow_each_other")
    case(form + "Adagrad", table() + [0.1, f32(0, 3), i64([])], name="no_rows")
    case(form + "Adagrad", [kind(f32(5)), kind(f32(5, lo=0.5, hi=1.0)), 0.1, f32(2), i64([4, 0])], name="rows_of_one")
    case(form + "Adagrad", table() + [0.1, f32(1, 3), i32([4])], name="index_past_the_end", error="INVALID_ARGUMENT", text="Index 4 at offset 0 in indices is out of range")
    case(form + "Adagrad", table() + [0.1, f32(2, 3), i64([0, -1])], name="negative_index", error="INVALID_ARGUMENT", text="Index -1 at offset 1 in indices is out of range")
    case(form + "Adagrad", table() + [0.1, f32(1, 2), i32([1])], name="other_width", error="INVALID_ARGUMENT", text="var and grad must match in dimension 1")
    case(form + "Adagrad", table() + [0.1, f32(2, 3), i32([1])], name="more_rows_than_indices", error="INVALID_ARGUMENT", text="grad must be the same size as indices in the first dimension")
    case(form + "Adagrad", table() + [0.1, f32(1, 3), i32([[1]])], name="indices_are_no_vector", error="INVALID_ARGUMENT", text="indices must be one-dimensional")
