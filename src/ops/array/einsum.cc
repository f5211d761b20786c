// Einsum of one or two tensors. Each input is brought into the form [batch, free, summed] by one strided copy; what is left is a
// matrix product for each entry of the batch.
#include <Eigen/Core>
#include <algorithm>
#include <complex>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "graph/gradient.h"
#include "graph/node.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/einsum_equation.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

using Labels = std::vector<int>;
using Sizes = std::map<int, int64_t>;  // of each label

bool IsEllipsisLabel(int label) { return label > 256; }

// Only dimensions of an ellipsis may be 1 in one input and more in another.
Status NoteSizes(const Labels& labels, const Shape& shape, Sizes* sizes) {
  for (size_t i = 0; i < labels.size(); ++i) {
    int64_t size = shape.dim(static_cast<int>(i));
    auto [entry, is_new] = sizes->try_emplace(labels[i], size);
    if (is_new || entry->second == size) continue;
    if (IsEllipsisLabel(labels[i]) && (size == 1 || entry->second == 1)) {
      entry->second = std::max(entry->second == 1 ? size : entry->second, size == 1 ? entry->second : size);
      continue;
    }
    return InvalidArgument("Expected dimension ", entry->second, " at axis ", i, " of the input shaped ", shape.ToString(), " but got dimension ", size);
  }
  return OkStatus();
}

// How far an element moves for one step of each of `walked`; a label that occurs twice walks along the diagonal.
Strides StridesOf(const Labels& walked, const Labels& labels, const Shape& shape) {
  Strides strides(walked.size(), 0), row_major = RowMajorStrides(shape);
  for (size_t i = 0; i < walked.size(); ++i) {
    for (size_t k = 0; k < labels.size(); ++k) {
      if (labels[k] == walked[i] && (shape.dim(static_cast<int>(k)) != 1 || !IsEllipsisLabel(labels[k]))) strides[i] += row_major[k];
    }
  }
  return strides;
}

int64_t Product(const Labels& labels, const Sizes& sizes) {
  int64_t product = 1;
  for (int label : labels) product *= sizes.at(label);
  return product;
}

std::vector<int64_t> SizesOf(const Labels& labels, const Sizes& sizes) {
  std::vector<int64_t> result;
  for (int label : labels) result.push_back(sizes.at(label));
  return result;
}

// The labels of one input that are in `wanted` (or not in it), each once.
Labels Select(const Labels& labels, const std::set<int>& wanted, bool is_in) {
  Labels selected;
  for (int label : labels) {
    if ((wanted.count(label) > 0) == is_in && std::find(selected.begin(), selected.end(), label) == selected.end()) selected.push_back(label);
  }
  return selected;
}

// `tensor` as [labels of `order`…], copied so that they lie in this order.
StatusOr<Tensor> Arrange(const Tensor& tensor, const Labels& labels, const Labels& order, const Sizes& sizes) {
  std::vector<int64_t> walked = SizesOf(order, sizes);
  ASSIGN_OR_RETURN(Shape shape, Shape::Checked(walked));
  ASSIGN_OR_RETURN(Tensor arranged, Tensor::Allocate(tensor.dtype(), shape));
  if (shape.num_elements() == 0) return arranged;
  StridedCopy(walked, tensor, 0, StridesOf(order, labels, tensor.shape()), &arranged, 0, RowMajorStrides(shape));
  return arranged;
}

// Types that are multiplied in another one.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;
template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Sums the last `summed` elements of each row: [rows, summed] to [rows].
template <typename T>
void SumRows(const T* from, int64_t rows, int64_t summed, T* to) {
  for (int64_t r = 0; r < rows; ++r) {
    Wide<T> sum(0);
    for (int64_t i = 0; i < summed; ++i) sum += from[r * summed + i];
    to[r] = static_cast<T>(sum);
  }
}

// c[m, n] = Σ a[m, k] b[n, k].
template <typename T>
void MultiplyTransposed(const T* a, const T* b, int64_t m, int64_t n, int64_t k, T* c) {
  if constexpr (std::is_same_v<T, Wide<T>> && !std::is_integral_v<T>) {
    Eigen::Map<const Matrix<T>> left(a, m, k), right(b, n, k);
    Eigen::Map<Matrix<T>>(c, m, n).noalias() = left * right.transpose();
  } else {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        Wide<T> sum(0);
        for (int64_t s = 0; s < k; ++s) sum += static_cast<Wide<T>>(a[i * k + s]) * static_cast<Wide<T>>(b[j * k + s]);
        c[i * n + j] = static_cast<T>(sum);
      }
    }
  }
}

struct Einsum {
  explicit Einsum(const Attrs& attrs) {
    StatusOr<EinsumEquation> parsed = ParseEinsum(attrs.GetString("equation"), static_cast<int>(attrs.GetInt("N")));
    if (!parsed.ok()) {
      attrs.Fail(parsed.status());
    } else if (parsed->inputs.size() > 2) {
      attrs.Fail(InvalidArgument("Expected 1 or 2 inputs, got ", parsed->inputs.size()));
    } else {
      equation = *std::move(parsed);
    }
  }

  template <typename T>
  Status Run(KernelContext& ctx) const {
    std::vector<Labels> labels;
    Sizes sizes;
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      ASSIGN_OR_RETURN(Labels of_input, LabelDims(equation.inputs[i], ctx.input(i).shape().rank()));
      RETURN_IF_ERROR(NoteSizes(of_input, ctx.input(i).shape(), &sizes));
      labels.push_back(std::move(of_input));
    }
    Labels output = OutputLabels(sizes);
    std::set<int> kept(output.begin(), output.end());
    Labels order;  // of the dimensions of `result`
    Tensor result;
    if (ctx.num_inputs() == 1) {
      ASSIGN_OR_RETURN(result, Reduced<T>(ctx.input(0), labels[0], kept, sizes, &order));
    } else {
      ASSIGN_OR_RETURN(result, Contracted<T>(ctx, labels, kept, sizes, &order));
    }
    return SetOutput(ctx, result, order, output, sizes);
  }

  // The ellipsis stands for as many dimensions as the inputs' longest.
  Labels OutputLabels(const Sizes& sizes) const {
    Labels output;
    for (char label : equation.output) {
      if (label != EinsumEquation::kEllipsis) {
        output.push_back(static_cast<unsigned char>(label));
        continue;
      }
      for (auto entry = sizes.rbegin(); entry != sizes.rend(); ++entry) {
        if (IsEllipsisLabel(entry->first)) output.push_back(entry->first);
      }
    }
    return output;
  }

  // Sums over the labels that are not in `kept`.
  template <typename T>
  static StatusOr<Tensor> Reduced(const Tensor& input, const Labels& labels, const std::set<int>& kept, const Sizes& sizes, Labels* order) {
    *order = Select(labels, kept, true);
    Labels summed = Select(labels, kept, false), all = *order;
    all.insert(all.end(), summed.begin(), summed.end());
    ASSIGN_OR_RETURN(Tensor arranged, Arrange(input, labels, all, sizes));
    if (summed.empty()) return arranged;
    ASSIGN_OR_RETURN(Shape shape, Shape::Checked(SizesOf(*order, sizes)));
    ASSIGN_OR_RETURN(Tensor result, Tensor::Allocate(input.dtype(), shape));
    if (shape.num_elements() == 0) return result;
    SumRows(arranged.data<T>(), result.num_elements(), Product(summed, sizes), result.mutable_data<T>());
    return result;
  }

  template <typename T>
  static StatusOr<Tensor> Contracted(KernelContext& ctx, const std::vector<Labels>& labels, const std::set<int>& kept, const Sizes& sizes, Labels* order) {
    std::set<int> both;
    for (int label : labels[0]) {
      if (std::find(labels[1].begin(), labels[1].end(), label) != labels[1].end()) both.insert(label);
    }
    Labels shared = Select(labels[0], both, true);
    Labels batch = Select(shared, kept, true), contracted = Select(shared, kept, false), free[2];
    Tensor matrices[2];
    for (int i : {0, 1}) {
      // What only this input has and the output lacks is summed first.
      std::set<int> needed = kept;
      needed.insert(both.begin(), both.end());
      Labels left;
      ASSIGN_OR_RETURN(Tensor reduced, Reduced<T>(ctx.input(i), labels[i], needed, sizes, &left));
      free[i] = Select(left, both, false);
      Labels arranged = batch;
      arranged.insert(arranged.end(), free[i].begin(), free[i].end());
      arranged.insert(arranged.end(), contracted.begin(), contracted.end());
      ASSIGN_OR_RETURN(matrices[i], Arrange(reduced, left, arranged, sizes));
    }
    *order = batch;
    for (int i : {0, 1}) order->insert(order->end(), free[i].begin(), free[i].end());
    ASSIGN_OR_RETURN(Shape shape, Shape::Checked(SizesOf(*order, sizes)));
    ASSIGN_OR_RETURN(Tensor result, Tensor::Allocate(ctx.output_type(0), shape));
    if (shape.num_elements() == 0) return result;
    int64_t m = Product(free[0], sizes), n = Product(free[1], sizes), k = Product(contracted, sizes), products = Product(batch, sizes);
    for (int64_t b = 0; b < products; ++b) {
      MultiplyTransposed(matrices[0].data<T>() + b * m * k, matrices[1].data<T>() + b * n * k, m, n, k, result.mutable_data<T>() + b * m * n);
    }
    return result;
  }

  // Puts the dimensions into the output's order. A label that occurs twice there fills a diagonal; the rest is zero.
  static Status SetOutput(KernelContext& ctx, const Tensor& result, const Labels& order, const Labels& output_labels, const Sizes& sizes) {
    ASSIGN_OR_RETURN(Shape shape, Shape::Checked(SizesOf(output_labels, sizes)));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    if (shape.num_elements() == 0) return OkStatus();
    std::set<int> different(output_labels.begin(), output_labels.end());
    if (different.size() < output_labels.size()) SetToZero(output);
    StridedCopy(SizesOf(order, sizes), result, 0, RowMajorStrides(result.shape()), output, 0, StridesOf(order, output_labels, shape));
    return OkStatus();
  }

  EinsumEquation equation;
};

Status EinsumShape(ShapeContext& ctx) {
  ASSIGN_OR_RETURN(EinsumEquation equation, ParseEinsum(ctx.attrs().GetString("equation"), ctx.num_inputs()));
  Sizes sizes;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    const PartialShape& input = ctx.input(i);
    if (!input.has_rank()) return OkStatus();
    ASSIGN_OR_RETURN(Labels labels, LabelDims(equation.inputs[i], input.rank()));
    for (int k = 0; k < input.rank(); ++k) {
      int64_t& size = sizes.try_emplace(labels[k], kUnknownSize).first->second;
      // A 1 in an ellipsis may still become more.
      if (size == kUnknownSize || (IsEllipsisLabel(labels[k]) && size == 1)) {
        size = input.dim(k) == kUnknownSize ? kUnknownSize : input.dim(k);
      } else if (input.dim(k) != kUnknownSize && input.dim(k) != size && !(IsEllipsisLabel(labels[k]) && input.dim(k) == 1)) {
        return InvalidArgument("Dimensions must be equal, but are ", size, " and ", input.dim(k), " for equation ", ctx.attrs().GetString("equation"));
      }
    }
  }
  std::vector<int64_t> result;
  for (char label : equation.output) {
    if (label != EinsumEquation::kEllipsis) {
      result.push_back(sizes.at(static_cast<unsigned char>(label)));
      continue;
    }
    for (auto entry = sizes.rbegin(); entry != sizes.rend(); ++entry) {
      if (IsEllipsisLabel(entry->first)) result.push_back(entry->second);
    }
  }
  ctx.set_output(0, PartialShape(result));
  return OkStatus();
}

// The gradient of input x is the Einsum of the output's gradient with the other input, over what x does not have. Labels that only x
// has were summed: there the gradient is repeated. Dimensions that were broadcast are summed.
Output InputGradient(GradientScope& g, const EinsumEquation& equation, int x) {
  const std::string& labels = equation.inputs[x];
  std::string other = g.num_inputs() > 1 ? equation.inputs[1 - x] : "";
  std::string present, repeated;  // unique labels of x that the gradient has; those that it lacks
  for (char label : labels) {
    if (present.find(label) != std::string::npos || repeated.find(label) != std::string::npos) continue;
    bool is_there = equation.output.find(label) != std::string::npos || other.find(label) != std::string::npos;
    (is_there ? present : repeated) += label;
  }
  auto spelled = [](const std::string& text) {
    std::string result;
    for (char label : text) result += label == EinsumEquation::kEllipsis ? std::string("...") : std::string(1, label);
    return result;
  };
  auto einsum = [&](const std::string& equation_text, std::vector<Output> inputs) {
    int count = static_cast<int>(inputs.size());
    return g.Op("Einsum", std::move(inputs), {{"equation", equation_text}, {"N", count}});
  };
  Output shape = g.Op("Shape", {g.input(x)});
  std::vector<Output> inputs = {g.grad(0)};
  std::string left = spelled(equation.output);
  if (g.num_inputs() > 1) {
    inputs.push_back(IsComplex(g.input(1 - x).dtype()) ? g.Op("Conj", {g.input(1 - x)}) : g.input(1 - x));
    left += "," + spelled(other);
  }
  bool has_duplicates = present.size() + repeated.size() < labels.size();
  if (repeated.empty() && !has_duplicates) {
    Output gradient = einsum(left + "->" + spelled(labels), inputs);
    if (labels.find(EinsumEquation::kEllipsis) == std::string::npos) return gradient;
    std::vector<Output> axes = g.OpList("BroadcastGradientArgs", {shape, g.Op("Shape", {gradient})});
    if (axes.empty()) return Output();
    return g.Op("Reshape", {g.Op("Sum", {gradient, axes[0]}, {{"keep_dims", true}}), shape});
  }
  // Repeats along the summed labels, which come first, then spreads over the diagonals of labels that occur twice.
  Output gradient = einsum(left + "->" + spelled(present), inputs);
  std::vector<int32_t> places;
  for (char label : repeated) places.push_back(static_cast<int32_t>(labels.find(label)));
  Output repeats = g.Op("GatherV2", {shape, g.Const(Tensor(places)), g.Scalar(0, kInt32)});
  Output wide_shape = g.Op("ConcatV2", {repeats, g.Op("Shape", {gradient}), g.Scalar(0, kInt32)}, {{"N", 2}});
  Output wide = g.Op("BroadcastTo", {gradient, wide_shape});
  return einsum(spelled(repeated + present) + "->" + spelled(labels), {wide});
}

Status EinsumGradient(GradientScope& g) {
  ASSIGN_OR_RETURN(EinsumEquation equation, ParseEinsum(g.attrs().GetString("equation"), g.num_inputs()));
  std::vector<Output> gradients;
  for (int x = 0; x < g.num_inputs(); ++x) {
    // Where the ellipsis stands in front of, or among, summed labels, their places depend on the rank.
    const std::string& labels = equation.inputs[x];
    bool has_ellipsis = labels.find(EinsumEquation::kEllipsis) != std::string::npos;
    bool is_ellipsis_summed = has_ellipsis && equation.output.find(EinsumEquation::kEllipsis) == std::string::npos;
    std::string others = equation.output + (g.num_inputs() > 1 ? equation.inputs[1 - x] : "");
    bool has_summed = std::any_of(labels.begin(), labels.end(), [&](char label) { return others.find(label) == std::string::npos; });
    if (has_ellipsis && (has_summed || is_ellipsis_summed)) {
      return Unimplemented("the gradient of Einsum with an ellipsis and summed labels: ", g.attrs().GetString("equation"));
    }
    gradients.push_back(InputGradient(g, equation, x));
  }
  return g.Return(gradients);
}

DEFINE_OP("Einsum")
    .Input("inputs: N * T")
    .Output("output: T")
    .Attr("equation: string")
    .Attr("N: int >= 1")
    .Attr("T: type")
    .Shape(EinsumShape)
    .Cpu(ForTypes<Einsum, float, double, Half, BFloat16, int32_t, int64_t, std::complex<float>, std::complex<double>>())
    .Gradient(EinsumGradient);

}  // namespace
}  // namespace tandem
