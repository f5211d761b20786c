// Every registered op is defined as TensorFlow 2.21 defines it (golden/ops.json.gz, exported from its registry).
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "graph/op.h"
#include "nlohmann/json.hpp"

namespace tandem {
namespace {

using Json = nlohmann::json;

std::string ReadGzip(const std::string& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return text;
  char block[1 << 16];
  for (int count; (count = gzread(file, block, sizeof block)) > 0;) text.append(block, count);
  gzclose(file);
  return text;
}

const std::map<std::string, Json>& Definitions() {
  static const auto* const by_name = [] {
    auto* made = new std::map<std::string, Json>;
    Json file = Json::parse(ReadGzip(std::string(TANDEM_GOLDEN_DIR) + "/ops.json.gz"), nullptr, /*allow_exceptions=*/false);
    if (file.is_discarded()) return made;
    for (Json& op : file["ops"]) {
      std::string name = op["name"];
      (*made)[name] = std::move(op);
    }
    return made;
  }();
  return *by_name;
}

// ---- both sides as the same lines of text ----

std::string TypeText(DataType type) { return DataTypeName(type); }
std::string FloatText(double value) { return absl::StrFormat("%.9g", static_cast<float>(value)); }
std::string ShapeText(const PartialShape& shape) { return shape.ToString(); }
std::string Quoted(const std::string& text) { return absl::StrCat("'", text, "'"); }

struct DefaultText {
  std::string operator()(const std::string& v) const { return Quoted(v); }
  std::string operator()(int64_t v) const { return absl::StrCat(v); }
  std::string operator()(float v) const { return FloatText(v); }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(DataType v) const { return TypeText(v); }
  std::string operator()(const PartialShape& v) const { return ShapeText(v); }
  std::string operator()(const Tensor& v) const { return v.ToString(100); }
  template <typename T>
  std::string operator()(const std::vector<T>& list) const {
    std::vector<std::string> texts;
    for (const auto& v : list) texts.push_back((*this)(static_cast<T>(v)));
    return absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
  }
};

std::string JsonDefault(const std::string& type, const Json& value) {
  if (value.is_array() && type != "shape") {
    std::vector<std::string> texts;
    for (const Json& item : value) texts.push_back(JsonDefault(type.substr(5, type.size() - 6), item));
    return absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
  }
  if (type == "string") return Quoted(value);
  if (type == "int") return absl::StrCat(value.get<int64_t>());
  if (type == "float") return FloatText(value);
  if (type == "bool") return value.get<bool>() ? "true" : "false";
  if (type == "type") return TypeText(DataTypeFromName(value.get<std::string>()));
  if (type == "shape") return value.is_null() ? ShapeText(PartialShape()) : ShapeText(PartialShape(value.get<std::vector<int64_t>>()));
  if (type == "tensor" && value["dtype"] == "DT_UINT8") {
    return Tensor::Of<uint8_t>(Shape(value["shape"].get<std::vector<int64_t>>()), value["values"].get<std::vector<uint8_t>>()).ToString(100);
  }
  return "a default of type " + type;
}

std::string ArgText(const char* side, const ArgDef& arg) {
  std::string type = !arg.type_list_attr.empty() ? arg.type_list_attr : !arg.type_attr.empty() ? arg.type_attr : TypeText(arg.type);
  if (arg.is_ref) type = absl::StrCat("Ref(", type, ")");
  return absl::StrCat(side, " ", arg.name, ": ", arg.number_attr.empty() ? "" : arg.number_attr + " * ", type);
}

std::string ArgText(const char* side, const Json& arg) {
  std::string type = arg.contains("type_list_attr") ? arg["type_list_attr"].get<std::string>()
                     : arg.contains("type_attr")    ? arg["type_attr"].get<std::string>()
                                                    : TypeText(DataTypeFromName(arg["type"].get<std::string>()));
  if (arg.value("is_ref", false)) type = absl::StrCat("Ref(", type, ")");
  return absl::StrCat(side, " ", arg["name"].get<std::string>(), ": ", arg.contains("number_attr") ? arg["number_attr"].get<std::string>() + " * " : "", type);
}

std::string AttrText(const AttrDef& attr) {
  std::string text = absl::StrCat("attr ", attr.name, ": ", attr.type);
  std::vector<std::string> allowed;
  for (DataType type : attr.allowed_types) allowed.push_back(TypeText(type));
  for (const std::string& value : attr.allowed_strings) allowed.push_back(Quoted(value));
  std::sort(allowed.begin(), allowed.end());
  if (!allowed.empty()) absl::StrAppend(&text, " {", absl::StrJoin(allowed, ", "), "}");
  if (attr.has_minimum) absl::StrAppend(&text, " >= ", attr.minimum);
  if (attr.has_default) absl::StrAppend(&text, " = ", std::visit(DefaultText(), attr.default_value));
  return text;
}

std::string AttrText(const Json& attr) {
  const std::string type = attr["type"];
  std::string text = absl::StrCat("attr ", attr["name"].get<std::string>(), ": ", type);
  std::vector<std::string> allowed;
  for (const Json& value : attr.value("allowed", Json::array())) {
    const std::string name = value;
    allowed.push_back(type == "string" || type == "list(string)" ? Quoted(name) : TypeText(DataTypeFromName(name)));
  }
  std::sort(allowed.begin(), allowed.end());
  allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());  // Mod lists half twice
  if (!allowed.empty()) absl::StrAppend(&text, " {", absl::StrJoin(allowed, ", "), "}");
  if (attr.contains("minimum")) absl::StrAppend(&text, " >= ", attr["minimum"].get<int64_t>());
  if (attr.contains("default")) absl::StrAppend(&text, " = ", JsonDefault(type, attr["default"]));
  return text;
}

std::string Join(const std::vector<std::string>& ordered, std::vector<std::string> attrs, bool stateful, bool commutative, bool aggregate, bool uninitialized) {
  std::sort(attrs.begin(), attrs.end());
  return absl::StrCat(absl::StrJoin(ordered, "\n"), "\n", absl::StrJoin(attrs, "\n"), stateful ? "\nstateful" : "", commutative ? "\ncommutative" : "",
                      aggregate ? "\naggregate" : "", uninitialized ? "\nallows uninitialized input" : "");
}

std::string Text(const OpDef& op) {
  std::vector<std::string> args, attrs;
  for (const ArgDef& arg : op.inputs) args.push_back(ArgText("input", arg));
  for (const ArgDef& arg : op.outputs) args.push_back(ArgText("output", arg));
  for (const AttrDef& attr : op.attrs) attrs.push_back(AttrText(attr));
  return Join(args, attrs, op.is_stateful, op.is_commutative, op.is_aggregate, op.allows_uninitialized_input);
}

std::string Text(const Json& op) {
  std::vector<std::string> args, attrs;
  for (const Json& arg : op["inputs"]) args.push_back(ArgText("input", arg));
  for (const Json& arg : op["outputs"]) args.push_back(ArgText("output", arg));
  for (const Json& attr : op["attrs"]) attrs.push_back(AttrText(attr));
  return Join(args, attrs, op.value("is_stateful", false), op.value("is_commutative", false), op.value("is_aggregate", false),
              op.value("allows_uninitialized_input", false));
}

TEST(OpDefinitions, EqualTensorFlow) {
  ASSERT_FALSE(Definitions().empty()) << "cannot read ops.json.gz";
  ASSERT_FALSE(RegisteredOps().empty());
  for (const Op* op : RegisteredOps()) {
    auto found = Definitions().find(op->def.name);
    if (found == Definitions().end()) {
      ADD_FAILURE() << op->def.name << " is not an op of ops.json.gz";
      continue;
    }
    EXPECT_EQ(Text(op->def), Text(found->second)) << op->def.name;
  }
}

// Not a claim but a help: run with --gtest_also_run_disabled_tests to see what is left.
TEST(OpDefinitions, DISABLED_ListMissingOps) {
  std::map<int, std::vector<std::string>> missing;
  for (const auto& [name, op] : Definitions()) {
    if (FindOp(name) == nullptr) missing[op["tier"].get<int>()].push_back(name);
  }
  for (const auto& [tier, names] : missing) std::cout << "tier " << tier << ": " << absl::StrJoin(names, " ") << "\n";
}

}  // namespace
}  // namespace tandem
