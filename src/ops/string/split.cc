// StringSplit and StringSplitV2: strings taken apart into a sparse matrix, a row for each.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

using Pieces = std::vector<absl::string_view>;

Status SetSparse(KernelContext& ctx, const std::vector<Pieces>& rows) {
  int64_t count = 0, widest = 0;
  for (const Pieces& row : rows) {
    count += static_cast<int64_t>(row.size());
    widest = std::max(widest, static_cast<int64_t>(row.size()));
  }
  ASSIGN_OR_RETURN(Tensor* indices, ctx.Allocate(0, Shape{count, 2}));
  ASSIGN_OR_RETURN(Tensor* values, ctx.Allocate(1, Shape{count}));
  int64_t* index = indices->mutable_data<int64_t>();
  std::string* value = values->mutable_data<std::string>();
  for (size_t row = 0; row < rows.size(); ++row) {
    for (size_t i = 0; i < rows[row].size(); ++i) {
      *index++ = static_cast<int64_t>(row);
      *index++ = static_cast<int64_t>(i);
      *value++ = std::string(rows[row][i]);
    }
  }
  ctx.set_output(2, Tensor(std::vector<int64_t>{static_cast<int64_t>(rows.size()), widest}));
  return OkStatus();
}

// At every character of `delimiters`; between all bytes if that is empty.
Pieces SplitAtAny(absl::string_view text, absl::string_view delimiters, bool skips_empty) {
  Pieces pieces;
  if (text.empty()) return pieces;
  if (delimiters.empty()) {
    for (size_t i = 0; i < text.size(); ++i) pieces.push_back(text.substr(i, 1));
    return pieces;
  }
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = std::min(text.find_first_of(delimiters, begin), text.size());
    if (end > begin || !skips_empty) pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

// As Python's str.split: at most `max_splits` cuts if that is not negative.
Pieces SplitAtSeparator(absl::string_view text, absl::string_view separator, int64_t max_splits) {
  Pieces pieces;
  while (max_splits < 0 || static_cast<int64_t>(pieces.size()) < max_splits) {
    size_t at = text.find(separator);
    if (at == absl::string_view::npos) break;
    pieces.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  pieces.push_back(text);
  return pieces;
}

Pieces SplitAtWhitespace(absl::string_view text, int64_t max_splits) {
  Pieces pieces;
  for (text = absl::StripLeadingAsciiWhitespace(text); !text.empty(); text = absl::StripLeadingAsciiWhitespace(text)) {
    bool is_last = max_splits >= 0 && static_cast<int64_t>(pieces.size()) == max_splits;
    size_t end = is_last ? text.size() : 0;
    while (end < text.size() && !absl::ascii_isspace(static_cast<unsigned char>(text[end]))) ++end;
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return pieces;
}

struct StringSplit {
  explicit StringSplit(const Attrs& attrs) : skips_empty(attrs.GetBool("skip_empty")) {}

  Status Run(KernelContext& ctx) const {
    const Tensor &input = ctx.input(0), &delimiter = ctx.input(1);
    if (input.shape().rank() != 1) return InvalidArgument("input must be a vector, got shape: ", input.shape().ToString());
    if (delimiter.shape().rank() > 0) return InvalidArgument("delimiter must be a scalar, got shape: ", delimiter.shape().ToString());
    std::vector<Pieces> rows;
    for (const std::string& text : input.values<std::string>()) rows.push_back(SplitAtAny(text, delimiter.scalar<std::string>(), skips_empty));
    return SetSparse(ctx, rows);
  }

  bool skips_empty;
};

struct StringSplitV2 {
  explicit StringSplitV2(const Attrs& attrs) : max_splits(attrs.GetInt("maxsplit")) {}

  Status Run(KernelContext& ctx) const {
    const Tensor &input = ctx.input(0), &separator = ctx.input(1);
    if (input.shape().rank() != 1) return InvalidArgument("input must be a vector, got shape: ", input.shape().ToString());
    if (separator.shape().rank() > 0) return InvalidArgument("sep must be a scalar, got shape: ", separator.shape().ToString());
    const std::string& at = separator.scalar<std::string>();
    std::vector<Pieces> rows;
    for (const std::string& text : input.values<std::string>()) {
      rows.push_back(at.empty() ? SplitAtWhitespace(text, max_splits) : SplitAtSeparator(text, at, max_splits));
    }
    return SetSparse(ctx, rows);
  }

  int64_t max_splits;
};

Status SplitShape(ShapeContext& ctx) {
  ctx.set_output(0, PartialShape{kUnknownSize, 2});
  ctx.set_output(1, PartialShape{kUnknownSize});
  ctx.set_output(2, PartialShape{2});
  return OkStatus();
}

DEFINE_OP("StringSplit")
    .Input("input: string")
    .Input("delimiter: string")
    .Output("indices: int64")
    .Output("values: string")
    .Output("shape: int64")
    .Attr("skip_empty: bool = true")
    .Shape(SplitShape)
    .Cpu(AnyType<StringSplit>())
    .NoGradient();

DEFINE_OP("StringSplitV2")
    .Input("input: string")
    .Input("sep: string")
    .Output("indices: int64")
    .Output("values: string")
    .Output("shape: int64")
    .Attr("maxsplit: int = -1")
    .Shape(SplitShape)
    .Cpu(AnyType<StringSplitV2>())
    .NoGradient();

}  // namespace
}  // namespace tandem
