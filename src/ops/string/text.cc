// StringLength, StringStrip, StringLower, StringUpper, Substr.
#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/string/utf8.h"

namespace tandem {
namespace {

struct StringLength {
  explicit StringLength(const Attrs& attrs) : is_utf8(attrs.GetString("unit") == "UTF8_CHAR") {}

  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, input.shape()));
    int32_t* to = output->mutable_data<int32_t>();
    for (const std::string& text : input.values<std::string>()) {
      *to++ = is_utf8 ? static_cast<int32_t>(CountCharacters(text)) : static_cast<int32_t>(text.size());
    }
    return OkStatus();
  }

  bool is_utf8;
};

template <typename F>
Status ForEachString(KernelContext& ctx, F change) {
  Tensor output = ctx.TakeInput(0);
  if (!output.is_unique()) output = output.Clone();
  for (std::string& text : output.mutable_values<std::string>()) change(&text);
  ctx.set_output(0, std::move(output));
  return OkStatus();
}

struct StringStrip {
  Status Run(KernelContext& ctx) const { return ForEachString(ctx, [](std::string* text) { absl::StripAsciiWhitespace(text); }); }
};

// Case of all letters that have one in Unicode; the C library knows them in any UTF-8 locale.
std::string ChangeUtf8Case(absl::string_view text, bool is_upper) {
  static const locale_t kUtf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  std::string changed;
  while (!text.empty()) {
    int size;
    char32_t code_point = DecodeFront(text, &size);
    text.remove_prefix(static_cast<size_t>(size));
    if (is_upper && code_point == 0xdf) {
      changed += "SS";  // the one common letter whose upper case is two letters
    } else if (kUtf8 == nullptr) {
      AppendUtf8(code_point, &changed);
    } else {
      wint_t letter = static_cast<wint_t>(code_point);
      AppendUtf8(static_cast<char32_t>(is_upper ? towupper_l(letter, kUtf8) : towlower_l(letter, kUtf8)), &changed);
    }
  }
  return changed;
}

struct StringCase {
  explicit StringCase(const Attrs& attrs) : is_upper(attrs.op() == "StringUpper"), is_utf8(attrs.GetString("encoding") == "utf-8") {
    if (!is_utf8 && !attrs.GetString("encoding").empty()) {
      attrs.Fail(InvalidArgument("only utf-8 or '' (no encoding) is supported, received ", attrs.GetString("encoding")));
    }
  }

  Status Run(KernelContext& ctx) const {
    return ForEachString(ctx, [this](std::string* text) {
      if (is_utf8) {
        *text = ChangeUtf8Case(*text, is_upper);
      } else if (is_upper) {
        absl::AsciiStrToUpper(text);
      } else {
        absl::AsciiStrToLower(text);
      }
    });
  }

  bool is_upper, is_utf8;
};

// Characters [pos, pos + length) of `text`, in bytes or UTF-8; a negative pos counts from the end, a negative length of bytes has no end.
// False if pos is out of range.
bool Cut(absl::string_view text, int64_t pos, int64_t length, bool is_utf8, absl::string_view* cut) {
  int64_t size = is_utf8 ? CountCharacters(text) : static_cast<int64_t>(text.size());
  if (pos < 0) pos += size;
  if (pos < 0 || pos > size) return false;
  if (is_utf8) length = std::max<int64_t>(length, 0);
  int64_t end = length < 0 || length > size - pos ? size : pos + length;
  auto byte_of = [&](int64_t character) {
    if (!is_utf8) return static_cast<size_t>(character);
    if (character == 0) return size_t{0};
    size_t i = 0;
    int64_t seen = 0;
    for (; i < text.size(); ++i) {
      if (BeginsCharacter(text[i]) && seen++ == character) break;
    }
    return i;
  };
  size_t first = byte_of(pos);
  *cut = text.substr(first, byte_of(end) - first);
  return true;
}

struct Substr {
  explicit Substr(const Attrs& attrs) : is_utf8(attrs.GetString("unit") == "UTF8_CHAR") {}

  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor &input = ctx.input(0), &pos = ctx.input(1), &length = ctx.input(2);
    if (pos.shape() != length.shape()) {
      return InvalidArgument("pos and len should have the same shape, got: ", pos.shape().ToString(), " vs. ", length.shape().ToString());
    }
    StatusOr<PartialShape> broadcast = BroadcastShapes(input.shape(), pos.shape());
    if (!broadcast.ok()) return InvalidArgument("Incompatible shapes: ", input.shape().ToString(), " vs. ", pos.shape().ToString());
    Shape shape = broadcast->ToShape();
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    std::string* to = output->mutable_data<std::string>();
    std::vector<int64_t> input_steps = Steps(input.shape(), shape), pos_steps = Steps(pos.shape(), shape);
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      int64_t from = 0, at = 0, rest = i;
      for (int k = shape.rank() - 1; k >= 0; --k) {
        from += rest % shape.dim(k) * input_steps[k];
        at += rest % shape.dim(k) * pos_steps[k];
        rest /= shape.dim(k);
      }
      const std::string& text = input.data<std::string>()[from];
      absl::string_view cut;
      if (!Cut(text, pos.data<T>()[at], length.data<T>()[at], is_utf8, &cut)) {
        return is_utf8 ? InvalidArgument("pos ", pos.data<T>()[at], " out of range for string at index ", i)
                       : InvalidArgument("pos ", pos.data<T>()[at], " out of range for string b'", text, "' at index ", i);
      }
      to[i] = std::string(cut);
    }
    return OkStatus();
  }

  // How far one goes in a tensor of shape `from` for one step along each dimension of `to`, to which it is broadcast.
  static std::vector<int64_t> Steps(const Shape& from, const Shape& to) {
    std::vector<int64_t> steps(to.rank(), 0);
    int64_t stride = 1;
    for (int i = from.rank() - 1; i >= 0; --i) {
      if (from.dim(i) != 1) steps[i + to.rank() - from.rank()] = stride;
      stride *= from.dim(i);
    }
    return steps;
  }

  bool is_utf8;
};

DEFINE_OP("StringLength")
    .Input("input: string")
    .Output("output: int32")
    .Attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
    .Shape(SameAsInput0)
    .Cpu(AnyType<StringLength>())
    .NoGradient();

DEFINE_OP("StringStrip").Input("input: string").Output("output: string").Shape(SameAsInput0).Cpu(AnyType<StringStrip>()).NoGradient();

DEFINE_OP("StringLower")
    .Input("input: string")
    .Output("output: string")
    .Attr("encoding: string = ''")
    .Shape(SameAsInput0)
    .Cpu(AnyType<StringCase>())
    .NoGradient();

DEFINE_OP("StringUpper")
    .Input("input: string")
    .Output("output: string")
    .Attr("encoding: string = ''")
    .Shape(SameAsInput0)
    .Cpu(AnyType<StringCase>())
    .NoGradient();

DEFINE_OP("Substr")
    .Input("input: string")
    .Input("pos: T")
    .Input("len: T")
    .Output("output: string")
    .Attr("T: IDX")
    .Attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
    .Shape(Broadcast)
    .Cpu(ForTypes<Substr, int32_t, int64_t>())
    .NoGradient();

}  // namespace
}  // namespace tandem
