// RandomShuffle: the rows of a tensor in random order.
#include <cstring>
#include <numeric>
#include <vector>

#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/random/seeded_generator.h"

namespace tandem {
namespace {

template <typename T>
void CopyRows(const Tensor& from, const std::vector<int64_t>& order, int64_t row_size, Tensor* to) {
  for (size_t row = 0; row < order.size(); ++row) {
    const T* source = from.data<T>() + order[row] * row_size;
    std::copy(source, source + row_size, to->mutable_data<T>() + row * row_size);
  }
}

struct RandomShuffle {
  explicit RandomShuffle(const Attrs& attrs) : generator(attrs) {}

  Status Run(KernelContext& ctx) {
    const Tensor& value = ctx.input(0);
    const int64_t rows = value.shape().rank() > 0 ? value.shape().dim(0) : 1;
    if (value.num_elements() <= 1 || rows <= 1) {
      ctx.set_output(0, value);
      return OkStatus();
    }
    if (!IsPlainData(value.dtype()) && value.dtype() != kString && value.dtype() != kResource) {
      return Unimplemented("RandomShuffle of ", DataTypeName(value.dtype()));
    }
    // Fisher and Yates from the front.
    PhiloxWords words(generator.Reserve((rows - 1 + 3) / 4));
    std::vector<int64_t> order(rows);
    std::iota(order.begin(), order.end(), 0);
    for (int64_t i = 0; i + 1 < rows; ++i) std::swap(order[i], order[i + words.Next() % static_cast<uint64_t>(rows - i)]);

    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, value.shape()));
    const int64_t row_size = value.num_elements() / rows;
    if (value.dtype() == kString) {
      CopyRows<std::string>(value, order, row_size, output);
    } else if (value.dtype() == kResource) {
      CopyRows<ResourceHandle>(value, order, row_size, output);
    } else {
      const size_t bytes = row_size * DataTypeSize(value.dtype());
      const char* from = static_cast<const char*>(value.raw_data());
      char* to = static_cast<char*>(output->mutable_raw_data());
      for (int64_t row = 0; row < rows; ++row) std::memcpy(to + row * bytes, from + order[row] * bytes, bytes);
    }
    return OkStatus();
  }

  SeededGenerator generator;
};

DEFINE_OP("RandomShuffle")
    .Input("value: T")
    .Output("output: T")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("T: type")
    .Stateful()
    .Shape(SameAsInput0)
    .Cpu(AnyType<RandomShuffle>());

}  // namespace
}  // namespace tandem
