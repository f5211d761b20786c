// Runs the cases of tests/golden/*.txt through a local session and compares with what TensorFlow answered. A test is called
// <file>/<op>.<case>: --gtest_filter='math/AddV2.*'. Format: tests/golden/golden.proto.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "client/gradients.h"
#include "google/protobuf/text_format.h"
#include "graph/graph_state.h"
#include "graph/op.h"
#include "proto/graph.pb.h"
#include "runtime/local_session.h"
#include "tandem/error.h"
#include "tensor/tensor_proto.h"
#include "tests/golden/golden.pb.h"

namespace tandem {
namespace {

// ---- tensors of the text files ----

// "float[2,3]" -> type and shape.
Status ParseType(absl::string_view text, DataType* dtype, Shape* shape) {
  std::vector<absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('[', 1));
  *dtype = DataTypeFromName(parts[0]);
  *shape = Shape();
  if (*dtype == kInvalid || parts.size() != 2 || !absl::ConsumeSuffix(&parts[1], "]")) return InvalidArgument("not a type: ", text);
  if (parts[1].empty()) return OkStatus();
  for (absl::string_view size : absl::StrSplit(parts[1], ',')) {
    int64_t value;
    if (!absl::SimpleAtoi(size, &value)) return InvalidArgument("not a type: ", text);
    shape->AddDim(value);
  }
  return OkStatus();
}

template <typename T, typename List>
void Fill(const List& list, Tensor* tensor) {
  T* to = tensor->mutable_data<T>();
  for (int i = 0; i < list.size() && i < tensor->num_elements(); ++i) to[i] = T(list[i]);
}

template <typename C, typename List>
void FillComplex(const List& list, Tensor* tensor) {
  C* to = tensor->mutable_data<C>();
  for (int i = 0; i + 1 < list.size(); i += 2) to[i / 2] = C(list[i], list[i + 1]);
}

template <typename P>  // golden::Tensor or golden::Input
StatusOr<Tensor> Decode(const P& p) {
  DataType dtype;
  Shape shape;
  RETURN_IF_ERROR(ParseType(p.type(), &dtype, &shape));
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape));
  const int64_t values = p.f_size() / (IsComplex(dtype) ? 2 : 1) + p.i_size() + p.u_size() + p.s_size();
  if (values != shape.num_elements()) return InvalidArgument(p.type(), " with ", values, " values");
  switch (dtype) {
    case kFloat:
      Fill<float>(p.f(), &tensor);
      break;
    case kDouble:
      Fill<double>(p.f(), &tensor);
      break;
    case kHalf:
      Fill<Half>(p.f(), &tensor);
      break;
    case kBfloat16:
      Fill<BFloat16>(p.f(), &tensor);
      break;
    case kInt8:
      Fill<int8_t>(p.i(), &tensor);
      break;
    case kInt16:
      Fill<int16_t>(p.i(), &tensor);
      break;
    case kInt32:
      Fill<int32_t>(p.i(), &tensor);
      break;
    case kInt64:
      Fill<int64_t>(p.i(), &tensor);
      break;
    case kUint8:
      Fill<uint8_t>(p.u(), &tensor);
      break;
    case kUint16:
      Fill<uint16_t>(p.u(), &tensor);
      break;
    case kUint32:
      Fill<uint32_t>(p.u(), &tensor);
      break;
    case kUint64:
      Fill<uint64_t>(p.u(), &tensor);
      break;
    case kBool:
      Fill<bool>(p.i(), &tensor);
      break;
    case kString:
      Fill<std::string>(p.s(), &tensor);
      break;
    case kComplex64:
      FillComplex<std::complex<float>>(p.f(), &tensor);
      break;
    case kComplex128:
      FillComplex<std::complex<double>>(p.f(), &tensor);
      break;
    default:
      return Unimplemented("type ", p.type(), " in a golden file");
  }
  return tensor;
}

template <typename T>
std::vector<double> Doubles(const Tensor& tensor) {
  std::vector<double> made;
  for (const T& value : tensor.values<T>()) made.push_back(static_cast<double>(value));
  return made;
}

template <typename C>
std::vector<double> ComplexDoubles(const Tensor& tensor) {
  std::vector<double> made;
  for (const C& value : tensor.values<C>()) {
    made.push_back(value.real());
    made.push_back(value.imag());
  }
  return made;
}

// Numbers of a floating or complex tensor.
std::vector<double> FloatingValues(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case kFloat:
      return Doubles<float>(tensor);
    case kDouble:
      return Doubles<double>(tensor);
    case kHalf:
      return Doubles<Half>(tensor);
    case kBfloat16:
      return Doubles<BFloat16>(tensor);
    case kComplex64:
      return ComplexDoubles<std::complex<float>>(tensor);
    default:
      return ComplexDoubles<std::complex<double>>(tensor);
  }
}

double DefaultTolerance(DataType dtype) {
  switch (dtype) {
    case kHalf:
      return 2e-3;
    case kBfloat16:
      return 2e-2;
    case kFloat:
    case kComplex64:
      return 1e-5;
    default:
      return 1e-12;
  }
}

// Equal up to tol · (|expected| + the smaller of 1 and the largest expected magnitude).
std::string CompareFloating(const Tensor& got, const Tensor& want, double tol) {
  const std::vector<double> a = FloatingValues(got), b = FloatingValues(want);
  double largest = 0;
  for (double value : b) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i]) ? std::isnan(a[i]) : a[i] == b[i]) continue;
    if (std::isfinite(b[i]) && std::fabs(a[i] - b[i]) <= tol * (std::fabs(b[i]) + std::min(1.0, largest))) continue;
    return absl::StrCat("value ", i, " is ", absl::StrFormat("%.9g, not %.9g", a[i], b[i]));
  }
  return "";
}

// What is wrong with `got`, or "".
std::string Compare(const Tensor& got, const golden::Tensor& expected, double tol, bool shape_only) {
  DataType dtype;
  Shape shape;
  if (!absl::StrContains(expected.type(), '[')) return "";  // a resource or variant: no value to compare
  if (Status status = ParseType(expected.type(), &dtype, &shape); !status.ok()) return status.ToString();
  if (got.dtype() != dtype || got.shape() != shape) {
    return absl::StrCat("is ", got.has_value() ? got.ToString(8) : "nothing", ", not ", expected.type());
  }
  if (shape_only) return "";
  StatusOr<Tensor> want = Decode(expected);
  if (!want.ok()) return want.status().ToString();
  std::string difference;
  if (IsFloating(dtype) || IsComplex(dtype)) {
    difference = CompareFloating(got, *want, tol > 0 ? tol : DefaultTolerance(dtype));
  } else if (dtype == kString) {
    if (got.values<std::string>() != want->values<std::string>()) difference = "differs";
  } else if (got.num_elements() > 0 && std::memcmp(got.raw_data(), want->raw_data(), got.byte_size()) != 0) {
    difference = "differs";
  }
  if (difference.empty()) return "";
  return absl::StrCat(difference, "\n   got: ", got.ToString(40), "\n  want: ", want->ToString(40));
}

// ---- one case ----

class GoldenCase {
 public:
  explicit GoldenCase(const golden::Test& test) : test_(test), session_(NewLocalSession()) {}

  void Run() {
    ASSERT_NE(FindOp(test_.op()), nullptr) << "op " << test_.op() << " is not registered";
    const Status status = RunAll();
    if (test_.error().empty()) {
      EXPECT_TRUE(status.ok()) << status;
    } else {
      EXPECT_EQ(CodeName(status.code()), test_.error()) << status;
      EXPECT_TRUE(absl::StrContains(status.message(), test_.text())) << status << "\n  should contain: " << test_.text();
    }
  }

 private:
  static std::string CodeName(absl::StatusCode code) { return absl::StatusCodeToString(code); }

  tensorflow::NodeDef* AddNode(const std::string& name, const std::string& op, std::vector<std::string> inputs = {}) {
    tensorflow::NodeDef* node = def_.add_node();
    node->set_name(name);
    node->set_op(op);
    for (std::string& input : inputs) node->add_input(std::move(input));
    return node;
  }
  static void SetType(tensorflow::NodeDef* node, const char* attr, DataType dtype) {
    (*node->mutable_attr())[attr].set_type(static_cast<tensorflow::DataType>(dtype));
  }
  void AddConst(const std::string& name, const Tensor& value) {
    tensorflow::NodeDef* node = AddNode(name, "Const");
    SetType(node, "dtype", value.dtype());
    TensorToProto(value, (*node->mutable_attr())["value"].mutable_tensor());
  }

  // Node "in<i>" and what it needs. Floating inputs, and all of a case that must fail, are fed.
  Status AddInput(int i) {
    const golden::Input& in = test_.in(i);
    if (!in.node().empty()) {
      inputs_.push_back(in.node());
      return OkStatus();
    }
    const std::string name = absl::StrCat("in", i);
    inputs_.push_back(name);
    ASSIGN_OR_RETURN(Tensor value, Decode(in));
    if (!in.kind().empty()) return AddVariable(name, in, value);
    if (test_.error().empty() && !IsFloating(value.dtype()) && !IsComplex(value.dtype())) {
      AddConst(name, value);
      return OkStatus();
    }
    tensorflow::NodeDef* node = AddNode(name, "Placeholder");
    SetType(node, "dtype", value.dtype());
    if (test_.error().empty()) ShapeToProto(value.shape(), (*node->mutable_attr())["shape"].mutable_shape());
    feeds_.emplace_back(name + ":0", value);
    return OkStatus();
  }

  Status AddVariable(const std::string& name, const golden::Input& in, const Tensor& value) {
    const bool is_ref = absl::StartsWith(in.kind(), "ref"), is_initialized = !absl::EndsWith(in.kind(), "?");
    tensorflow::NodeDef* node = AddNode(name, is_ref ? "VariableV2" : "VarHandleOp");
    SetType(node, "dtype", value.dtype());
    if (in.has_declared()) {
      *(*node->mutable_attr())["shape"].mutable_shape() = in.declared();
    } else {
      ShapeToProto(value.shape(), (*node->mutable_attr())["shape"].mutable_shape());
    }
    if (!is_ref) {
      (*node->mutable_attr())["shared_name"].set_s(name);
      SetType(AddNode(name + "/read", "ReadVariableOp", {name}), "dtype", value.dtype());
    }
    if (!is_initialized) return OkStatus();
    variables_.push_back(is_ref ? name + ":0" : name + "/read:0");
    AddConst(name + "/initial", value);
    tensorflow::NodeDef* assign = AddNode(name + "/assign", is_ref ? "Assign" : "AssignVariableOp", {name, name + "/initial"});
    SetType(assign, is_ref ? "T" : "dtype", value.dtype());
    if (is_ref) (*assign->mutable_attr())["validate_shape"].set_b(!in.has_declared());
    initializers_.push_back(name + "/assign");
    return OkStatus();
  }

  Status AddHelper(const golden::Node& helper) {
    if (helper.has_value()) {
      ASSIGN_OR_RETURN(Tensor value, Decode(helper.value()));
      AddConst(helper.name(), value);
      return OkStatus();
    }
    tensorflow::NodeDef* node = AddNode(helper.name(), helper.op(), {helper.in().begin(), helper.in().end()});
    for (const golden::Attr& attr : helper.attr()) (*node->mutable_attr())[attr.name()] = attr.value();
    return OkStatus();
  }

  Status Build() {
    for (const golden::Node& helper : test_.node()) RETURN_IF_ERROR(AddHelper(helper));
    for (int i = 0; i < test_.in_size(); ++i) RETURN_IF_ERROR(AddInput(i));
    tensorflow::NodeDef* node = AddNode("test", test_.op(), inputs_);
    for (const golden::Attr& attr : test_.attr()) (*node->mutable_attr())[attr.name()] = attr.value();
    return ImportGraph(def_, {}, &graph_);
  }

  Status RunNodes(const std::vector<std::string>& targets) {
    if (targets.empty()) return OkStatus();
    std::vector<Tensor> none;
    return session_->Run({.feeds = {}, .fetches = {}, .targets = targets}, &none);
  }

  Status Fetch(std::vector<std::string> fetches, std::vector<std::string> targets, std::vector<Tensor>* values) {
    return session_->Run({.feeds = feeds_, .fetches = std::move(fetches), .targets = std::move(targets)}, values);
  }

  bool HasValue(DataType dtype) const { return BaseType(dtype) != kResource && BaseType(dtype) != kVariant; }

  Status RunAll() {
    RETURN_IF_ERROR(Build());
    Node* node = graph_.FindNode("test");
    std::vector<std::string> fetches;
    for (size_t i = 0; i < node->output_types.size(); ++i) {
      if (HasValue(node->output_types[i])) fetches.push_back(absl::StrCat("test:", i));
    }
    RETURN_IF_ERROR(session_->Extend(def_));
    RETURN_IF_ERROR(RunNodes(initializers_));
    for (const std::string& step : test_.setup()) RETURN_IF_ERROR(RunNodes({step}));
    std::vector<Tensor> outputs;
    int next = 0;
    for (int run = 0; run < std::max(1, test_.runs()); ++run) {
      RETURN_IF_ERROR(Fetch(fetches, {"test"}, &outputs));
      CheckOutputs(*node, outputs, &next);
    }
    if (next != test_.out_size()) return InvalidArgument("the op has ", next, " outputs, the file ", test_.out_size());
    RETURN_IF_ERROR(CheckFetches("variable", variables_, test_.variable()));
    RETURN_IF_ERROR(CheckFetches("after", {test_.after().begin(), test_.after().end()}, test_.after_out()));
    return test_.grad_size() == 0 ? OkStatus() : CheckGradients(*node, outputs);
  }

  void CheckOutputs(const Node& node, const std::vector<Tensor>& outputs, int* next) {
    size_t fetched = 0;
    for (size_t i = 0; i < node.output_types.size() && *next < test_.out_size(); ++i, ++*next) {
      if (!HasValue(node.output_types[i])) continue;
      const Tensor& got = outputs[fetched++];
      EXPECT_EQ(Compare(got, test_.out(*next), test_.tol(), test_.shape_only()), "") << "in output " << i;
      EXPECT_TRUE(node.output_shapes[i].Allows(got.shape()))
          << "inferred " << node.output_shapes[i].ToString() << " for output " << i << " of shape " << got.shape().ToString();
    }
  }

  template <typename List>
  Status CheckFetches(const char* what, const std::vector<std::string>& fetches, const List& expected) {
    if (static_cast<int>(fetches.size()) != expected.size()) return InvalidArgument(fetches.size(), " values of ", what, ", the file has ", expected.size());
    for (int i = 0; i < expected.size(); ++i) {
      std::vector<Tensor> values;
      std::string fetch = fetches[i];
      if (!absl::StrContains(fetch, ':')) fetch += ":0";
      RETURN_IF_ERROR(Fetch({fetch}, {}, &values));
      EXPECT_EQ(Compare(values[0], expected[i], test_.tol(), test_.shape_only()), "") << "in " << what << " " << i;
    }
    return OkStatus();
  }

  // The gradient that flows into output `index`: the same numbers as `weights` in tools/golden/make.py.
  static Tensor Weights(int index, DataType dtype, const Shape& shape) {
    golden::Tensor text;
    text.set_type(absl::StrCat(DataTypeName(dtype), shape.ToString()));
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      text.add_f(0.25 + 0.5 * ((7 * i + 3 * index) % 5 - 2));
      if (IsComplex(dtype)) text.add_f(0);
    }
    return Decode(text).value();
  }

  Status CheckGradients(const Node& node, const std::vector<Tensor>& outputs) {
    std::vector<Output> ys, grad_ys, xs;
    size_t fetched = 0;
    const int first_node = static_cast<int>(graph_.nodes().size());
    for (size_t i = 0; i < node.output_types.size(); ++i) {
      const DataType dtype = BaseType(node.output_types[i]);
      if (!HasValue(dtype)) continue;
      const Tensor& value = outputs[fetched++];
      if (!IsFloating(dtype) && !IsComplex(dtype)) continue;
      ys.emplace_back(graph_.FindNode("test"), static_cast<int>(i));
      const std::string name = absl::StrCat("weights", i);
      grad_ys.push_back(
          graph_.AddNode({.op = "Const", .name = name, .attrs = {{"value", AttrValue(Weights(i, dtype, value.shape()))}, {"dtype", dtype}}}).output());
    }
    std::vector<int> of_input;  // index among xs of each input, or -1
    for (int i = 0; i < test_.in_size(); ++i) {
      const bool is_wanted = test_.grad(i).type() != "none";
      of_input.push_back(is_wanted ? static_cast<int>(xs.size()) : -1);
      if (is_wanted) xs.push_back(node.inputs[i]);
    }
    if (xs.empty()) return OkStatus();
    ASSIGN_OR_RETURN(std::vector<Output> grads, AddGradients(ys, xs, grad_ys));
    tensorflow::GraphDef added;
    ExportGraph(graph_, first_node, &added);
    RETURN_IF_ERROR(session_->Extend(added));
    for (int i = 0; i < test_.in_size(); ++i) {
      if (of_input[i] < 0) continue;
      const Output grad = grads[of_input[i]];
      EXPECT_TRUE(grad.is_valid()) << "no gradient for input " << i;
      if (!grad.is_valid()) continue;
      std::vector<Tensor> values;
      RETURN_IF_ERROR(Annotate(Fetch({absl::StrCat(grad.node->name(), ":", grad.index)}, {}, &values), absl::StrCat("gradient of input ", i)));
      EXPECT_EQ(Compare(values[0], test_.grad(i), test_.tol(), false), "") << "in the gradient of input " << i;
    }
    return OkStatus();
  }

  const golden::Test& test_;
  std::unique_ptr<SessionBackend> session_;
  Graph graph_;
  tensorflow::GraphDef def_;
  std::vector<std::string> inputs_, initializers_, variables_;
  std::vector<std::pair<std::string, Tensor>> feeds_;
};

class GoldenTest : public testing::Test {
 public:
  explicit GoldenTest(const golden::Test& test) : test_(test) {}
  void TestBody() override { GoldenCase(test_).Run(); }

 private:
  const golden::Test& test_;
};

// Registers a test per case of the file. Its messages live as long as the process.
bool RegisterFile(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  auto* file = new golden::File;
  if (!google::protobuf::TextFormat::ParseFromString(text.str(), file)) {
    std::cerr << path << " is not in the format of golden.proto\n";
    return false;
  }
  for (const golden::Test& test : file->test()) {
    const std::string suite = absl::StrCat(path.stem().string(), "/", test.op());
    testing::RegisterTest(suite.c_str(), test.name().c_str(), nullptr, nullptr, path.c_str(), 1, [&test]() -> GoldenTest* { return new GoldenTest(test); });
  }
  return true;
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(TANDEM_GOLDEN_DIR)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    if (!tandem::RegisterFile(file)) return 1;
  }
  return RUN_ALL_TESTS();
}
