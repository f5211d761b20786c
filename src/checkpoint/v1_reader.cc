#include "checkpoint/v1_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "core/file.h"
#include "proto/checkpoint.pb.h"
#include "tensor/tensor_proto.h"

namespace tandem {
namespace {

bool Matches(absl::string_view name, absl::string_view pattern) {
  return name.size() == pattern.size() && std::equal(name.begin(), name.end(), pattern.begin(),
                                                     [](char c, char p) { return p == '?' ? absl::ascii_isdigit(static_cast<unsigned char>(c)) : c == p; });
}

StatusOr<std::vector<std::string>> FindFiles(absl::string_view files) {
  std::vector<std::string> found;
  if (FileExists(files)) {
    found.emplace_back(files);
  } else if (files.find('?') != absl::string_view::npos) {
    absl::string_view directory = DirectoryOf(files);
    StatusOr<std::vector<std::string>> names = ListDirectory(directory);
    if (!names.ok() && names.status().code() != absl::StatusCode::kNotFound) return names.status();
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      if (Matches(name, BaseName(files))) found.push_back(JoinPath(directory, name));
    }
  }
  if (found.empty()) return NotFound("Unsuccessful TensorSliceReader constructor: Failed to find any matching files for ", files);
  return found;
}

// A stored slice has its values in the lists of a TensorProto without type and shape, and without the repetition of the last one.
StatusOr<Tensor> Decode(const tensorflow::SavedTensorSlices& saved, DataType dtype, const Shape& shape) {
  tensorflow::TensorProto proto = saved.data().data();
  proto.set_dtype(static_cast<tensorflow::DataType>(dtype));
  ShapeToProto(shape, proto.mutable_tensor_shape());
  return TensorFromProto(proto);
}

}  // namespace

StatusOr<std::unique_ptr<V1Reader>> V1Reader::Open(absl::string_view files) {
  std::unique_ptr<V1Reader> reader(new V1Reader);
  reader->files_ = std::string(files);
  ASSIGN_OR_RETURN(std::vector<std::string> paths, FindFiles(files));
  for (const std::string& path : paths) RETURN_IF_ERROR(reader->AddFile(path));
  return reader;
}

Status V1Reader::AddFile(const std::string& path) {
  StatusOr<std::unique_ptr<TableReader>> table = TableReader::Open(path);
  if (!table.ok()) {
    return DataLoss("Unable to open table file ", path, ": ", table.status().ToString(),
                    ": perhaps your file is in a different file format and you need to use a different restore operator?");
  }
  ASSIGN_OR_RETURN(std::string bytes, (*table)->Lookup(""));
  tensorflow::SavedTensorSlices saved;
  if (!saved.ParseFromString(bytes)) return DataLoss(path, ": the list of tensors is damaged");
  for (const auto& meta : saved.meta().tensor()) {
    StatusOr<Shape> shape = ShapeFromProto(meta.shape());
    if (!shape.ok()) return DataLoss(path, ": ", meta.name(), ": ", shape.status().message());
    auto [at, is_new] = variables_.try_emplace(meta.name());
    Variable& variable = at->second;
    DataType dtype = static_cast<DataType>(meta.type());
    if (!is_new && (variable.dtype != dtype || variable.shape != *shape)) return DataLoss(path, ": the slices of ", meta.name(), " do not fit together");
    variable.dtype = dtype;
    variable.shape = *std::move(shape);
    for (const auto& given : meta.slice()) {
      StatusOr<TensorSlice> slice = TensorSlice::FromProto(given);
      if (!slice.ok() || !slice->ShapeWithin(variable.shape).ok()) return DataLoss(path, ": a slice of ", meta.name(), " lies outside");
      variable.slices.emplace_back(*std::move(slice), table->get());
    }
  }
  tables_.push_back(*std::move(table));
  return OkStatus();
}

StatusOr<const V1Reader::Variable*> V1Reader::Lookup(absl::string_view name) const {
  auto found = variables_.find(std::string(name));
  if (found == variables_.end()) return NotFound("Tensor name \"", name, "\" not found in checkpoint files ", files_);
  return &found->second;
}

StatusOr<Tensor> V1Reader::Read(absl::string_view name) const {
  ASSIGN_OR_RETURN(const Variable* variable, Lookup(name));
  return ReadSlice(name, TensorSlice::Whole(variable->shape.rank()));
}

StatusOr<Tensor> V1Reader::ReadSlice(absl::string_view name, const TensorSlice& slice) const {
  ASSIGN_OR_RETURN(const Variable* variable, Lookup(name));
  ASSIGN_OR_RETURN(Shape shape, slice.ShapeWithin(variable->shape));
  TensorSlice wanted = slice.Resolved(variable->shape);
  int64_t copied = 0;
  Tensor assembled;
  for (const auto& [stored, table] : variable->slices) {
    TensorSlice part = stored.Resolved(variable->shape);
    ASSIGN_OR_RETURN(std::string bytes, table->Lookup(EncodeSliceKey(name, stored)));
    tensorflow::SavedTensorSlices saved;
    if (!saved.ParseFromString(bytes)) return DataLoss(table->path(), ": the slice ", stored.ToString(), " of ", name, " is damaged");
    ASSIGN_OR_RETURN(Shape part_shape, stored.ShapeWithin(variable->shape));
    ASSIGN_OR_RETURN(Tensor piece, Decode(saved, variable->dtype, part_shape));
    if (part == wanted) return piece;
    if (!assembled.has_value()) {
      ASSIGN_OR_RETURN(assembled, Tensor::Allocate(variable->dtype, shape));
      // Parts that overlap could leave a hole that the count does not show.
      if (IsPlainData(variable->dtype)) std::memset(assembled.mutable_raw_data(), 0, assembled.byte_size());
    }
    copied += CopyOverlap(piece, part, &assembled, wanted);
  }
  if (copied < shape.num_elements() || !assembled.has_value()) {
    return InvalidArgument("Does not have sufficient slices for partitioned tensor ", name, " to restore in slice_spec: ", slice.ToString());
  }
  return assembled;
}

}  // namespace tandem
