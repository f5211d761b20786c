// ScatterNd, TensorScatterUpdate, -Add, -Sub: slices put into a tensor that is no variable.
#include <string>
#include <type_traits>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/nd_index.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

enum class Combine { kUpdate, kAdd, kSub };

template <Combine combine, typename T>
void CombineSlice(const T* from, int64_t count, T* to) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (combine == Combine::kUpdate) {
      to[i] = from[i];
    } else if constexpr (std::is_same_v<T, bool>) {
      to[i] = combine == Combine::kAdd ? to[i] || from[i] : to[i] && !from[i];
    } else if constexpr (combine == Combine::kAdd) {
      to[i] += from[i];
    } else if constexpr (!std::is_same_v<T, std::string>) {
      to[i] -= from[i];
    }
  }
}

template <Combine combine, typename T>
void CombineSlices(const NdIndex& index, const Tensor& updates, Tensor* output) {
  const T* from = updates.data<T>();
  T* to = output->mutable_data<T>();
  index.ForEachSlice([&](int64_t offset) {
    if (offset >= 0) CombineSlice<combine>(from, index.slice_size, to + offset);
    from += index.slice_size;
  });
}

template <Combine combine>
Status CombineByType(const NdIndex& index, const Tensor& updates, Tensor* output) {
  switch (output->dtype()) {
#define TANDEM_CASE(Type) \
  case DataTypeOf<Type>::value: CombineSlices<combine, Type>(index, updates, output); return OkStatus();
    TANDEM_CASE(float)
    TANDEM_CASE(double)
    TANDEM_CASE(Half)
    TANDEM_CASE(BFloat16)
    TANDEM_CASE(int8_t)
    TANDEM_CASE(int16_t)
    TANDEM_CASE(int32_t)
    TANDEM_CASE(int64_t)
    TANDEM_CASE(uint8_t)
    TANDEM_CASE(uint16_t)
    TANDEM_CASE(uint32_t)
    TANDEM_CASE(uint64_t)
    TANDEM_CASE(std::complex<float>)
    TANDEM_CASE(std::complex<double>)
    TANDEM_CASE(bool)
#undef TANDEM_CASE
    case kString:
      if constexpr (combine == Combine::kAdd) {
        CombineSlices<combine, std::string>(index, updates, output);
        return OkStatus();
      }
      break;
    default: break;
  }
  return Unimplemented("elements of type ", DataTypeName(output->dtype()), " cannot be added up");
}

Status Apply(Combine combine, const NdIndex& index, const Tensor& updates, Tensor* output) {
  if (combine == Combine::kAdd) return CombineByType<Combine::kAdd>(index, updates, output);
  if (combine == Combine::kSub) return CombineByType<Combine::kSub>(index, updates, output);
  return WithElement(output->dtype(), [&]<typename E>() {
    const E* from = ElementsOf<E>(updates);
    E* to = MutableElementsOf<E>(output);
    index.ForEachSlice([&](int64_t offset) {
      if (offset >= 0) CopyElements(from, index.slice_size, to + offset);
      from += index.slice_size;
    });
    return OkStatus();
  });
}

// The updates must be one slice per index.
StatusOr<NdIndex> ReadAndCheck(const Tensor& indices, const Tensor& updates, const Shape& output, bool ignores_bad) {
  int outer_rank = std::max(indices.shape().rank() - 1, 0);
  if (indices.shape().rank() < 1) return InvalidArgument("Indices shape must have rank at least one. Found:", indices.shape().ToString());
  for (int i = 0; i < outer_rank; ++i) {
    if (updates.shape().rank() < outer_rank || updates.shape().dim(i) != indices.shape().dim(i)) {
      return InvalidArgument("Dimensions [0,", outer_rank, ") of indices[shape=", indices.shape().ToString(), "] must match dimensions [0,", outer_rank,
                             ") of updates[shape=", updates.shape().ToString(), "]");
    }
  }
  int64_t depth = indices.shape().dim(outer_rank);
  Shape slice = depth <= output.rank() ? Shape(output.dims().subspan(depth)) : Shape();
  if (depth > output.rank() || Shape(updates.shape().dims().subspan(outer_rank)) != slice) {
    return InvalidArgument("Dimensions [", depth, ",", output.rank(), ") of input[shape=", output.ToString(), "] must match dimensions [", outer_rank, ",",
                           updates.shape().rank(), ") of updates[shape=", updates.shape().ToString(), "]");
  }
  if (output.num_elements() == 0 && updates.num_elements() > 0) {
    return InvalidArgument("Indices and updates specified for empty output.  indices shape: ", indices.shape().ToString());
  }
  ASSIGN_OR_RETURN(NdIndex index, ReadNdIndex(indices, output));
  if (!ignores_bad) RETURN_IF_ERROR(CheckNdIndex(index, indices, output, "shape"));
  return index;
}

struct BadIndicesPolicy {
  explicit BadIndicesPolicy(const Attrs& attrs) {
    std::string policy = attrs.GetString("bad_indices_policy");
    ignores_bad = policy == "IGNORE";
    if (!ignores_bad && !policy.empty() && policy != "DEFAULT" && policy != "ERROR") {
      attrs.Fail(InvalidArgument("Unknown bad indices handling attribute: ", policy));
    }
  }
  bool ignores_bad;
};

struct ScatterNd : BadIndicesPolicy {
  using BadIndicesPolicy::BadIndicesPolicy;

  Status Run(KernelContext& ctx) const {
    if (ctx.input(2).shape().rank() != 1) return InvalidArgument("Shape must be a vector");
    ASSIGN_OR_RETURN(Integers sizes, ReadIntegers(ctx.input(2)));
    ASSIGN_OR_RETURN(Shape shape, Shape::Checked(sizes));
    ASSIGN_OR_RETURN(NdIndex index, ReadAndCheck(ctx.input(0), ctx.input(1), shape, ignores_bad));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    SetToZero(output);
    return Apply(Combine::kAdd, index, ctx.input(1), output);
  }
};

Status ScatterNdShape(ShapeContext& ctx) {
  ctx.set_output(0, ctx.ConstantAsShape(2));
  return OkStatus();
}

Status ScatterNdGradient(GradientScope& g) { return g.Return({Output(), g.Op("GatherNd", {g.grad(0), g.input(0)}), Output()}); }

template <Combine combine>
struct TensorScatter : BadIndicesPolicy {
  using BadIndicesPolicy::BadIndicesPolicy;

  Status Run(KernelContext& ctx) const {
    const Tensor &indices = ctx.input(1), &updates = ctx.input(2);
    ASSIGN_OR_RETURN(NdIndex index, ReadAndCheck(indices, updates, ctx.input(0).shape(), ignores_bad));
    Tensor output = ctx.TakeInput(0);
    if (!output.is_unique()) output = output.Clone();
    RETURN_IF_ERROR(Apply(combine, index, updates, &output));
    ctx.set_output(0, std::move(output));
    return OkStatus();
  }
};

Status TensorScatterUpdateGradient(GradientScope& g) {
  Output zeros = g.Op("ZerosLike", {g.input(2)});
  return g.Return({g.Op("TensorScatterUpdate", {g.grad(0), g.input(1), zeros}), Output(), g.Op("GatherNd", {g.grad(0), g.input(1)})});
}
Status TensorScatterAddGradient(GradientScope& g) { return g.Return({g.grad(0), Output(), g.Op("GatherNd", {g.grad(0), g.input(1)})}); }
Status TensorScatterSubGradient(GradientScope& g) { return g.Return({g.grad(0), Output(), g.Neg(g.Op("GatherNd", {g.grad(0), g.input(1)}))}); }

DEFINE_OP("ScatterNd")
    .Input("indices: Tindices")
    .Input("updates: T")
    .Input("shape: Tindices")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tindices: {int16, int32, int64}")
    .Attr("bad_indices_policy: string = ''")
    .Shape(ScatterNdShape)
    .Cpu(AnyType<ScatterNd>())
    .Gradient(ScatterNdGradient);

DEFINE_OP("ScatterNdNonAliasingAdd")
    .Input("input: T")
    .Input("indices: Tindices")
    .Input("updates: T")
    .Output("output: T")
    .Attr("T: NUM + {bool}")
    .Attr("Tindices: IDX")
    .Attr("bad_indices_policy: string = ''")
    .Shape(SameAsInput0)
    .Cpu(AnyType<TensorScatter<Combine::kAdd>>())
    .Gradient(TensorScatterAddGradient);

DEFINE_OP("TensorScatterUpdate")
    .Input("tensor: T")
    .Input("indices: Tindices")
    .Input("updates: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tindices: {int16, int32, int64, uint16}")
    .Attr("bad_indices_policy: string = ''")
    .Shape(SameAsInput0)
    .Cpu(AnyType<TensorScatter<Combine::kUpdate>>())
    .Gradient(TensorScatterUpdateGradient);

DEFINE_OP("TensorScatterAdd")
    .Input("tensor: T")
    .Input("indices: Tindices")
    .Input("updates: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tindices: IDX")
    .Attr("bad_indices_policy: string = ''")
    .Shape(SameAsInput0)
    .Cpu(AnyType<TensorScatter<Combine::kAdd>>())
    .Gradient(TensorScatterAddGradient);

DEFINE_OP("TensorScatterSub")
    .Input("tensor: T")
    .Input("indices: Tindices")
    .Input("updates: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tindices: IDX")
    .Attr("bad_indices_policy: string = ''")
    .Shape(SameAsInput0)
    .Cpu(AnyType<TensorScatter<Combine::kSub>>())
    .Gradient(TensorScatterSubGradient);

}  // namespace
}  // namespace tandem
