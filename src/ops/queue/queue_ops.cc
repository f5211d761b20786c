// The ops on queues; what they mean is in queue.h. V2 ops name a queue by handle, the others by reference.
#include <memory>
#include <string>
#include <utility>

#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/queue/queue.h"
#include "ops/queue/resource_op.h"

namespace tandem {
namespace {

constexpr char kQueueTypeName[] = "N10tensorflow14QueueInterfaceE";  // in TensorFlow's handles

StatusOr<QueueSpec> SpecFromAttrs(const Attrs& attrs) {
  QueueSpec spec;
  spec.kind = attrs.op();
  if (spec.kind.ends_with("V2")) spec.kind.resize(spec.kind.size() - 2);
  spec.types = attrs.GetTypes("component_types");
  spec.shapes = attrs.GetShapes("shapes");
  spec.capacity = attrs.GetInt("capacity") < 0 ? -1 : attrs.GetInt("capacity");
  if (spec.kind == "PriorityQueue") {
    if (spec.shapes.size() != spec.types.size()) {
      return InvalidArgument("Shapes must be provided for all components, but received ", spec.types.size(), " dtypes and ", spec.shapes.size(), " shapes.");
    }
    spec.types.insert(spec.types.begin(), kInt64);
    spec.shapes.insert(spec.shapes.begin(), PartialShape::Scalar());
  }
  const bool is_padding = spec.kind == "PaddingFIFOQueue";
  if (spec.shapes.size() != spec.types.size() && (is_padding || !spec.shapes.empty())) {
    return InvalidArgument("Shapes must be provided for all components, but received ", spec.types.size(), " dtypes and ", spec.shapes.size(), " shapes.");
  }
  for (const PartialShape& shape : spec.shapes) {
    if (is_padding && !shape.has_rank()) return InvalidArgument("shape ", shape.ToString(), " must have known rank.");
    if (!is_padding && !shape.is_fully_known()) return InvalidArgument("Shape ", shape.ToString(), " is not fully defined");
  }
  if (spec.kind == "RandomShuffleQueue") {
    spec.min_after_dequeue = attrs.GetInt("min_after_dequeue");
    spec.seed = attrs.GetInt("seed");
    spec.seed2 = attrs.GetInt("seed2");
    if (spec.min_after_dequeue < 0) return InvalidArgument("min_after_dequeue ", spec.min_after_dequeue, " must be >= 0");
    if (spec.capacity >= 0 && spec.min_after_dequeue >= spec.capacity) {
      return InvalidArgument("min_after_dequeue ", spec.min_after_dequeue, " must be < capacity ", spec.capacity);
    }
  }
  return spec;
}

struct QueueOp {
  explicit QueueOp(const Attrs& attrs) : owner(attrs, kQueueTypeName) {
    StatusOr<QueueSpec> from_attrs = SpecFromAttrs(attrs);
    if (from_attrs.ok()) {
      spec = *std::move(from_attrs);
    } else {
      attrs.Fail(from_attrs.status());
    }
  }

  Status Run(KernelContext& ctx) {
    return owner.Output(
        ctx, [this](const std::string& name) { return std::make_shared<Queue>(name, spec); }, [this](const Queue& queue) { return queue.CheckSame(spec); });
  }

  QueueSpec spec;
  ResourceOwner<Queue> owner;
};

// A reference handle is a vector of container and name, a resource handle a scalar.
Status HandleShape(ShapeContext& ctx) {
  ctx.set_output(0, ctx.attrs().output_types()[0] == kResource ? PartialShape::Scalar() : PartialShape({2}));
  return OkStatus();
}

#define DEFINE_QUEUE(Name, handle)                        \
  DEFINE_OP(Name)                                         \
      .Output("handle: " handle)                          \
      .Attr("component_types: list(type) >= 1")           \
      .Attr("shapes: list(shape) >= 0 = []")              \
      .Attr("capacity: int = -1")                         \
      .Attr("container: string = ''")                     \
      .Attr("shared_name: string = ''")                   \
      .Stateful()                                         \
      .Shape(HandleShape)                                 \
      .Cpu(AnyType<QueueOp>())

DEFINE_QUEUE("FIFOQueue", "Ref(string)");
DEFINE_QUEUE("FIFOQueueV2", "resource");
DEFINE_QUEUE("PaddingFIFOQueue", "Ref(string)");
DEFINE_QUEUE("PaddingFIFOQueueV2", "resource");

#define DEFINE_SHUFFLE_QUEUE(Name, handle)                \
  DEFINE_OP(Name)                                         \
      .Output("handle: " handle)                          \
      .Attr("component_types: list(type) >= 1")           \
      .Attr("shapes: list(shape) >= 0 = []")              \
      .Attr("capacity: int = -1")                         \
      .Attr("min_after_dequeue: int = 0")                 \
      .Attr("seed: int = 0")                              \
      .Attr("seed2: int = 0")                             \
      .Attr("container: string = ''")                     \
      .Attr("shared_name: string = ''")                   \
      .Stateful()                                         \
      .Shape(HandleShape)                                 \
      .Cpu(AnyType<QueueOp>())

DEFINE_SHUFFLE_QUEUE("RandomShuffleQueue", "Ref(string)");
DEFINE_SHUFFLE_QUEUE("RandomShuffleQueueV2", "resource");

#define DEFINE_PRIORITY_QUEUE(Name, handle)               \
  DEFINE_OP(Name)                                         \
      .Output("handle: " handle)                          \
      .Attr("component_types: list(type) >= 0 = []")      \
      .Attr("shapes: list(shape) >= 0")                   \
      .Attr("capacity: int = -1")                         \
      .Attr("container: string = ''")                     \
      .Attr("shared_name: string = ''")                   \
      .Stateful()                                         \
      .Shape(HandleShape)                                 \
      .Cpu(AnyType<QueueOp>())

DEFINE_PRIORITY_QUEUE("PriorityQueue", "Ref(string)");
DEFINE_PRIORITY_QUEUE("PriorityQueueV2", "resource");

// Base of the ops that may wait.
class WaitingQueueOp : public AsyncKernel {
 public:
  explicit WaitingQueueOp(const Attrs& attrs) {
    if (attrs.Has("timeout_ms") && attrs.GetInt("timeout_ms") != -1) attrs.Fail(InvalidArgument("Timeout not supported yet."));
  }

  void Start(KernelContext& ctx, Done done) final {
    StatusOr<std::shared_ptr<Queue>> queue = ResourceOrRefInput<Queue>(ctx, 0);
    if (!queue.ok()) return done(queue.status());
    Start(ctx, **queue, std::move(done));
  }

 protected:
  virtual void Start(KernelContext& ctx, Queue& queue, Done done) = 0;
};

template <void (Queue::*Put)(Tuple, Cancellation*, Queue::Done)>
class EnqueueOp : public WaitingQueueOp {
 public:
  using WaitingQueueOp::WaitingQueueOp;

 protected:
  void Start(KernelContext& ctx, Queue& queue, Done done) override {
    Tuple components;
    for (int i = 1; i < ctx.num_inputs(); ++i) components.push_back(ctx.TakeInput(i));
    (queue.*Put)(std::move(components), &ctx.cancellation(), std::move(done));
  }
};

// Checks that the queue gives what the node's outputs are, and sets them.
Status CheckOutputs(const KernelContext& ctx, const Queue& queue) {
  const std::vector<DataType>& types = queue.spec().types;
  bool fits = ctx.num_outputs() == static_cast<int>(types.size());
  for (int i = 0; fits && i < ctx.num_outputs(); ++i) fits = ctx.output_type(i) == types[i];
  if (fits) return OkStatus();
  return InvalidArgument("Signature mismatch: the outputs of the node are not the components of ", queue.spec().kind, " '", queue.name(), "'");
}

Queue::TupleDone SetOutputs(KernelContext& ctx, AsyncKernel::Done done) {
  return [&ctx, done = std::move(done)](const Status& status, Tuple components) {
    for (size_t i = 0; i < components.size(); ++i) ctx.set_output(static_cast<int>(i), std::move(components[i]));
    done(status);
  };
}

class DequeueOp : public WaitingQueueOp {
 public:
  using WaitingQueueOp::WaitingQueueOp;

 protected:
  void Start(KernelContext& ctx, Queue& queue, Done done) override {
    if (Status status = CheckOutputs(ctx, queue); !status.ok()) return done(status);
    queue.Dequeue(&ctx.cancellation(), SetOutputs(ctx, std::move(done)));
  }
};

template <bool kAllowsFewer>
class DequeueManyOp : public WaitingQueueOp {
 public:
  using WaitingQueueOp::WaitingQueueOp;

 protected:
  void Start(KernelContext& ctx, Queue& queue, Done done) override {
    if (Status status = CheckOutputs(ctx, queue); !status.ok()) return done(status);
    const Tensor& count = ctx.input(1);
    if (!count.shape().is_scalar()) return done(InvalidArgument("n must be a scalar, got shape ", count.shape().ToString()));
    queue.DequeueMany(count.scalar<int32_t>(), kAllowsFewer, &ctx.cancellation(), SetOutputs(ctx, std::move(done)));
  }
};

class CloseOp : public WaitingQueueOp {
 public:
  explicit CloseOp(const Attrs& attrs) : WaitingQueueOp(attrs), cancels_pending_(attrs.GetBool("cancel_pending_enqueues")) {}

 protected:
  void Start(KernelContext& ctx, Queue& queue, Done done) override { queue.Close(cancels_pending_, &ctx.cancellation(), std::move(done)); }

 private:
  const bool cancels_pending_;
};

struct SizeOp {
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(std::shared_ptr<Queue> queue, ResourceOrRefInput<Queue>(ctx, 0));
    ASSIGN_OR_RETURN(Tensor* size, ctx.Allocate(0, Shape()));
    *size->mutable_data<int32_t>() = static_cast<int32_t>(queue->size());
    return OkStatus();
  }
};

struct IsClosedOp {
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(std::shared_ptr<Queue> queue, ResourceOrRefInput<Queue>(ctx, 0));
    ASSIGN_OR_RETURN(Tensor* is_closed, ctx.Allocate(0, Shape()));
    *is_closed->mutable_data<bool>() = queue->is_closed();
    return OkStatus();
  }
};

using Enqueue = EnqueueOp<&Queue::Enqueue>;
using EnqueueMany = EnqueueOp<&Queue::EnqueueMany>;
using DequeueMany = DequeueManyOp<false>;
using DequeueUpTo = DequeueManyOp<true>;

#define DEFINE_ENQUEUE(Name, Kernel)                                                                                            \
  DEFINE_OP(Name).Input("handle: Ref(string)").Input("components: Tcomponents").Attr("Tcomponents: list(type) >= 1")            \
      .Attr("timeout_ms: int = -1").Shape(NoOutputs).Cpu(AnyType<Kernel>()).NoGradient();                                       \
  DEFINE_OP(Name "V2").Input("handle: resource").Input("components: Tcomponents").Attr("Tcomponents: list(type) >= 1")          \
      .Attr("timeout_ms: int = -1").Stateful().Shape(NoOutputs).Cpu(AnyType<Kernel>()).NoGradient()

DEFINE_ENQUEUE("QueueEnqueue", Enqueue);
DEFINE_ENQUEUE("QueueEnqueueMany", EnqueueMany);

DEFINE_OP("QueueDequeue")
    .Input("handle: Ref(string)")
    .Output("components: component_types")
    .Attr("component_types: list(type) >= 1")
    .Attr("timeout_ms: int = -1")
    .Shape(UnknownShapes)
    .Cpu(AnyType<DequeueOp>())
    .NoGradient();

DEFINE_OP("QueueDequeueV2")
    .Input("handle: resource")
    .Output("components: component_types")
    .Attr("component_types: list(type) >= 1")
    .Attr("timeout_ms: int = -1")
    .Stateful()
    .Shape(UnknownShapes)
    .Cpu(AnyType<DequeueOp>())
    .NoGradient();

#define DEFINE_DEQUEUE_MANY(Name, Kernel)                                                                                       \
  DEFINE_OP(Name).Input("handle: Ref(string)").Input("n: int32").Output("components: component_types")                          \
      .Attr("component_types: list(type) >= 1").Attr("timeout_ms: int = -1").Shape(UnknownShapes).Cpu(AnyType<Kernel>())        \
      .NoGradient();                                                                                                            \
  DEFINE_OP(Name "V2").Input("handle: resource").Input("n: int32").Output("components: component_types")                        \
      .Attr("component_types: list(type) >= 1").Attr("timeout_ms: int = -1").Stateful().Shape(UnknownShapes)                    \
      .Cpu(AnyType<Kernel>()).NoGradient()

DEFINE_DEQUEUE_MANY("QueueDequeueMany", DequeueMany);
DEFINE_DEQUEUE_MANY("QueueDequeueUpTo", DequeueUpTo);

DEFINE_OP("QueueClose")
    .Input("handle: Ref(string)")
    .Attr("cancel_pending_enqueues: bool = false")
    .Shape(NoOutputs)
    .Cpu(AnyType<CloseOp>())
    .NoGradient();

DEFINE_OP("QueueCloseV2")
    .Input("handle: resource")
    .Attr("cancel_pending_enqueues: bool = false")
    .Stateful()
    .Shape(NoOutputs)
    .Cpu(AnyType<CloseOp>())
    .NoGradient();

DEFINE_OP("QueueSize").Input("handle: Ref(string)").Output("size: int32").Shape(ScalarOutputs).Cpu(AnyType<SizeOp>()).NoGradient();
DEFINE_OP("QueueSizeV2").Input("handle: resource").Output("size: int32").Stateful().Shape(ScalarOutputs).Cpu(AnyType<SizeOp>()).NoGradient();
DEFINE_OP("QueueIsClosed").Input("handle: Ref(string)").Output("is_closed: bool").Shape(ScalarOutputs).Cpu(AnyType<IsClosedOp>()).NoGradient();
DEFINE_OP("QueueIsClosedV2").Input("handle: resource").Output("is_closed: bool").Stateful().Shape(ScalarOutputs).Cpu(AnyType<IsClosedOp>()).NoGradient();

}  // namespace
}  // namespace tandem
