// Regular expressions in RE2's syntax, as TensorFlow's: RegexReplace, RegexFullMatch, and both with the pattern in an attr.
#include <re2/re2.h>

#include <memory>
#include <string>

#include "core/mutex.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

StatusOr<std::shared_ptr<const RE2>> Compile(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_shared<const RE2>(pattern, options);
  if (!compiled->ok()) return InvalidArgument("Invalid pattern: ", pattern, ", error: ", compiled->error());
  return std::shared_ptr<const RE2>(std::move(compiled));
}

// The last pattern that a node was given, compiled: it rarely changes from step to step.
class PatternCache {
 public:
  StatusOr<std::shared_ptr<const RE2>> Get(const Tensor& pattern) {
    if (!pattern.shape().is_scalar()) return InvalidArgument("Pattern must be scalar, but received ", pattern.shape().ToString());
    const std::string& text = pattern.scalar<std::string>();
    MutexLock lock(&mu_);
    if (compiled_ != nullptr && compiled_->pattern() == text) return compiled_;
    ASSIGN_OR_RETURN(compiled_, Compile(text));
    return compiled_;
  }

 private:
  Mutex mu_;
  std::shared_ptr<const RE2> compiled_ ABSL_GUARDED_BY(mu_);
};

Status Replace(KernelContext& ctx, const RE2& pattern, const std::string& rewrite, bool is_global) {
  Tensor output = ctx.TakeInput(0);
  if (!output.is_unique()) output = output.Clone();
  std::string error;
  // A rewrite with a group that the pattern does not have leaves the text as it is.
  if (pattern.CheckRewriteString(rewrite, &error)) {
    for (std::string& text : output.mutable_values<std::string>()) {
      if (is_global) {
        RE2::GlobalReplace(&text, pattern, rewrite);
      } else {
        RE2::Replace(&text, pattern, rewrite);
      }
    }
  }
  ctx.set_output(0, std::move(output));
  return OkStatus();
}

Status FullMatch(KernelContext& ctx, const RE2& pattern) {
  const Tensor& input = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, input.shape()));
  bool* to = output->mutable_data<bool>();
  for (const std::string& text : input.values<std::string>()) *to++ = RE2::FullMatch(text, pattern);
  return OkStatus();
}

struct RegexReplace {
  explicit RegexReplace(const Attrs& attrs) : is_global(attrs.GetBool("replace_global")) {}

  Status Run(KernelContext& ctx) {
    ASSIGN_OR_RETURN(std::shared_ptr<const RE2> pattern, patterns.Get(ctx.input(1)));
    if (!ctx.input(2).shape().is_scalar()) return InvalidArgument("Rewrite must be scalar, but received ", ctx.input(2).shape().ToString());
    return Replace(ctx, *pattern, ctx.input(2).scalar<std::string>(), is_global);
  }

  bool is_global;
  PatternCache patterns;
};

struct RegexFullMatch {
  Status Run(KernelContext& ctx) {
    ASSIGN_OR_RETURN(std::shared_ptr<const RE2> pattern, patterns.Get(ctx.input(1)));
    return FullMatch(ctx, *pattern);
  }

  PatternCache patterns;
};

struct StaticPattern {
  explicit StaticPattern(const Attrs& attrs) {
    StatusOr<std::shared_ptr<const RE2>> compiled = Compile(attrs.GetString("pattern"));
    if (compiled.ok()) {
      pattern = *std::move(compiled);
    } else {
      attrs.Fail(compiled.status());
    }
  }
  std::shared_ptr<const RE2> pattern;
};

struct StaticRegexReplace : StaticPattern {
  explicit StaticRegexReplace(const Attrs& attrs) : StaticPattern(attrs), rewrite(attrs.GetString("rewrite")), is_global(attrs.GetBool("replace_global")) {}
  Status Run(KernelContext& ctx) const { return Replace(ctx, *pattern, rewrite, is_global); }
  std::string rewrite;
  bool is_global;
};

struct StaticRegexFullMatch : StaticPattern {
  using StaticPattern::StaticPattern;
  Status Run(KernelContext& ctx) const { return FullMatch(ctx, *pattern); }
};

DEFINE_OP("RegexReplace")
    .Input("input: string")
    .Input("pattern: string")
    .Input("rewrite: string")
    .Output("output: string")
    .Attr("replace_global: bool = true")
    .Shape(SameAsInput0)
    .Cpu(AnyType<RegexReplace>())
    .NoGradient();

DEFINE_OP("RegexFullMatch")
    .Input("input: string")
    .Input("pattern: string")
    .Output("output: bool")
    .Shape(SameAsInput0)
    .Cpu(AnyType<RegexFullMatch>())
    .NoGradient();

DEFINE_OP("StaticRegexReplace")
    .Input("input: string")
    .Output("output: string")
    .Attr("pattern: string")
    .Attr("rewrite: string")
    .Attr("replace_global: bool = true")
    .Shape(SameAsInput0)
    .Cpu(AnyType<StaticRegexReplace>())
    .NoGradient();

DEFINE_OP("StaticRegexFullMatch")
    .Input("input: string")
    .Output("output: bool")
    .Attr("pattern: string")
    .Shape(SameAsInput0)
    .Cpu(AnyType<StaticRegexFullMatch>())
    .NoGradient();

}  // namespace
}  // namespace tandem
