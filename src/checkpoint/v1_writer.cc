#include "checkpoint/v1_writer.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "checkpoint/table.h"
#include "core/random.h"
#include "proto/checkpoint.pb.h"
#include "proto/graph.pb.h"
#include "tensor/tensor_proto.h"

namespace tandem {
namespace {

constexpr int kVersion = 1;
// A message cannot be larger.
constexpr size_t kLargestSlice = size_t{2} << 30;

template <typename T, typename List>
void Append(const Tensor& tensor, List* list) {
  const T* from = static_cast<const T*>(tensor.raw_data());
  list->Reserve(static_cast<int>(tensor.num_elements()));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) list->Add(from[i]);
}

// The values in the list of their type, none left out, and nothing else.
Status ToLists(const Tensor& tensor, tensorflow::TensorProto* proto) {
  switch (tensor.dtype()) {
    case kFloat:
      return Append<float>(tensor, proto->mutable_float_val()), OkStatus();
    case kDouble:
      return Append<double>(tensor, proto->mutable_double_val()), OkStatus();
    case kInt32:
    case kQint32:
      return Append<int32_t>(tensor, proto->mutable_int_val()), OkStatus();
    case kInt16:
    case kQint16:
      return Append<int16_t>(tensor, proto->mutable_int_val()), OkStatus();
    case kUint16:
    case kQuint16:
      return Append<uint16_t>(tensor, proto->mutable_int_val()), OkStatus();
    case kInt8:
    case kQint8:
      return Append<int8_t>(tensor, proto->mutable_int_val()), OkStatus();
    case kUint8:
    case kQuint8:
      return Append<uint8_t>(tensor, proto->mutable_int_val()), OkStatus();
    case kHalf:
    case kBfloat16:
      return Append<uint16_t>(tensor, proto->mutable_half_val()), OkStatus();
    case kInt64:
      return Append<int64_t>(tensor, proto->mutable_int64_val()), OkStatus();
    case kUint32:
      return Append<uint32_t>(tensor, proto->mutable_uint32_val()), OkStatus();
    case kUint64:
      return Append<uint64_t>(tensor, proto->mutable_uint64_val()), OkStatus();
    case kBool:
      return Append<bool>(tensor, proto->mutable_bool_val()), OkStatus();
    case kComplex64:  // as pairs
      return Append<float>(tensor.BitcastTo(kFloat, {2 * tensor.num_elements()}), proto->mutable_scomplex_val()), OkStatus();
    case kComplex128:
      return Append<double>(tensor.BitcastTo(kDouble, {2 * tensor.num_elements()}), proto->mutable_dcomplex_val()), OkStatus();
    case kString:
      for (const std::string& value : tensor.values<std::string>()) proto->add_string_val(value);
      return OkStatus();
    default:
      return Unimplemented("a tensor of type ", DataTypeName(tensor.dtype()), " cannot be saved");
  }
}

}  // namespace

Status V1Writer::Add(absl::string_view name, const Shape& full, const TensorSlice& slice, const Tensor& tensor) {
  ASSIGN_OR_RETURN(Shape slice_shape, slice.ShapeWithin(full));
  if (slice_shape != tensor.shape()) {
    return InvalidArgument("the slice ", slice.ToString(), " of ", name, full.ToString(), " has the shape ", slice_shape.ToString(), ", its tensor ",
                           tensor.shape().ToString());
  }
  if (tensor.byte_size() >= kLargestSlice) return ResourceExhausted(name, " is too large for a checkpoint of the V1 format: ", tensor.byte_size(), " bytes");
  std::string& entry = entries_[EncodeSliceKey(name, slice)];
  if (!entry.empty()) return InvalidArgument("Adding duplicate key: ", name);
  auto at = std::find_if(variables_.begin(), variables_.end(), [&](const Variable& variable) { return variable.name == name; });
  if (at == variables_.end()) {
    at = variables_.insert(at, {std::string(name), tensor.dtype(), full, {}});
  } else if (at->dtype != tensor.dtype() || at->shape != full) {
    return InvalidArgument("the slices of ", name, " do not fit together: ", DataTypeName(at->dtype), at->shape.ToString(), " and ",
                           DataTypeName(tensor.dtype()), full.ToString());
  }
  at->slices.push_back(slice);
  tensorflow::SavedTensorSlices saved;
  saved.mutable_data()->set_name(std::string(name));
  slice.ToProto(saved.mutable_data()->mutable_slice());
  RETURN_IF_ERROR(ToLists(tensor, saved.mutable_data()->mutable_data()));
  if (!saved.SerializeToString(&entry)) return ResourceExhausted(name, " is too large for a checkpoint of the V1 format");
  return OkStatus();
}

Status V1Writer::Finish() {
  tensorflow::SavedTensorSlices saved;
  for (const Variable& variable : variables_) {
    auto* meta = saved.mutable_meta()->add_tensor();
    meta->set_name(variable.name);
    ShapeToProto(variable.shape, meta->mutable_shape());
    meta->set_type(static_cast<tensorflow::DataType>(variable.dtype));
    for (const TensorSlice& slice : variable.slices) slice.ToProto(meta->add_slice());
  }
  saved.mutable_meta()->mutable_versions()->set_producer(kVersion);
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, WritableFile::Create(absl::StrFormat("%s.tempstate%u", path_, RandomUint64())));
  Status status = [&]() -> Status {
    TableWriter table(file.get());
    RETURN_IF_ERROR(table.Add("", saved.SerializeAsString()));
    for (const auto& [key, value] : entries_) RETURN_IF_ERROR(table.Add(key, value));
    RETURN_IF_ERROR(table.Finish());
    RETURN_IF_ERROR(file->Sync());
    RETURN_IF_ERROR(file->Close());
    return RenameFile(file->path(), path_);
  }();
  if (!status.ok()) RemoveFile(file->path()).IgnoreError();  // the first error is the one to report
  return status;
}

}  // namespace tandem
