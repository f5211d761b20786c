"""Queues and conditional accumulators, where no op waits for another step."""
from cases import case, f16, f32, f64, i32, i64, node, strs

FLOAT = dict(component_types=["float"], shapes=[[2]])
PAIR = dict(component_types=["float", "string"], shapes=[[], []])


def filled(kind, rows, version="V2", **attrs):
    """A queue and the step that fills it."""
    queue = node(kind + version, **attrs)
    return queue, node("QueueEnqueueMany" + version, queue, rows)


for version in ("", "V2"):
    # FIFOQueue
    queue, fill = filled("FIFOQueue", [f32(3, 2)], version, **FLOAT)
    case("QueueDequeue" + version, [queue], component_types=["float"], setup=[fill], runs=3, name="in_order", after=[node("QueueSize" + version, queue)])
    queue, fill = filled("FIFOQueue", [f32(4), strs("a", "b", "c", "d")], version, **PAIR)
    case("QueueDequeueMany" + version, [queue, 3], component_types=["float", "string"], setup=[fill], name="pairs", after=[node("QueueSize" + version, queue)])
    case("QueueDequeueMany" + version, [queue, 0], component_types=["float", "string"], setup=[fill], name="none")
    case("QueueDequeueMany" + version, [queue, -1], component_types=["float", "string"], setup=[fill], name="negative", error="INVALID_ARGUMENT", text="requested -1 < 0 elements")
    close = node("QueueClose" + version, queue)
    case("QueueDequeueUpTo" + version, [queue, 9], component_types=["float", "string"], setup=[fill, close], name="what_is_left")
    case("QueueDequeueMany" + version, [queue, 9], component_types=["float", "string"], setup=[fill, close], name="too_few", error="OUT_OF_RANGE",
         text="is closed and has insufficient elements (requested 9, current size 4)")
    queue = node("FIFOQueue" + version, capacity=2, **FLOAT)
    close = node("QueueClose" + version, queue)
    case("QueueEnqueue" + version, [queue, [f32(2)]], name="one", after=[node("QueueSize" + version, queue), node("QueueDequeue" + version, queue, component_types=["float"])])
    case("QueueEnqueue" + version, [queue, [f32(3)]], name="other_shape", error="INVALID_ARGUMENT", text="Shape mismatch in tuple component 0. Expected [2], got [3]")
    case("QueueEnqueue" + version, [queue, [i32(2)]], name="other_type", error="INVALID_ARGUMENT")
    case("QueueEnqueue" + version, [queue, [f32(2), f32(2)]], name="more_components", error="INVALID_ARGUMENT")
    case("QueueEnqueue" + version, [queue, [f32(2)]], setup=[close], name="closed", error="CANCELLED", text="is closed.")
    case("QueueEnqueueMany" + version, [queue, [f32(2, 2)]], name="two", after=[node("QueueSize" + version, queue), node("QueueDequeueMany" + version, queue, 2, component_types=["float"])])
    case("QueueEnqueueMany" + version, [queue, [f32(0, 2)]], name="none", after=[node("QueueSize" + version, queue)])
    case("QueueEnqueueMany" + version, [queue, [f32(2, 3)]], name="other_shape", error="INVALID_ARGUMENT", text="Shape mismatch in tuple component 0. Expected [2,2], got [2,3]")
    case("QueueDequeue" + version, [queue], component_types=["int32"], name="other_type", error="INVALID_ARGUMENT")
    case("QueueDequeue" + version, [queue], component_types=["float"], setup=[close], name="closed", error="OUT_OF_RANGE",
         text="is closed and has insufficient elements (requested 1, current size 0)")
    case("QueueClose" + version, [queue], name="plain", after=[node("QueueIsClosed" + version, queue)])
    case("QueueClose" + version, [queue], setup=[close], name="twice", error="CANCELLED", text="is already closed.")
    case("QueueClose" + version, [queue], setup=[close], name="twice_with_cancel", cancel_pending_enqueues=True, after=[node("QueueIsClosed" + version, queue)])
    case("QueueIsClosed" + version, [queue], name="open")
    case("QueueSize" + version, [queue], name="empty")
    queue = node("FIFOQueue" + version, component_types=["float", "int64"])
    case("QueueEnqueueMany" + version, [queue, [f32(2), i64(3)]], name="rows_differ", error="INVALID_ARGUMENT", text="All input tensors must have the same size in the 0th dimension")
    case("QueueDequeueMany" + version, [queue, 1], component_types=["float", "int64"], name="without_shapes", error="INVALID_ARGUMENT",
         text="FIFOQueue's DequeueMany and DequeueUpTo require the components to have specified shapes.")
    case("QueueEnqueue" + version, [queue, [f32(2, 3), i64()]], name="any_shape", after=[node("QueueDequeue" + version, queue, component_types=["float", "int64"])])

    # RandomShuffleQueue
    queue, fill = filled("RandomShuffleQueue", [i32([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])], version, component_types=["int32"], shapes=[[]], seed=3, seed2=7)
    case("QueueDequeue" + version, [queue], component_types=["int32"], setup=[fill], runs=7, name="shuffled", after=[node("QueueDequeueMany" + version, queue, 3, component_types=["int32"])])

    # PaddingFIFOQueue
    queue = node("PaddingFIFOQueue" + version, component_types=["int32", "string"], shapes=[[None], [None, 2]])
    fill = [node("QueueEnqueue" + version, queue, [i32(n), strs(*"abcdef"[:2 * (3 - n)], shape=(3 - n, 2))]) for n in (1, 3, 0)]
    case("QueueDequeueMany" + version, [queue, 3], component_types=["int32", "string"], setup=fill, name="padded")
    case("QueueDequeue" + version, [queue], component_types=["int32", "string"], setup=fill, name="one_is_not_padded")
    case("QueueDequeueMany" + version, [queue, 0], component_types=["int32", "string"], name="padded_none")
    case("QueueEnqueue" + version, [queue, [i32(1, 2), strs("a", "b", shape=(1, 2))]], name="other_rank", error="INVALID_ARGUMENT", text="Shape mismatch in tuple component 0. Expected [?], got [1,2]")

    # PriorityQueue
    queue, fill = filled("PriorityQueue", [i64([5, 1, 3, -2]), strs("five", "one", "three", "minus two")], version, component_types=["string"], shapes=[[]])
    case("QueueDequeue" + version, [queue], component_types=["int64", "string"], setup=[fill], runs=2, name="by_priority",
         after=[node("QueueDequeueMany" + version, queue, 2, component_types=["int64", "string"])[1]])
    case("QueueEnqueue" + version, [queue, [i64([1]), strs("a").reshape(())]], name="priority_is_no_scalar", error="INVALID_ARGUMENT", text="Shape mismatch in tuple component 0. Expected [], got [1]")

for kind, attrs, text in (("FIFOQueue", dict(shapes=[[2], [2]]), None), ("FIFOQueue", dict(shapes=[[None]]), "is not fully defined"), ("PaddingFIFOQueue", dict(shapes=[]), None),
                          ("FIFOQueue", dict(shared_name="_q"), "shared_name cannot start with '_'"), ("RandomShuffleQueue", dict(capacity=2, min_after_dequeue=2), "must be < capacity"),
                          ("RandomShuffleQueue", dict(min_after_dequeue=-1), "must be >= 0")):
    case(kind + "V2", [], component_types=["float"], name="refused", error="INVALID_ARGUMENT", text=text, **attrs)
shared = dict(component_types=["float"], shapes=[[2]], capacity=5, shared_name="shared")
for name, kind, change, text in (("capacity", "FIFOQueue", dict(capacity=7), "Shared queue 'shared' has capacity 5 but requested capacity was 7"),
                                 ("types", "FIFOQueue", dict(component_types=["int32"]), "has component types float but requested component types were int32"),
                                 ("shapes", "FIFOQueue", dict(shapes=[[3]]), "has component shapes"), ("kind", "RandomShuffleQueue", {}, None)):
    first = node("FIFOQueueV2", **shared)
    case(kind + "V2", [], name="shared_with_other_" + name, setup=[node("QueueSizeV2", first)], error="INVALID_ARGUMENT", text=text, **{**shared, **change})

# Accumulators
for prefix in ("", "Resource"):
    for name, make in dict(float=f32, double=f64, half=f16).items():  # TensorFlow has no kernel for bfloat16
        for reduction in ("MEAN", "SUM"):
            acc = node(prefix + "ConditionalAccumulator", dtype=name, shape=[2], reduction_type=reduction)
            add = [node(prefix + "AccumulatorApplyGradient", acc, i64([0]).reshape(()), make(2)) for _ in range(3)]
            case(prefix + "AccumulatorTakeGradient", [acc, 2], dtype=name, setup=add, name=name + "_" + reduction.lower(), after=[node(prefix + "AccumulatorNumAccumulated", acc)])
    acc = node(prefix + "ConditionalAccumulator", dtype="float", shape=[2])
    count = node(prefix + "AccumulatorNumAccumulated", acc)
    step = lambda n: node(prefix + "AccumulatorSetGlobalStep", acc, i64([n]).reshape(()))
    case(prefix + "AccumulatorApplyGradient", [acc, i64([4]).reshape(()), f32(2)], setup=[step(5)], name="late", after=[count])
    case(prefix + "AccumulatorApplyGradient", [acc, i64([5]).reshape(()), f32(2)], setup=[step(5)], name="in_time", after=[count])
    case(prefix + "AccumulatorApplyGradient", [acc, i64([4]).reshape(()), f32(2)], setup=[step(5), step(3)], name="step_set_back", after=[count])
    case(prefix + "AccumulatorApplyGradient", [acc, i64([4]).reshape(()), f32(3)], name="other_shape", error="INVALID_ARGUMENT", text="Shape mismatch: expected [2], got [3]")
    case(prefix + "AccumulatorTakeGradient", [acc, 0], dtype="float", name="none_required", error="INVALID_ARGUMENT", text="Argument num_required must be positive, but was 0")
    add = node(prefix + "AccumulatorApplyGradient", acc, i64([0]).reshape(()), f32(2))
    case(prefix + "AccumulatorTakeGradient", [acc, 1], dtype="float", setup=[add], name="one",
         after=[count])

for reduction in ("MEAN", "SUM"):
    for name, make in dict(float=f32, double=f64).items():
        acc = node("SparseConditionalAccumulator", dtype=name, shape=[5, 2], reduction_type=reduction)
        add = [node("SparseAccumulatorApplyGradient", acc, i64([0]).reshape(()), i64(list(rows)), make(len(rows), 2), i64([]), has_known_shape=False)
               for rows in ((0, 2), (2, 3, 4), (1,))]
        case("SparseAccumulatorTakeGradient", [acc, 2], dtype=name, setup=add, name="%s_%s" % (name, reduction.lower()))
acc = node("SparseConditionalAccumulator", dtype="float", shape=None)
zero = i64([0]).reshape(())
add = node("SparseAccumulatorApplyGradient", acc, zero, i64([3, 0, 3]), f32(3, 2), i64([7, 2]), has_known_shape=True)
case("SparseAccumulatorTakeGradient", [acc, 1], dtype="float", setup=[add], name="one_gradient_as_it_came")
acc = node("SparseConditionalAccumulator", dtype="float", shape=[4, 2])
refuse = dict(error="INVALID_ARGUMENT")
case("SparseAccumulatorApplyGradient", [acc, zero, i64([1]), f32(1, 3), i64([])], has_known_shape=False, name="other_width", text="Shape mismatch: expected values dim 1 to be 2, got 3", **refuse)
case("SparseAccumulatorApplyGradient", [acc, zero, i64([1]), f32(2, 2), i64([])], has_known_shape=False, name="more_rows", text="Expected 1 non-empty input values, got 2", **refuse)
case("SparseAccumulatorApplyGradient", [acc, zero, i64([4]), f32(1, 2), i64([])], has_known_shape=False, name="index_past_the_end", text="index is 4 exceeded 4", **refuse)
case("SparseAccumulatorApplyGradient", [acc, zero, i64([1]), f32(1, 2), i64([5, 2])], has_known_shape=True, name="other_shape", text="Shape mismatch: expected shape dim 0 to be 4, got 5", **refuse)
case("SparseAccumulatorApplyGradient", [acc, zero, i64([[1]]), f32(1, 2), i64([])], has_known_shape=False, name="indices_are_no_vector", text="Input indices should be vector", **refuse)
case("SparseAccumulatorApplyGradient", [acc, zero, i64([1]), f32(), i64([])], has_known_shape=False, name="scalar_values", text="Values cannot be 0-dimensional.", **refuse)
