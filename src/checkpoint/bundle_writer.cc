#include "checkpoint/bundle_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "checkpoint/table.h"
#include "core/crc32c.h"
#include "core/random.h"

namespace tandem {
namespace {

constexpr size_t kBufferBytes = size_t{8} << 20;

// TensorFlow's form of temporary names, so that whoever cleans up after crashes finds ours as well.
std::string TemporaryName(absl::string_view path) { return absl::StrFormat("%s.tempstate%u", path, RandomUint64()); }

void AppendFixed64(uint64_t value, std::string* out) {
  AppendFixed32(static_cast<uint32_t>(value), out);
  AppendFixed32(static_cast<uint32_t>(value >> 32), out);
}

// The lengths are summed as fixed-size integers, not as the varints that are stored: four bytes unless the length needs eight.
void ExtendByLength(uint64_t length, uint32_t* crc) {
  std::string bytes;
  if (length <= 0xffffffffu) {
    AppendFixed32(static_cast<uint32_t>(length), &bytes);
  } else {
    AppendFixed64(length, &bytes);
  }
  *crc = ExtendCrc32c(*crc, bytes.data(), bytes.size());
}

}  // namespace

BundleWriter::BundleWriter(std::string prefix, std::unique_ptr<WritableFile> data) : prefix_(std::move(prefix)), data_(std::move(data)) {}

StatusOr<std::unique_ptr<BundleWriter>> BundleWriter::Create(absl::string_view prefix) {
  absl::string_view directory = DirectoryOf(prefix);
  if (!directory.empty()) RETURN_IF_ERROR(CreateDirectory(directory));
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> data, WritableFile::Create(TemporaryName(DataFileName(prefix, 0, 1)), kBufferBytes));
  return std::unique_ptr<BundleWriter>(new BundleWriter(std::string(prefix), std::move(data)));
}

BundleWriter::~BundleWriter() {
  if (data_ == nullptr) return;
  data_->Close().IgnoreError();  // the file goes away
  RemoveFile(data_->path()).IgnoreError();
}

Status BundleWriter::Add(absl::string_view name, const Tensor& tensor) {
  if (status_.ok()) status_ = TryAdd(name, tensor);
  return status_;
}

Status BundleWriter::AddSlice(absl::string_view name, const Shape& full, const TensorSlice& slice, const Tensor& tensor) {
  if (status_.ok()) status_ = TryAddSlice(name, full, slice, tensor);
  return status_;
}

Status BundleWriter::AppendData(absl::string_view bytes, BundleEntry* entry, uint32_t* crc) {
  *crc = ExtendCrc32c(*crc, bytes.data(), bytes.size());
  entry->size += static_cast<int64_t>(bytes.size());
  return data_->Append(bytes);
}

Status BundleWriter::TryAdd(absl::string_view name, const Tensor& tensor) {
  if (name.empty()) return InvalidArgument("a tensor of a checkpoint needs a name");
  auto [at, is_new] = entries_.try_emplace(std::string(name));
  if (!is_new) return InvalidArgument("Adding duplicate key: ", name);
  BundleEntry& entry = at->second;
  entry.dtype = tensor.dtype();
  entry.shape = tensor.shape();
  entry.offset = data_size_;
  uint32_t crc = 0;
  if (tensor.dtype() == kString) {
    // All lengths, their checksum, then all bytes. The entry's checksum goes on from that of the lengths.
    std::string lengths;
    for (const std::string& value : tensor.values<std::string>()) {
      AppendVarint64(value.size(), &lengths);
      ExtendByLength(value.size(), &crc);
    }
    std::string length_crc;
    AppendFixed32(MaskCrc(crc), &length_crc);
    entry.size = static_cast<int64_t>(lengths.size());
    RETURN_IF_ERROR(data_->Append(lengths));
    RETURN_IF_ERROR(AppendData(length_crc, &entry, &crc));
    for (const std::string& value : tensor.values<std::string>()) RETURN_IF_ERROR(AppendData(value, &entry, &crc));
  } else if (IsPlainData(tensor.dtype())) {
    RETURN_IF_ERROR(AppendData(absl::string_view(static_cast<const char*>(tensor.raw_data()), tensor.byte_size()), &entry, &crc));
  } else {
    return Unimplemented("a tensor of type ", DataTypeName(tensor.dtype()), " cannot be saved: ", name);
  }
  entry.masked_crc = MaskCrc(crc);
  data_size_ += entry.size;
  return OkStatus();
}

Status BundleWriter::TryAddSlice(absl::string_view name, const Shape& full, const TensorSlice& slice, const Tensor& tensor) {
  ASSIGN_OR_RETURN(Shape slice_shape, slice.ShapeWithin(full));
  if (slice_shape != tensor.shape()) {
    return InvalidArgument("the slice ", slice.ToString(), " of ", name, full.ToString(), " has the shape ", slice_shape.ToString(), ", its tensor ",
                           tensor.shape().ToString());
  }
  if (slice.Covers(full)) return TryAdd(name, tensor);
  if (name.empty()) return InvalidArgument("a tensor of a checkpoint needs a name");
  auto [at, is_new] = entries_.try_emplace(std::string(name));
  BundleEntry& whole = at->second;
  if (is_new) {
    whole.dtype = tensor.dtype();
    whole.shape = full;
  } else if (whole.slices.empty()) {
    return InvalidArgument("Adding duplicate key: ", name);
  } else if (whole.dtype != tensor.dtype() || whole.shape != full) {
    return InvalidArgument("the slices of ", name, " do not fit together: ", DataTypeName(whole.dtype), whole.shape.ToString(), " and ",
                           DataTypeName(tensor.dtype()), full.ToString());
  }
  for (const TensorSlice& other : whole.slices) {
    if (other == slice) return InvalidArgument("Adding duplicate key: ", name, " slice ", slice.ToString());
  }
  whole.slices.push_back(slice);
  return TryAdd(EncodeSliceKey(name, slice), tensor);
}

Status BundleWriter::Finish() {
  if (status_.ok()) status_ = TryFinish();
  return status_;
}

Status BundleWriter::TryFinish() {
  if (data_ == nullptr) return FailedPrecondition("the checkpoint ", prefix_, " is finished");
  RETURN_IF_ERROR(data_->Sync());
  RETURN_IF_ERROR(data_->Close());
  // An old index must not describe new data: without an index there is no checkpoint.
  Status removed = RemoveFile(IndexFileName(prefix_));
  if (!removed.ok() && removed.code() != absl::StatusCode::kNotFound) return removed;
  RETURN_IF_ERROR(RenameFile(data_->path(), DataFileName(prefix_, 0, 1)));
  data_ = nullptr;
  return WriteBundleIndex(prefix_, BundleHeader{}, entries_);
}

Status WriteBundleIndex(absl::string_view prefix, const BundleHeader& header, const std::map<std::string, BundleEntry>& entries) {
  std::string path = IndexFileName(prefix);
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, WritableFile::Create(TemporaryName(path)));
  Status status = [&]() -> Status {
    TableWriter table(file.get());
    RETURN_IF_ERROR(table.Add("", header.Serialize()));
    for (const auto& [name, entry] : entries) RETURN_IF_ERROR(table.Add(name, entry.Serialize()));
    RETURN_IF_ERROR(table.Finish());
    RETURN_IF_ERROR(file->Sync());
    RETURN_IF_ERROR(file->Close());
    return RenameFile(file->path(), path);
  }();
  if (!status.ok()) {
    RemoveFile(file->path()).IgnoreError();  // the first error is the one to report
    return status;
  }
  return SyncDirectory(DirectoryOf(path));
}

}  // namespace tandem
