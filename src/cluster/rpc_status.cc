#include "cluster/rpc_status.h"

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "cluster/message_buffer.h"

namespace tandem {
namespace {

constexpr size_t kMaxText = 3072;
constexpr char kOurPayloads[] = "type.googleapis.com/tensorflow.";

// Details are a tensorflow.distributed_runtime.GrpcPayloadContainer: map<string, bytes> payloads = 1. A client that finds anything
// else there reports lost payloads.
std::string EncodePayloads(const Status& status) {
  std::string details;
  status.ForEachPayload([&details](absl::string_view url, const absl::Cord& value) {
    if (!absl::StartsWith(url, kOurPayloads)) return;
    std::string text(value);
    auto varint = [](uint64_t number, std::string* to) {
      for (; number >= 0x80; number >>= 7) to->push_back(static_cast<char>(number | 0x80));
      to->push_back(static_cast<char>(number));
    };
    std::string entry("\x0a");
    varint(url.size(), &entry);
    entry.append(url.data(), url.size());
    entry.push_back('\x12');
    varint(text.size(), &entry);
    entry += text;
    details.push_back('\x0a');
    varint(entry.size(), &details);
    details += entry;
  });
  return details;
}

void DecodePayloads(const std::string& details, Status* status) {
  grpc::Slice slice(details);
  WireReader reader(grpc::ByteBuffer(&slice, 1));
  uint32_t field, wire_type;
  size_t length;
  while (reader.left() > 0) {
    if (!reader.ReadTag(&field, &wire_type) || field != 1 || wire_type != 2 || !reader.ReadLength(&length)) return;
    size_t end = reader.left() - length;
    std::string url, value;
    while (reader.left() > end) {
      if (!reader.ReadTag(&field, &wire_type) || wire_type != 2 || !reader.ReadLength(&length)) return;
      if (!reader.ReadString(length, field == 1 ? &url : &value)) return;
    }
    if (absl::StartsWith(url, kOurPayloads)) status->SetPayload(url, absl::Cord(value));
  }
}

}  // namespace

grpc::Status StatusToGrpc(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  std::string text(status.message());
  if (text.size() > kMaxText) {
    text.resize(kMaxText);
    text += " ... [truncated]";
  }
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), text, EncodePayloads(status));
}

Status StatusFromGrpc(const grpc::Status& status) {
  if (status.ok()) return OkStatus();
  // gRPC's words for a connection that broke after the call was sent.
  if (status.error_code() == grpc::StatusCode::UNKNOWN && status.error_message() == "Stream removed") return Unavailable(status.error_message());
  Status made(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  if (!status.error_details().empty()) DecodePayloads(status.error_details(), &made);
  return made;
}

Status MarkPossiblyRestarted(Status status) {
  status.SetPayload("type.googleapis.com/tensorflow.distributed_runtime.WorkerPossiblyRestarted", absl::Cord());
  return status;
}

}  // namespace tandem
