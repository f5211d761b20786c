#include "kernel/rendezvous.h"

#include "absl/hash/hash.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace tandem {
namespace {

// "/job:ps/replica:0/task:1/device:CPU:0"
bool IsFullDeviceName(absl::string_view name) {
  std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  if (parts.size() != 5 || !parts[0].empty()) return false;
  int number = 0;
  if (!absl::ConsumePrefix(&parts[1], "job:") || parts[1].empty()) return false;
  if (!absl::ConsumePrefix(&parts[2], "replica:") || !absl::SimpleAtoi(parts[2], &number)) return false;
  if (!absl::ConsumePrefix(&parts[3], "task:") || !absl::SimpleAtoi(parts[3], &number)) return false;
  if (!absl::ConsumePrefix(&parts[4], "device:")) return false;
  std::vector<absl::string_view> device = absl::StrSplit(parts[4], ':');
  return device.size() == 2 && !device[0].empty() && absl::SimpleAtoi(device[1], &number);
}

}  // namespace

EdgeKey EdgeKey::Make(absl::string_view src_device, uint64_t src_incarnation, absl::string_view dst_device, absl::string_view edge_name) {
  EdgeKey key;
  key.src_device = std::string(src_device);
  key.dst_device = std::string(dst_device);
  key.edge_name = std::string(edge_name);
  key.src_incarnation = src_incarnation;
  key.full = absl::StrCat(src_device, ";", absl::Hex(src_incarnation, absl::kZeroPad16), ";", dst_device, ";", edge_name, ";0:0");
  key.hash = absl::Hash<std::string>()(key.full);
  return key;
}

StatusOr<EdgeKey> EdgeKey::Parse(absl::string_view full) {
  std::vector<absl::string_view> parts = absl::StrSplit(full, ';');
  EdgeKey key;
  if (parts.size() != 5 || !IsFullDeviceName(parts[0]) || !IsFullDeviceName(parts[2]) || parts[1].size() != 16 ||
      !absl::SimpleHexAtoi(parts[1], &key.src_incarnation)) {
    return InvalidArgument("Invalid  rendezvous key: ", full);
  }
  key.full = std::string(full);
  key.src_device = std::string(parts[0]);
  key.dst_device = std::string(parts[2]);
  key.edge_name = std::string(parts[3]);
  key.hash = absl::Hash<std::string>()(key.full);
  return key;
}

}  // namespace tandem
