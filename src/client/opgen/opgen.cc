// Writes tandem/raw_ops.h and raw_ops_<n>.cc: a C++ function for each registered op.
//
//   opgen <directory> <number of .cc files>
//
// Inputs come first, then attrs that have no default and that the inputs do not imply, then a struct with the others, then the
// name. An op with one output returns an Output (or an OutputList), one with more a struct of them, one with none an Operation.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "graph/op.h"

namespace tandem {
namespace {

const std::set<std::string> kReserved = {
    "alignas", "and",     "auto",     "bool",   "break",    "case",   "catch",  "char",     "class",    "concept", "const",  "continue", "default", "delete",
    "do",      "double",  "else",     "enum",   "explicit", "export", "extern", "false",    "float",    "for",     "friend", "goto",     "if",      "inline",
    "int",     "long",    "mutable",  "new",    "not",      "or",     "private", "protected", "public", "register", "return", "short",   "signed",  "sizeof",
    "static",  "struct",  "switch",   "template", "this",   "throw",  "true",   "try",      "typedef",  "union",   "unsigned", "using",  "virtual", "void",
    "volatile", "while",  "xor",
    // Parameters of every function.
    "name", "attrs", "graph", "operation"};

std::string Identifier(const std::string& name) { return kReserved.contains(name) ? name + "_" : name; }

// The C++ type of an attr; empty for functions, which C++ programs cannot define.
std::string CppType(const std::string& type) {
  static const std::map<std::string, std::string> kTypes = {{"string", "std::string"}, {"int", "int64_t"},         {"float", "float"},        {"bool", "bool"},
                                                            {"type", "DataType"},      {"shape", "PartialShape"}, {"tensor", "::tandem::Tensor"}};
  auto plain = kTypes.find(type);
  if (plain != kTypes.end()) return plain->second;
  if (type.starts_with("list(")) {
    auto element = kTypes.find(type.substr(5, type.size() - 6));
    if (element != kTypes.end()) return absl::StrCat("std::vector<", element->second, ">");
  }
  return "";
}

// What a constructor of that type needs to give the default value.
struct Literal {
  std::string operator()(const std::string& value) const { return absl::StrCat("\"", absl::CEscape(value), "\""); }
  std::string operator()(int64_t value) const { return value == INT64_MIN ? "INT64_MIN" : absl::StrCat(value); }
  std::string operator()(float value) const {
    std::string digits = absl::StrFormat("%.9g", value);
    if (digits.find_first_of(".einf") == std::string::npos) digits += ".0";
    return digits.find('n') != std::string::npos ? "std::numeric_limits<float>::infinity()" : digits + "f";
  }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(DataType value) const { return absl::StrCat("static_cast<DataType>(", static_cast<int>(value), ")"); }
  std::string operator()(const PartialShape& value) const {
    if (!value.has_rank()) return "PartialShape()";
    if (value.rank() == 0) return "PartialShape::Scalar()";
    return absl::StrCat("PartialShape({", absl::StrJoin(value.dims(), ", "), "})");
  }
  std::string operator()(const Tensor&) const { return "::tandem::Tensor()"; }
  template <typename T>
  std::string operator()(const std::vector<T>& values) const {
    std::vector<std::string> literals;
    for (const T& value : values) literals.push_back((*this)(value));
    return absl::StrCat("{", absl::StrJoin(literals, ", "), "}");
  }
};

bool IsList(const ArgDef& arg) { return !arg.number_attr.empty() || !arg.type_list_attr.empty(); }

// Everything about one op's function.
struct OpFunction {
  const OpDef& def;
  std::vector<const AttrDef*> required, optional;
  bool takes_graph;

  explicit OpFunction(const OpDef& op) : def(op), takes_graph(op.inputs.empty()) {
    std::set<std::string> implied;
    for (const ArgDef& input : op.inputs) implied.insert({input.type_attr, input.number_attr, input.type_list_attr});
    for (const AttrDef& attr : op.attrs) {
      if (!implied.contains(attr.name)) (attr.has_default ? optional : required).push_back(&attr);
    }
  }

  bool IsPossible() const {
    if (def.name[0] == '_') return false;  // for the runtime alone
    for (const AttrDef* attr : required) {
      if (CppType(attr->type).empty()) return false;
    }
    return true;
  }

  std::string AttrsStruct() const { return def.name + "Attrs"; }
  bool HasAttrs() const {
    for (const AttrDef* attr : optional) {
      if (!CppType(attr->type).empty()) return true;
    }
    return false;
  }

  std::string ResultType() const {
    if (def.outputs.empty()) return "Operation";
    if (def.outputs.size() > 1) return def.name + "Outputs";
    return IsList(def.outputs[0]) ? "OutputList" : "Output";
  }

  std::string Parameters(bool with_defaults) const {
    std::vector<std::string> parts;
    if (takes_graph) parts.push_back("Graph& graph");
    for (const ArgDef& input : def.inputs) parts.push_back(absl::StrCat("const ", IsList(input) ? "OutputList& " : "Output& ", Identifier(input.name)));
    for (const AttrDef* attr : required) {
      const std::string type = CppType(attr->type);
      const bool is_small = type == "int64_t" || type == "float" || type == "bool" || type == "DataType";
      parts.push_back(absl::StrCat(is_small ? type : absl::StrCat("const ", type, "&"), " ", AttrName(*attr)));
    }
    if (HasAttrs()) parts.push_back(absl::StrCat("const ", AttrsStruct(), "& attrs", with_defaults ? " = {}" : ""));
    parts.push_back(absl::StrCat("absl::string_view name", with_defaults ? " = {}" : ""));
    return absl::StrJoin(parts, ", ");
  }

  // An attr and an input may have the same name.
  std::string AttrName(const AttrDef& attr) const {
    for (const ArgDef& input : def.inputs) {
      if (input.name == attr.name) return attr.name + "_attr";
    }
    return Identifier(attr.name);
  }

  void WriteHeader(std::ostream& out) const {
    if (HasAttrs()) {
      out << "struct " << AttrsStruct() << " {\n";
      for (const AttrDef* attr : optional) {
        const std::string type = CppType(attr->type);
        if (!type.empty()) out << "  " << type << " " << Identifier(attr->name) << " = " << std::visit(Literal(), attr->default_value) << ";\n";
      }
      out << "};\n";
    }
    if (def.outputs.size() > 1) {
      out << "struct " << ResultType() << " {\n  Operation operation;\n";
      for (const ArgDef& output : def.outputs) out << (IsList(output) ? "  OutputList " : "  Output ") << Identifier(output.name) << ";\n";
      out << "};\n";
    }
    out << ResultType() << " " << def.name << "(" << Parameters(true) << ");\n";
  }

  void WriteSource(std::ostream& out) const {
    out << ResultType() << " " << def.name << "(" << Parameters(false) << ") {\n  NodeBuilder node(\"" << def.name << "\", name);\n";
    for (const ArgDef& input : def.inputs) out << "  node.In(" << Identifier(input.name) << ");\n";
    for (const AttrDef* attr : required) out << "  node.Set(\"" << attr->name << "\", " << AttrName(*attr) << ");\n";
    for (const AttrDef* attr : optional) {
      if (CppType(attr->type).empty()) continue;
      const std::string value = "attrs." + Identifier(attr->name);
      if (attr->type == "tensor") out << "  if (" << value << ".has_value())";
      out << "  node.Set(\"" << attr->name << "\", " << value << ");\n";
    }
    const std::string build = takes_graph ? "node.Build(graph)" : "node.Build()";
    if (def.outputs.empty()) {
      out << "  return " << build << ";\n";
    } else if (def.outputs.size() == 1 && !IsList(def.outputs[0])) {
      out << "  return " << build << ".output();\n";
    } else {
      out << "  Operation made = " << build << ";\n  int next = 0;\n";
      if (def.outputs.size() == 1) {
        out << "  return TakeOutputs(made, made.num_outputs(), &next);\n";
      } else {
        out << "  " << ResultType() << " result;\n  result.operation = made;\n";
        for (const ArgDef& output : def.outputs) {
          out << "  result." << Identifier(output.name) << " = ";
          if (IsList(output)) {
            out << "TakeOutputs(made, OutputListLength(made, \"" << (output.number_attr.empty() ? output.type_list_attr : output.number_attr) << "\"), &next);\n";
          } else {
            out << "made.output(next++);\n";
          }
        }
        out << "  return result;\n";
      }
    }
    out << "}\n";
  }
};

constexpr char kHeaderStart[] = R"(// Made by src/client/opgen from the op registry: one function for each op. Each throws tandem::Error when its inputs do not fit.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tandem/graph.h"

namespace tandem::ops {

)";

// Leaves a file alone that would not change, so that nothing is compiled again.
bool WriteIfChanged(const std::string& path, const std::string& content) {
  std::ifstream old(path, std::ios::binary);
  std::stringstream text;
  text << old.rdbuf();
  if (old && text.str() == content) return true;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  if (!file) std::cerr << "opgen: cannot write " << path << "\n";
  return !file.fail();
}

int Main(const std::string& directory, int file_count) {
  std::ostringstream header;
  header << kHeaderStart;
  std::vector<std::ostringstream> sources(file_count);
  for (std::ostringstream& source : sources) source << "#include \"client/node_builder.h\"\n#include \"tandem/raw_ops.h\"\n\nnamespace tandem::ops {\n\n";
  size_t written = 0;
  for (const Op* op : RegisteredOps()) {
    OpFunction function(op->def);
    if (!function.IsPossible()) continue;
    function.WriteHeader(header);
    header << "\n";
    function.WriteSource(sources[written++ % file_count]);
    sources[(written - 1) % file_count] << "\n";
  }
  header << "}  // namespace tandem::ops\n";
  bool ok = WriteIfChanged(directory + "/tandem/raw_ops.h", header.str());
  for (int i = 0; i < file_count; ++i) {
    sources[i] << "}  // namespace tandem::ops\n";
    ok = WriteIfChanged(absl::StrCat(directory, "/raw_ops_", i, ".cc"), sources[i].str()) && ok;
  }
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  if (argc != 3 || std::atoi(argv[2]) < 1) {
    std::cerr << "usage: opgen <directory> <number of .cc files>\n";
    return 2;
  }
  return tandem::Main(argv[1], std::atoi(argv[2]));
}
