// ReadFile, WriteFile, MatchingFiles.
#include <fnmatch.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "core/file.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/io/arguments.h"

namespace tandem {
namespace {

Status CheckScalar(const Tensor& tensor, absl::string_view name) {
  if (tensor.shape().is_scalar()) return OkStatus();
  return InvalidArgument("Input ", name, " tensor must be scalar, but had shape: ", tensor.shape().ToString());
}

struct ReadFile {
  Status Run(KernelContext& ctx) const {
    RETURN_IF_ERROR(CheckScalar(ctx.input(0), "filename"));
    ASSIGN_OR_RETURN(std::string contents, ReadWholeFile(ctx.input(0).scalar<std::string>()));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, Shape()));
    *output->mutable_data<std::string>() = std::move(contents);
    return OkStatus();
  }
};

struct WriteFile {
  Status Run(KernelContext& ctx) const {
    RETURN_IF_ERROR(CheckScalar(ctx.input(0), "filename"));
    RETURN_IF_ERROR(CheckScalar(ctx.input(1), "contents"));
    const std::string& path = ctx.input(0).scalar<std::string>();
    RETURN_IF_ERROR(CreateDirectories(DirectoryOf(path)));
    return WriteWholeFile(path, ctx.input(1).scalar<std::string>());
  }
};

bool IsPattern(absl::string_view text) { return text.find_first_of("*?[\\") != absl::string_view::npos; }

// Files under `directory` that match parts[at..]: a part is a name, or a pattern that does not match a slash.
void AddMatches(const std::string& directory, const std::vector<std::string>& parts, size_t at, std::vector<std::string>* found) {
  bool is_last = at + 1 >= parts.size();
  auto go_on = [&](const std::string& name) {
    std::string path = JoinPath(directory, name);
    if (is_last) {
      if (FileExists(path)) found->push_back(std::move(path));
    } else if (IsDirectory(path)) {
      AddMatches(path, parts, at + 1, found);
    }
  };
  if (!IsPattern(parts[at])) return go_on(parts[at]);
  StatusOr<std::vector<std::string>> names = ListDirectory(directory);
  if (!names.ok()) return;  // what cannot be listed matches nothing, as in a shell
  for (const std::string& name : *names) {
    if (fnmatch(parts[at].c_str(), name.c_str(), 0) == 0) go_on(name);
  }
}

struct MatchingFiles {
  Status Run(KernelContext& ctx) const {
    const Tensor& patterns = ctx.input(0);
    if (patterns.shape().rank() > 1) return InvalidArgument("Input patterns tensor must be scalar or vector, but had shape: ", patterns.shape().ToString());
    std::vector<std::string> found;
    for (const std::string& pattern : patterns.values<std::string>()) {
      if (!IsPattern(pattern)) {
        if (!pattern.empty() && FileExists(pattern)) found.push_back(pattern);
        continue;
      }
      std::vector<std::string> parts = absl::StrSplit(pattern, '/', absl::SkipEmpty());
      AddMatches(pattern.front() == '/' ? "/" : "", parts, 0, &found);
    }
    std::sort(found.begin(), found.end());
    ASSIGN_OR_RETURN(Tensor* names, ctx.Allocate(0, {static_cast<int64_t>(found.size())}));
    std::move(found.begin(), found.end(), names->mutable_data<std::string>());
    return OkStatus();
  }
};

Status ReadFileShape(ShapeContext& ctx) {
  RETURN_IF_ERROR(RequireRank(ctx, 0, 0));
  return ScalarOutputs(ctx);
}

Status WriteFileShape(ShapeContext& ctx) {
  RETURN_IF_ERROR(RequireRank(ctx, 0, 0));
  return RequireRank(ctx, 1, 0);
}

Status VectorOutput(ShapeContext& ctx) {
  ctx.set_output(0, PartialShape::UnknownOfRank(1));
  return OkStatus();
}

DEFINE_OP("ReadFile").Input("filename: string").Output("contents: string").Shape(ReadFileShape).Cpu(AnyType<ReadFile>()).NoGradient();

DEFINE_OP("WriteFile").Input("filename: string").Input("contents: string").Stateful().Shape(WriteFileShape).Cpu(AnyType<WriteFile>()).NoGradient();

DEFINE_OP("MatchingFiles").Input("pattern: string").Output("filenames: string").Shape(VectorOutput).Cpu(AnyType<MatchingFiles>()).NoGradient();

}  // namespace
}  // namespace tandem
