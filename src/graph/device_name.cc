#include "graph/device_name.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace tandem {
namespace {

// [A-Za-z][A-Za-z0-9_]*
bool ConsumeWord(absl::string_view* text, std::string* word) {
  size_t length = 0;
  while (length < text->size()) {
    unsigned char c = (*text)[length];
    if (!(length == 0 ? absl::ascii_isalpha(c) : absl::ascii_isalnum(c) || c == '_')) break;
    ++length;
  }
  if (length == 0) return false;
  *word = std::string(text->substr(0, length));
  text->remove_prefix(length);
  return true;
}

bool ConsumeWordOrStar(absl::string_view* text, std::optional<std::string>* word) {
  word->reset();
  if (absl::ConsumePrefix(text, "*")) return true;
  return ConsumeWord(text, &word->emplace());
}

bool ConsumeNumberOrStar(absl::string_view* text, std::optional<int>* number) {
  number->reset();
  if (absl::ConsumePrefix(text, "*")) return true;
  size_t length = 0;
  while (length < text->size() && absl::ascii_isdigit((*text)[length])) ++length;
  if (!absl::SimpleAtoi(text->substr(0, length), &number->emplace())) return false;
  text->remove_prefix(length);
  return true;
}

bool ConsumePart(absl::string_view* text, DeviceName* name) {
  if (absl::ConsumePrefix(text, "/job:")) return ConsumeWordOrStar(text, &name->job);
  if (absl::ConsumePrefix(text, "/replica:")) return ConsumeNumberOrStar(text, &name->replica);
  if (absl::ConsumePrefix(text, "/task:")) return ConsumeNumberOrStar(text, &name->task);
  if (absl::ConsumePrefix(text, "/device:")) {
    name->id.reset();
    if (!ConsumeWordOrStar(text, &name->type)) return false;
    if (name->type && (absl::EqualsIgnoreCase(*name->type, "cpu") || absl::EqualsIgnoreCase(*name->type, "gpu"))) absl::AsciiStrToUpper(&*name->type);
    return !absl::ConsumePrefix(text, ":") || ConsumeNumberOrStar(text, &name->id);
  }
  for (const char* type : {"CPU", "GPU"}) {
    if (absl::StartsWithIgnoreCase(*text, absl::StrCat("/", type, ":"))) {
      text->remove_prefix(5);
      name->type = type;
      return ConsumeNumberOrStar(text, &name->id);
    }
  }
  return false;
}

}  // namespace

StatusOr<DeviceName> DeviceName::Parse(absl::string_view text) {
  DeviceName name;
  absl::string_view rest = text;
  while (!rest.empty() && rest != "/") {
    if (!ConsumePart(&rest, &name)) return InvalidArgument("Malformed device specification '", text, "'");
  }
  return name;
}

std::string DeviceName::TaskString() const {
  std::string text;
  if (job) absl::StrAppend(&text, "/job:", *job);
  if (replica) absl::StrAppend(&text, "/replica:", *replica);
  if (task) absl::StrAppend(&text, "/task:", *task);
  return text;
}

std::string DeviceName::ToString() const {
  std::string text = TaskString();
  if (!type && !id) return text;
  absl::StrAppend(&text, "/device:", type ? *type : "*", ":");
  if (id) {
    absl::StrAppend(&text, *id);
  } else {
    absl::StrAppend(&text, "*");
  }
  return text;
}

bool DeviceName::Matches(const DeviceName& other) const {
  auto same = [](const auto& asked, const auto& given) { return !asked || asked == given; };
  return same(job, other.job) && same(replica, other.replica) && same(task, other.task) && same(type, other.type) && same(id, other.id);
}

Status MergeDeviceNames(const DeviceName& from, bool soft, DeviceName* into) {
  auto differ = [](const auto& a, const auto& b) { return a && b && *a != *b; };
  auto conflict = [&](const char* parts) {
    return InvalidArgument("Cannot merge devices with incompatible ", parts, ": '", into->ToString(), "' and '", from.ToString(), "'");
  };
  if (differ(into->job, from.job)) return conflict("jobs");
  if (differ(into->replica, from.replica)) return conflict("replicas");
  if (differ(into->task, from.task)) return conflict("tasks");
  bool types_differ = differ(into->type, from.type);
  bool ids_differ = differ(into->id, from.id);
  if (types_differ && !soft) return conflict("types");
  if (ids_differ && !soft) return conflict("ids");
  *into = OverrideDeviceName(from, *into);
  if (types_differ) into->type.reset();
  if (types_differ || ids_differ) into->id.reset();
  return OkStatus();
}

DeviceName OverrideDeviceName(const DeviceName& base, const DeviceName& over) {
  DeviceName name = over;
  if (!name.job) name.job = base.job;
  if (!name.replica) name.replica = base.replica;
  if (!name.task) name.task = base.task;
  if (!name.type) name.type = base.type;
  if (!name.id) name.id = base.id;
  return name;
}

std::string TaskOf(absl::string_view device) {
  StatusOr<DeviceName> name = DeviceName::Parse(device);
  return name.ok() && name->has_task() ? name->TaskString() : "";
}

}  // namespace tandem
