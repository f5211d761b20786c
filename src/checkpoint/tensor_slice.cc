#include "checkpoint/tensor_slice.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/tensor.pb.h"

namespace tandem {
namespace {

// ---- keys: an encoding that sorts as the values do ---------------------------------------------------------------------------

void AppendOrderedName(absl::string_view name, std::string* key) {
  for (char c : name) {
    if (c == '\0') {
      key->append("\x00\xff", 2);
    } else if (c == '\xff') {
      key->append("\xff\x00", 2);
    } else {
      key->push_back(c);
    }
  }
  key->append("\x00\x01", 2);
}

// A count of significant bytes, then these, the highest first.
void AppendOrderedUnsigned(uint64_t value, std::string* key) {
  std::string bytes;
  for (; value != 0; value >>= 8) bytes.push_back(static_cast<char>(value));
  key->push_back(static_cast<char>(bytes.size()));
  key->append(bytes.rbegin(), bytes.rend());
}

// The number in as few bytes as hold it besides a header: as many leading one bits as there are bytes. The bytes are those of two's
// complement, so the xor with the header bits makes negative numbers sort first, longer ones before shorter ones.
void AppendOrderedSigned(int64_t value, std::string* key) {
  uint64_t magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  int length = 1;
  while (length < 10 && (7 * length - 1 < 64) && (magnitude >> (7 * length - 1)) != 0) ++length;
  std::string bytes(static_cast<size_t>(length), value < 0 ? '\xff' : '\0');
  for (int i = 0; i < std::min(length, 8); ++i) bytes[static_cast<size_t>(length - 1 - i)] = static_cast<char>(value >> (8 * i));
  for (int bit = 0; bit < length; ++bit) bytes[static_cast<size_t>(bit / 8)] ^= static_cast<char>(0x80 >> (bit % 8));
  key->append(bytes);
}

StatusOr<SliceExtent> ParseExtent(absl::string_view text, absl::string_view whole) {
  if (text == "-") return SliceExtent{};
  std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  SliceExtent extent;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &extent.start) || !absl::SimpleAtoi(parts[1], &extent.length)) {
    return InvalidArgument("Expected a pair of numbers or '-' but got '", text, "': string = ", whole);
  }
  if (extent.start < 0 || extent.length <= 0) {
    return InvalidArgument("Expected non-negative start and positive length but got start = ", extent.start, ", length = ", extent.length,
                           ": string = ", whole);
  }
  return extent;
}

}  // namespace

StatusOr<TensorSlice> TensorSlice::Parse(absl::string_view text) {
  TensorSlice slice;
  if (text.empty()) return slice;
  for (absl::string_view part : absl::StrSplit(text, ':')) {
    ASSIGN_OR_RETURN(SliceExtent extent, ParseExtent(part, text));
    slice.extents.push_back(extent);
  }
  return slice;
}

StatusOr<TensorSlice> TensorSlice::FromProto(const tensorflow::TensorSliceProto& proto) {
  TensorSlice slice;
  if (proto.extent_size() > kMaxRank) return InvalidArgument("a slice has ", proto.extent_size(), " dimensions");
  for (const auto& given : proto.extent()) {
    SliceExtent extent;
    if (given.has_length_case() != tensorflow::TensorSliceProto::Extent::HAS_LENGTH_NOT_SET) {
      extent = {given.start(), given.length()};
      if (extent.start < 0 || extent.length < 0) return InvalidArgument("a slice has start ", extent.start, " and length ", extent.length);
    }
    slice.extents.push_back(extent);
  }
  return slice;
}

void TensorSlice::ToProto(tensorflow::TensorSliceProto* proto) const {
  proto->Clear();
  for (const SliceExtent& extent : extents) {
    auto* made = proto->add_extent();
    if (extent.is_whole()) continue;
    made->set_start(extent.start);
    made->set_length(extent.length);
  }
}

std::string TensorSlice::ToString() const {
  return absl::StrJoin(extents, ":", [](std::string* out, const SliceExtent& extent) {
    absl::StrAppend(out, extent.is_whole() ? "-" : absl::StrCat(extent.start, ",", extent.length));
  });
}

StatusOr<Shape> TensorSlice::ShapeWithin(const Shape& full) const {
  if (full.rank() != static_cast<int>(extents.size())) {
    return Internal("Mismatching ranks: shape = ", full.ToString(), ", slice = ", ToString());
  }
  Shape shape = full;
  for (int i = 0; i < full.rank(); ++i) {
    const SliceExtent& extent = extents[static_cast<size_t>(i)];
    if (extent.is_whole()) continue;
    if (extent.start > full.dim(i) || extent.length > full.dim(i) - extent.start) {
      return Internal("Extent in dimension ", i, " out of bounds: shape = ", full.ToString(), ", slice = ", ToString());
    }
    shape.set_dim(i, extent.length);
  }
  return shape;
}

bool TensorSlice::Covers(const Shape& full) const {
  for (int i = 0; i < full.rank(); ++i) {
    const SliceExtent& extent = extents[static_cast<size_t>(i)];
    if (!extent.is_whole() && (extent.start != 0 || extent.length != full.dim(i))) return false;
  }
  return true;
}

TensorSlice TensorSlice::Resolved(const Shape& full) const {
  TensorSlice resolved = *this;
  for (int i = 0; i < full.rank(); ++i) {
    SliceExtent& extent = resolved.extents[static_cast<size_t>(i)];
    if (extent.is_whole()) extent.length = full.dim(i);
  }
  return resolved;
}

StatusOr<ShapeAndSlice> ParseShapeAndSlice(absl::string_view text) {
  std::vector<absl::string_view> parts = absl::StrSplit(text, ' ');
  if (parts.size() < 2) return InvalidArgument("Need least two elements in shape_and_slice specification: ", text);
  ShapeAndSlice parsed;
  ASSIGN_OR_RETURN(parsed.slice, TensorSlice::Parse(parts.back()));
  parts.pop_back();
  std::vector<int64_t> sizes;
  for (absl::string_view part : parts) {
    int64_t size;
    if (!absl::SimpleAtoi(part, &size)) return InvalidArgument("Non numerical dimension in shape_and_slice: ", text);
    sizes.push_back(size);
  }
  ASSIGN_OR_RETURN(parsed.full, Shape::Checked(sizes));
  ASSIGN_OR_RETURN(parsed.slice_shape, parsed.slice.ShapeWithin(parsed.full));
  return parsed;
}

std::string EncodeSliceKey(absl::string_view tensor_name, const TensorSlice& slice) {
  std::string key;
  AppendOrderedUnsigned(0, &key);
  AppendOrderedName(tensor_name, &key);
  AppendOrderedUnsigned(slice.extents.size(), &key);
  for (const SliceExtent& extent : slice.extents) {
    AppendOrderedSigned(extent.start, &key);
    AppendOrderedSigned(extent.length, &key);
  }
  return key;
}

int64_t CopyOverlap(const Tensor& from, const TensorSlice& from_slice, Tensor* to, const TensorSlice& to_slice) {
  int rank = static_cast<int>(from_slice.extents.size());
  std::vector<int64_t> length(static_cast<size_t>(rank)), from_stride(length), to_stride(length), index(length);
  int64_t from_offset = 0, to_offset = 0, from_size = 1, to_size = 1, count = 1;
  // Elements that lie together in both: the last dimensions, as long as all of them is wanted, and one more.
  int64_t run = 1;
  int outer = rank;
  bool is_together = true;
  for (int i = rank - 1; i >= 0; --i) {
    const SliceExtent &a = from_slice.extents[static_cast<size_t>(i)], &b = to_slice.extents[static_cast<size_t>(i)];
    int64_t begin = std::max(a.start, b.start);
    int64_t end = std::min(a.start + a.length, b.start + b.length);
    if (begin >= end) return 0;
    length[static_cast<size_t>(i)] = end - begin;
    from_stride[static_cast<size_t>(i)] = from_size;
    to_stride[static_cast<size_t>(i)] = to_size;
    from_offset += (begin - a.start) * from_size;
    to_offset += (begin - b.start) * to_size;
    from_size *= a.length;
    to_size *= b.length;
    count *= end - begin;
    if (is_together) {
      run *= end - begin;
      outer = i;
      is_together = end - begin == a.length && end - begin == b.length;
    }
  }
  size_t element = DataTypeSize(from.dtype());
  for (int64_t done = 0; done < count; done += run) {
    if (from.dtype() == kString) {
      std::copy_n(from.data<std::string>() + from_offset, run, to->mutable_data<std::string>() + to_offset);
    } else {
      std::memcpy(static_cast<char*>(to->mutable_raw_data()) + static_cast<size_t>(to_offset) * element,
                  static_cast<const char*>(from.raw_data()) + static_cast<size_t>(from_offset) * element, static_cast<size_t>(run) * element);
    }
    for (int i = outer - 1; i >= 0; --i) {
      size_t at = static_cast<size_t>(i);
      from_offset += from_stride[at];
      to_offset += to_stride[at];
      if (++index[at] < length[at]) break;
      from_offset -= from_stride[at] * length[at];
      to_offset -= to_stride[at] * length[at];
      index[at] = 0;
    }
  }
  return count;
}

}  // namespace tandem
