// tandem inspect: what is in a checkpoint, an event file, a graph, or a directory of them.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/bundle_reader.h"
#include "checkpoint/checkpoint_state.h"
#include "cli/commands.h"
#include "core/file.h"
#include "proto/graph.pb.h"
#include "proto/meta_graph.pb.h"
#include "proto/summary.pb.h"
#include "summary/event_reader.h"

namespace tandem {
namespace {

using nlohmann::json;

struct InspectOptions {
  std::string path;
  bool as_json = false;
  int values = 5;       // shown per tensor; -1: all
  std::string tensor;   // only this one
};

template <typename T>
json NumberList(const Tensor& tensor, int64_t count) {
  json list = json::array();
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      list.push_back(static_cast<float>(tensor.data<T>()[i]));
    } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      list.push_back({tensor.data<T>()[i].real(), tensor.data<T>()[i].imag()});
    } else {
      list.push_back(tensor.data<T>()[i]);
    }
  }
  return list;
}

json Values(const Tensor& tensor, int limit) {
  const int64_t count = limit < 0 ? tensor.num_elements() : std::min<int64_t>(limit, tensor.num_elements());
  switch (tensor.dtype()) {
    case kFloat: return NumberList<float>(tensor, count);
    case kDouble: return NumberList<double>(tensor, count);
    case kInt32: return NumberList<int32_t>(tensor, count);
    case kInt64: return NumberList<int64_t>(tensor, count);
    case kUint8: return NumberList<uint8_t>(tensor, count);
    case kInt8: return NumberList<int8_t>(tensor, count);
    case kInt16: return NumberList<int16_t>(tensor, count);
    case kUint16: return NumberList<uint16_t>(tensor, count);
    case kUint32: return NumberList<uint32_t>(tensor, count);
    case kUint64: return NumberList<uint64_t>(tensor, count);
    case kBool: return NumberList<bool>(tensor, count);
    case kHalf: return NumberList<Half>(tensor, count);
    case kBfloat16: return NumberList<BFloat16>(tensor, count);
    case kString: return NumberList<std::string>(tensor, count);
    case kComplex64: return NumberList<std::complex<float>>(tensor, count);
    case kComplex128: return NumberList<std::complex<double>>(tensor, count);
    default: return json::array();
  }
}

// Strings may hold any bytes: what is no UTF-8 is shown as a replacement mark.
std::string Dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

Status InspectCheckpoint(const InspectOptions& options, const std::string& prefix) {
  ASSIGN_OR_RETURN(std::unique_ptr<BundleReader> reader, BundleReader::Open(prefix));
  int64_t elements = 0, bytes = 0;
  int shown = 0;
  if (!options.as_json) std::printf("checkpoint %s, %d data file%s\n", prefix.c_str(), reader->header().shard_count, reader->header().shard_count == 1 ? "" : "s");
  for (const auto& [name, entry] : reader->entries()) {
    if (IsSliceKey(name) || (!options.tensor.empty() && name != options.tensor)) continue;
    StatusOr<Tensor> read = reader->Read(name);
    if (!read.ok()) return Annotate(read.status(), absl::StrCat("tensor ", name));
    const Tensor tensor = *std::move(read);
    elements += tensor.num_elements();
    bytes += static_cast<int64_t>(tensor.byte_size());
    ++shown;
    if (options.as_json) {
      json line = {{"name", name}, {"dtype", DataTypeName(tensor.dtype())}, {"shape", std::vector<int64_t>(tensor.shape().dims().begin(), tensor.shape().dims().end())},
                   {"values", Values(tensor, options.values)}};
      std::printf("%s\n", Dump(line).c_str());
      continue;
    }
    std::string values = Dump(Values(tensor, options.values));
    if (options.values >= 0 && tensor.num_elements() > options.values) values.insert(values.size() - 1, values == "[]" ? "…" : ", …");
    std::printf("  %-40s %-9s %-14s %s%s\n", name.c_str(), DataTypeName(tensor.dtype()).c_str(), tensor.shape().ToString().c_str(), values.c_str(),
                entry.slices.empty() ? "" : absl::StrCat("  (in ", entry.slices.size(), " parts)").c_str());
  }
  if (shown == 0 && !options.tensor.empty()) return NotFound("checkpoint ", prefix, " has no tensor ", options.tensor);
  if (!options.as_json) std::printf("%d tensors, %lld elements, %lld bytes\n", shown, static_cast<long long>(elements), static_cast<long long>(bytes));
  return OkStatus();
}

// What is known of one tag of an event file.
struct Tag {
  std::string kind, last;
  int64_t count = 0, last_step = 0;
};

void AddValue(const tensorflow::Summary::Value& value, int64_t step, std::map<std::string, Tag>* tags) {
  Tag& tag = (*tags)[value.tag()];
  ++tag.count;
  tag.last_step = step;
  if (value.has_simple_value()) {
    tag.kind = "scalar";
    tag.last = absl::StrCat(value.simple_value());
  } else if (value.has_histo()) {
    tag.kind = "histogram";
    const tensorflow::HistogramProto& histogram = value.histo();
    tag.last = absl::StrCat(histogram.num(), " values from ", histogram.min(), " to ", histogram.max(), ", mean ",
                            histogram.num() > 0 ? histogram.sum() / histogram.num() : 0);
  } else if (value.has_image()) {
    tag.kind = "image";
    tag.last = absl::StrCat(value.image().width(), "x", value.image().height());
  } else if (value.has_audio()) {
    tag.kind = "audio";
    tag.last = absl::StrCat(value.audio().length_frames(), " frames");
  } else {
    tag.kind = value.metadata().plugin_data().plugin_name().empty() ? "tensor" : value.metadata().plugin_data().plugin_name();
  }
}

Status InspectEvents(const InspectOptions& options, const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<EventReader> reader, EventReader::Open(path));
  std::map<std::string, Tag> tags;
  int64_t count = 0, graphs = 0, traces = 0, last_step = 0;
  Status status;
  tensorflow::Event event;
  while ((status = reader->Next(&event)).ok()) {
    ++count;
    last_step = std::max<int64_t>(last_step, event.step());
    graphs += !event.graph_def().empty() || !event.meta_graph_def().empty();
    traces += event.has_tagged_run_metadata();
    for (const auto& value : event.summary().value()) AddValue(value, event.step(), &tags);
  }
  if (status.code() != absl::StatusCode::kOutOfRange) return status;
  if (options.as_json) {
    for (const auto& [name, tag] : tags) {
      std::printf("%s\n", Dump({{"tag", name}, {"kind", tag.kind}, {"count", tag.count}, {"last_step", tag.last_step}, {"last", tag.last}}).c_str());
    }
    return OkStatus();
  }
  std::printf("events %s: %lld events up to step %lld, %lld graphs, %lld traces\n", path.c_str(), static_cast<long long>(count), static_cast<long long>(last_step),
              static_cast<long long>(graphs), static_cast<long long>(traces));
  for (const auto& [name, tag] : tags) {
    std::printf("  %-40s %-10s %6lld times, step %lld: %s\n", name.c_str(), tag.kind.c_str(), static_cast<long long>(tag.count), static_cast<long long>(tag.last_step),
                tag.last.c_str());
  }
  return OkStatus();
}

Status InspectGraph(const InspectOptions& options, const std::string& path) {
  ASSIGN_OR_RETURN(std::string bytes, ReadWholeFile(path));
  tensorflow::MetaGraphDef meta;
  tensorflow::GraphDef graph;
  // A .meta file is a MetaGraphDef; anything else is read as the graph alone.
  if (absl::EndsWith(path, ".meta")) {
    if (!meta.ParseFromString(bytes)) return DataLoss(path, " is not a MetaGraphDef");
    graph = meta.graph_def();
  } else if (!graph.ParseFromString(bytes)) {
    return DataLoss(path, " is not a GraphDef");
  }
  std::map<std::string, int> ops, devices;
  for (const auto& node : graph.node()) {
    ++ops[node.op()];
    ++devices[node.device()];
  }
  if (options.as_json) {
    for (const auto& node : graph.node()) {
      std::printf("%s\n", Dump({{"name", node.name()}, {"op", node.op()}, {"device", node.device()}, {"input", std::vector<std::string>(node.input().begin(), node.input().end())}}).c_str());
    }
    return OkStatus();
  }
  std::printf("graph %s: %d nodes, %d functions, version %d\n", path.c_str(), graph.node_size(), graph.library().function_size(), graph.versions().producer());
  for (const auto& [device, count] : devices) std::printf("  %6d nodes on %s\n", count, device.empty() ? "no device of their own" : device.c_str());
  for (const auto& [op, count] : ops) std::printf("  %6d %s\n", count, op.c_str());
  return OkStatus();
}

Status InspectDirectory(const InspectOptions& options, const std::string& directory) {
  ASSIGN_OR_RETURN(std::vector<std::string> names, ListDirectory(directory));
  ASSIGN_OR_RETURN(std::optional<CheckpointState> state, ReadCheckpointState(directory));
  int shown = 0;
  if (state) {
    if (!options.as_json) std::printf("%zu checkpoints, the newest is %s\n", state->all_model_checkpoint_paths.size(), state->model_checkpoint_path.c_str());
    if (CheckpointExists(state->model_checkpoint_path)) RETURN_IF_ERROR(InspectCheckpoint(options, state->model_checkpoint_path));
    ++shown;
  }
  for (const std::string& name : names) {
    if (!absl::StrContains(name, "tfevents")) continue;
    RETURN_IF_ERROR(InspectEvents(options, JoinPath(directory, name)));
    ++shown;
  }
  if (shown == 0) return NotFound("directory ", directory, " has neither checkpoints nor event files");
  return OkStatus();
}

Status Inspect(const InspectOptions& options) {
  std::string path = options.path;
  if (IsDirectory(path)) return InspectDirectory(options, path);
  if (absl::EndsWith(path, ".index")) path.resize(path.size() - 6);
  if (FileExists(IndexFileName(path))) return InspectCheckpoint(options, path);
  if (!FileExists(path)) return NotFound("there is no directory, checkpoint, event file or graph ", options.path);
  if (absl::StrContains(BaseName(path), "tfevents")) return InspectEvents(options, path);
  return InspectGraph(options, path);
}

}  // namespace

void AddInspectCommand(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand("inspect", "show a checkpoint, an event file, a graph, or a directory of them, in words");
  command->add_option("path", options->path, "log directory, checkpoint prefix, event file, .meta or .pb file")->required();
  command->add_flag("--json", options->as_json, "one JSON line per tensor, tag or node");
  command->add_option("--values", options->values, "values shown per tensor; -1 for all")->capture_default_str();
  command->add_option("--tensor", options->tensor, "only this tensor of a checkpoint");
  command->callback([options, exit_code] {
    const Status status = Inspect(*options);
    if (status.ok()) return;
    std::fflush(stdout);  // what could be read comes first
    std::fprintf(stderr, "tandem inspect: %s\n", std::string(status.message()).c_str());
    *exit_code = 1;
  });
}

}  // namespace tandem
