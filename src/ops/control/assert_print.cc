// Ops that talk to people: Assert, Print, PrintV2, StringFormat.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "core/log.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/control/summarize.h"

namespace tandem {
namespace {

struct Assert {
  explicit Assert(const Attrs& attrs) : summarize(attrs.GetInt("summarize")) {}

  Status Run(KernelContext& ctx) const {
    const Tensor& condition = ctx.input(0);
    if (!condition.shape().is_scalar()) return InvalidArgument("In[0] should be a scalar: ", condition.shape().ToString());
    if (condition.scalar<bool>()) return OkStatus();
    std::string message = "assertion failed: ";
    for (int i = 1; i < ctx.num_inputs(); ++i) {
      absl::StrAppend(&message, i > 1 ? " " : "", "[", SummarizeFront(ctx.input(i), summarize), "]");
    }
    return InvalidArgument(message);
  }

  int64_t summarize;
};

struct Print {
  explicit Print(const Attrs& attrs) : message(attrs.GetString("message")), first_n(attrs.GetInt("first_n")), summarize(attrs.GetInt("summarize")) {}

  Status Run(KernelContext& ctx) {
    if (first_n < 0 || printed.fetch_add(1, std::memory_order_relaxed) < first_n) {
      std::string line = message;
      for (int i = 1; i < ctx.num_inputs(); ++i) absl::StrAppend(&line, "[", SummarizeFront(ctx.input(i), summarize), "]");
      line += "\n";
      std::fwrite(line.data(), 1, line.size(), stderr);
    }
    ctx.set_output(0, ctx.TakeInput(0));
    return OkStatus();
  }

  const std::string message;
  const int64_t first_n, summarize;
  std::atomic<int64_t> printed{0};
};

Status PrintGradient(GradientScope& g) {
  std::vector<Output> gradients(g.num_inputs());
  gradients[0] = g.grad(0);
  return g.Return(gradients);
}

struct PrintV2 {
  explicit PrintV2(const Attrs& attrs) : stream(attrs.GetString("output_stream")), end(attrs.GetString("end")) {
    for (const char* known : {"stdout", "stderr", "log(info)", "log(warning)", "log(error)"}) {
      if (stream == known) return;
    }
    if (absl::StartsWith(stream, "file://") && stream.size() > 7) return;
    attrs.Fail(InvalidArgument("Unknown output stream: ", stream, ", Valid streams are: stdout stderr log(info) log(warning) log(error)"));
  }

  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    if (!input.shape().is_scalar()) return InvalidArgument("Input is expected to be scalar, but got ", input.shape().ToString());
    std::string text = input.scalar<std::string>() + end;
    if (stream == "log(info)") {
      LogInfo(text);
    } else if (stream == "log(warning)") {
      LogWarning(text);
    } else if (stream == "log(error)") {
      LogError(text);
    } else if (stream == "stdout") {
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
    } else if (stream == "stderr") {
      std::fwrite(text.data(), 1, text.size(), stderr);
    } else {
      return Append(stream.substr(7), text);
    }
    return OkStatus();
  }

  static Status Append(const std::string& path, const std::string& text) {
    std::FILE* file = std::fopen(path.c_str(), "ab");
    if (file == nullptr) return ErrnoToStatus(errno, path);
    bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    is_written = std::fclose(file) == 0 && is_written;
    return is_written ? OkStatus() : ErrnoToStatus(errno, path);
  }

  const std::string stream, end;
};

struct StringFormat {
  explicit StringFormat(const Attrs& attrs)
      : pieces(absl::StrSplit(attrs.GetString("template"), attrs.GetString("placeholder"))), summarize(attrs.GetInt("summarize")) {
    // An empty placeholder would split between all characters.
    if (attrs.GetString("placeholder").empty()) pieces = {attrs.GetString("template")};
    if (pieces.size() != attrs.input_types().size() + 1) {
      attrs.Fail(InvalidArgument("num placeholders in template and num inputs must match: ", pieces.size() - 1, " vs. ", attrs.input_types().size()));
    }
  }

  Status Run(KernelContext& ctx) const {
    std::string text = pieces[0];
    for (int i = 0; i < ctx.num_inputs(); ++i) absl::StrAppend(&text, SummarizeEnds(ctx.input(i), summarize), pieces[i + 1]);
    ctx.set_output(0, Tensor(std::move(text)));
    return OkStatus();
  }

  std::vector<std::string> pieces;
  int64_t summarize;
};

DEFINE_OP("Assert")
    .Input("condition: bool")
    .Input("data: T")
    .Attr("T: list(type) >= 1")
    .Attr("summarize: int = 3")
    .Stateful()
    .Shape(NoOutputs)
    .Cpu(AnyType<Assert>())
    .NoGradient();

DEFINE_OP("Print")
    .Input("input: T")
    .Input("data: U")
    .Output("output: T")
    .Attr("T: type")
    .Attr("U: list(type) >= 0")
    .Attr("message: string = ''")
    .Attr("first_n: int = -1")
    .Attr("summarize: int = 3")
    .Stateful()
    .Shape(SameAsInput0)
    .Cpu(AnyType<Print>())
    .Gradient(PrintGradient);

DEFINE_OP("PrintV2")
    .Input("input: string")
    .Attr("output_stream: string = 'stderr'")
    .Attr("end: string = '\n'")
    .Stateful()
    .Shape(NoOutputs)
    .Cpu(AnyType<PrintV2>())
    .NoGradient();

DEFINE_OP("StringFormat")
    .Input("inputs: T")
    .Output("output: string")
    .Attr("T: list(type) >= 0")
    .Attr("template: string = '%s'")
    .Attr("placeholder: string = '%s'")
    .Attr("summarize: int = 3")
    .Shape(ScalarOutputs)
    .Cpu(AnyType<StringFormat>())
    .NoGradient();

}  // namespace
}  // namespace tandem
