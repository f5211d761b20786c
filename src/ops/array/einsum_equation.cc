#include "ops/array/einsum_equation.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace tandem {
namespace {

StatusOr<std::string> ParseLabels(absl::string_view text) {
  constexpr char kMark = '\1';  // of an ellipsis, so that single dots are found out
  std::string labels = absl::StrReplaceAll(text, {{"...", std::string(1, kMark)}, {" ", ""}});
  for (char& c : labels) {
    if (c == kMark) {
      c = EinsumEquation::kEllipsis;
    } else if (!absl::ascii_isalpha(static_cast<unsigned char>(c))) {
      return InvalidArgument("Invalid character(s) in einsum equation: '", text, "'");
    }
  }
  if (std::count(labels.begin(), labels.end(), EinsumEquation::kEllipsis) > 1) return InvalidArgument("More than one ellipsis in '", text, "'");
  return labels;
}

}  // namespace

StatusOr<EinsumEquation> ParseEinsum(const std::string& equation, int input_count) {
  std::vector<std::string> sides = absl::StrSplit(equation, "->");
  if (sides.size() != 2) return InvalidArgument("Expecting exactly one '->' in einsum equation: ", equation);
  EinsumEquation parsed;
  for (absl::string_view input : absl::StrSplit(sides[0], ',')) {
    ASSIGN_OR_RETURN(std::string labels, ParseLabels(input));
    parsed.inputs.push_back(std::move(labels));
  }
  if (static_cast<int>(parsed.inputs.size()) != input_count) {
    return InvalidArgument("Expected ", parsed.inputs.size(), " inputs for equation ", equation, " but got: ", input_count);
  }
  ASSIGN_OR_RETURN(parsed.output, ParseLabels(sides[1]));
  for (char label : parsed.output) {
    bool is_known = std::any_of(parsed.inputs.begin(), parsed.inputs.end(), [&](const std::string& input) { return input.find(label) != std::string::npos; });
    if (!is_known && label != EinsumEquation::kEllipsis) {
      return InvalidArgument("Output subscript contains label ", std::string(1, label), " that occurs in no input: ", equation);
    }
  }
  return parsed;
}

StatusOr<std::vector<int>> LabelDims(const std::string& labels, int rank) {
  bool has_ellipsis = labels.find(EinsumEquation::kEllipsis) != std::string::npos;
  int named = static_cast<int>(labels.size()) - (has_ellipsis ? 1 : 0);
  if (rank < named || (!has_ellipsis && rank > named)) {
    return InvalidArgument("Expected input with subscripts ", labels, " to have rank ", has_ellipsis ? "at least " : "", named, ", got rank ", rank);
  }
  std::vector<int> dims;
  for (char label : labels) {
    if (label != EinsumEquation::kEllipsis) {
      dims.push_back(static_cast<unsigned char>(label));
      continue;
    }
    for (int left = rank - named; left > 0; --left) dims.push_back(256 + left);
  }
  return dims;
}

}  // namespace tandem
