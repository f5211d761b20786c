#include "graph/op_spec.h"

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/log.h"

namespace tandem {
namespace {

struct TypeSet {
  absl::string_view name;
  std::vector<DataType> types;
};

// Specification, section 6.
const std::vector<TypeSet>& TypeSets() {
  static const auto* sets = new std::vector<TypeSet>{
      {"IDX", {kInt32, kInt64}},
      {"FLT", {kHalf, kBfloat16, kFloat, kDouble}},
      {"F3", {kHalf, kBfloat16, kFloat}},
      {"FC", {kHalf, kBfloat16, kFloat, kDouble, kComplex64, kComplex128}},
      {"REAL", {kFloat, kDouble, kInt32, kUint8, kInt16, kInt8, kInt64, kBfloat16, kUint16, kHalf, kUint32, kUint64}},
      {"ARITH", {kFloat, kDouble, kInt32, kUint8, kInt16, kInt8, kInt64, kBfloat16, kUint16, kHalf, kUint32, kUint64, kComplex64, kComplex128}},
      {"NUM",
       {kFloat, kDouble, kInt32, kUint8, kInt16, kInt8, kInt64, kBfloat16, kUint16, kHalf, kUint32, kUint64, kComplex64, kComplex128, kQint8, kQuint8, kQint16,
        kQuint16, kQint32}},
      {"EX", {kFloat, kInt64, kString}},
  };
  return *sets;
}

// Reads one spec from left to right.
class Reader {
 public:
  Reader(absl::string_view what, absl::string_view spec) : what_(what), whole_(spec), rest_(spec) {}

  bool Accept(absl::string_view token) {
    Skip();
    return absl::ConsumePrefix(&rest_, token);
  }
  void Expect(absl::string_view token) {
    if (!Accept(token)) Fail(absl::StrCat("expected '", token, "'"));
  }
  bool at_end() {
    Skip();
    return rest_.empty();
  }
  // Letters, digits, underscores.
  std::string Word() {
    Skip();
    size_t n = 0;
    while (n < rest_.size() && (absl::ascii_isalnum(rest_[n]) || rest_[n] == '_')) ++n;
    if (n == 0) Fail("expected a name");
    std::string word(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return word;
  }
  bool PeekIs(char c) {
    Skip();
    return !rest_.empty() && rest_[0] == c;
  }
  // Up to one of `stops` outside of brackets and quotes.
  std::string Until(absl::string_view stops) {
    Skip();
    int depth = 0;
    char quote = 0;
    size_t n = 0;
    for (; n < rest_.size(); ++n) {
      const char c = rest_[n];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (depth == 0 && stops.find(c) != absl::string_view::npos) {
        break;
      } else if (c == '[' || c == '{' || c == '<') {
        ++depth;
      } else if (c == ']' || c == '}' || c == '>') {
        --depth;
      }
    }
    std::string text(absl::StripAsciiWhitespace(rest_.substr(0, n)));
    rest_.remove_prefix(n);
    return text;
  }
  [[noreturn]] void Fail(absl::string_view problem) { FatalSpec(what_, whole_, problem); }

 private:
  void Skip() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }
  absl::string_view what_, whole_, rest_;
};

std::string Unquoted(Reader& reader, absl::string_view text) {
  if (text.size() < 2 || text.front() != text.back() || (text.front() != '\'' && text.front() != '"')) reader.Fail("expected a quoted string");
  return std::string(text.substr(1, text.size() - 2));
}

std::vector<std::string> Items(Reader& reader, absl::string_view list, char open, char close) {
  if (list.size() < 2 || list.front() != open || list.back() != close) reader.Fail("expected a list");
  std::vector<std::string> items;
  Reader inside("list", list.substr(1, list.size() - 2));
  while (!inside.at_end()) {
    items.push_back(inside.Until(","));
    inside.Accept(",");
  }
  return items;
}

DataType ParseType(Reader& reader, absl::string_view name) {
  const DataType type = DataTypeFromName(name);
  if (type == kInvalid) reader.Fail(absl::StrCat("there is no type ", name));
  return type;
}

// "{float, double}", "FLT", or a union with +.
std::vector<DataType> ParseTypeSet(Reader& reader) {
  std::vector<DataType> types;
  do {
    if (reader.Accept("{")) {
      while (!reader.Accept("}")) {
        types.push_back(ParseType(reader, reader.Word()));
        reader.Accept(",");
      }
      continue;
    }
    const std::string name = reader.Word();
    bool is_found = false;
    for (const TypeSet& set : TypeSets()) {
      if (set.name != name) continue;
      types.insert(types.end(), set.types.begin(), set.types.end());
      is_found = true;
    }
    if (!is_found) reader.Fail(absl::StrCat("there is no set of types ", name));
  } while (reader.Accept("+"));
  return types;
}

template <typename T, typename Parse>
std::vector<T> ParseList(Reader& reader, absl::string_view text, Parse parse) {
  std::vector<T> values;
  for (const std::string& item : Items(reader, text, '[', ']')) values.push_back(parse(item));
  return values;
}

AttrValue ParseDefault(Reader& reader, absl::string_view type, absl::string_view text) {
  auto as_int = [&](absl::string_view item) {
    int64_t value = 0;
    if (!absl::SimpleAtoi(item, &value)) reader.Fail("expected a whole number");
    return value;
  };
  auto as_float = [&](absl::string_view item) {
    float value = 0;
    if (!absl::SimpleAtof(item, &value)) reader.Fail("expected a number");
    return value;
  };
  auto as_bool = [&](absl::string_view item) {
    if (item != "true" && item != "false") reader.Fail("expected true or false");
    return item == "true";
  };
  auto as_shape = [&](absl::string_view item) {
    if (item == "<unknown>") return PartialShape();
    std::vector<int64_t> sizes;
    for (const std::string& size : Items(reader, item, '[', ']')) sizes.push_back(size == "?" ? kUnknownSize : as_int(size));
    return PartialShape(absl::MakeConstSpan(sizes));
  };
  auto as_type = [&](absl::string_view item) { return ParseType(reader, item); };
  auto as_string = [&](absl::string_view item) { return Unquoted(reader, item); };
  if (type == "int") return as_int(text);
  if (type == "float") return as_float(text);
  if (type == "bool") return as_bool(text);
  if (type == "shape") return as_shape(text);
  if (type == "type") return as_type(text);
  if (type == "string") return as_string(text);
  if (type == "list(int)") return ParseList<int64_t>(reader, text, as_int);
  if (type == "list(float)") return ParseList<float>(reader, text, as_float);
  if (type == "list(bool)") return ParseList<bool>(reader, text, as_bool);
  if (type == "list(shape)") return ParseList<PartialShape>(reader, text, as_shape);
  if (type == "list(type)") return ParseList<DataType>(reader, text, as_type);
  if (type == "list(string)") return ParseList<std::string>(reader, text, as_string);
  if (type == "tensor") {
    // "uint8 [255,0,0,255]"
    Reader inside("tensor", text);
    const std::string element = inside.Word();
    std::vector<int64_t> values = ParseList<int64_t>(reader, inside.Until(""), as_int);
    if (element != "uint8") reader.Fail("only uint8 tensors can be defaults");
    Tensor tensor(kUint8, Shape{static_cast<int64_t>(values.size())});
    for (size_t i = 0; i < values.size(); ++i) tensor.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(values[i]);
    return tensor;
  }
  reader.Fail(absl::StrCat("an attr of type ", type, " cannot have a default here"));
}

AttrDef ParseAttr(absl::string_view spec) {
  Reader reader("attr", spec);
  AttrDef attr;
  attr.name = reader.Word();
  reader.Expect(":");
  bool is_list = false;
  if (reader.Accept("list(")) is_list = true;
  static const absl::string_view kPlainTypes[] = {"int", "float", "bool", "string", "shape", "tensor", "func", "type"};
  if (reader.PeekIs('{')) {
    std::string text = reader.Until("=>)+");
    if (text.find('\'') != std::string::npos || text.find('"') != std::string::npos) {
      attr.type = "string";
      for (const std::string& item : Items(reader, text, '{', '}')) attr.allowed_strings.push_back(Unquoted(reader, item));
    } else {
      attr.type = "type";
      Reader set("attr", text);
      attr.allowed_types = ParseTypeSet(set);
      if (reader.Accept("+")) {
        std::vector<DataType> more = ParseTypeSet(reader);
        attr.allowed_types.insert(attr.allowed_types.end(), more.begin(), more.end());
      }
    }
  } else {
    bool is_plain = false;
    for (absl::string_view type : kPlainTypes) {
      if (!reader.Accept(type)) continue;
      attr.type = std::string(type);
      is_plain = true;
      break;
    }
    if (!is_plain) {
      attr.type = "type";
      attr.allowed_types = ParseTypeSet(reader);
    }
  }
  if (is_list) {
    reader.Expect(")");
    attr.type = absl::StrCat("list(", attr.type, ")");
  }
  if (reader.Accept(">=")) {
    attr.has_minimum = true;
    if (!absl::SimpleAtoi(reader.Until("="), &attr.minimum)) reader.Fail("expected a minimum");
  }
  if (reader.Accept("=")) {
    attr.has_default = true;
    attr.default_value = ParseDefault(reader, attr.type, reader.Until(""));
  }
  if (!reader.at_end()) reader.Fail("unexpected text at the end");
  return attr;
}

ArgDef ParseArg(absl::string_view spec, const std::vector<AttrDef>& attrs) {
  Reader reader("argument", spec);
  ArgDef arg;
  arg.name = reader.Word();
  reader.Expect(":");
  auto attr_type = [&](absl::string_view name) -> absl::string_view {
    for (const AttrDef& attr : attrs) {
      if (attr.name == name) return attr.type;
    }
    return "";
  };
  std::string type;
  if (reader.Accept("Ref(")) {
    arg.is_ref = true;
    type = reader.Word();
    reader.Expect(")");
  } else {
    type = reader.Word();
  }
  if (attr_type(type) == "int") {
    arg.number_attr = type;
    reader.Expect("*");
    arg.is_ref = reader.Accept("Ref(");
    type = reader.Word();
    if (arg.is_ref) reader.Expect(")");
  }
  if (attr_type(type) == "type") {
    arg.type_attr = type;
  } else if (attr_type(type) == "list(type)") {
    arg.type_list_attr = type;
  } else {
    arg.type = ParseType(reader, type);
  }
  if (!reader.at_end()) reader.Fail("unexpected text at the end");
  return arg;
}

}  // namespace

OpDef ParseOpDef(absl::string_view name, const std::vector<const char*>& inputs, const std::vector<const char*>& outputs,
                 const std::vector<const char*>& attrs) {
  OpDef op;
  op.name = std::string(name);
  for (const char* spec : attrs) op.attrs.push_back(ParseAttr(spec));
  for (const char* spec : inputs) op.inputs.push_back(ParseArg(spec, op.attrs));
  for (const char* spec : outputs) op.outputs.push_back(ParseArg(spec, op.attrs));
  return op;
}

void FatalSpec(absl::string_view what, absl::string_view spec, absl::string_view problem) {
  LogError("wrong op definition: ", what, " \"", spec, "\": ", problem);
  std::abort();
}

}  // namespace tandem
