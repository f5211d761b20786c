#include "graph/attrs.h"

#include <cstdlib>

#include "core/log.h"
#include "graph/op.h"
#include "proto/graph.pb.h"
#include "tensor/tensor_proto.h"

namespace tandem {
namespace {

[[noreturn]] void MissingAttr(const tensorflow::NodeDef& def, absl::string_view name) {
  LogError("node ", def.name(), " of op ", def.op(), " has no attr ", name, " of the wanted type");
  std::abort();
}

PartialShape ShapeOrUnknown(const tensorflow::TensorShapeProto& proto) {
  // Checked when the node was made.
  StatusOr<PartialShape> shape = PartialShapeFromProto(proto);
  return shape.ok() ? *std::move(shape) : PartialShape();
}

}  // namespace

const std::string& Attrs::node_name() const { return def_->name(); }
const std::string& Attrs::op() const { return def_->op(); }

const tensorflow::AttrValue* Attrs::Find(absl::string_view name) const {
  auto found = def_->attr().find(std::string(name));
  return found == def_->attr().end() ? nullptr : &found->second;
}

bool Attrs::Has(absl::string_view name) const { return Find(name) != nullptr; }

const tensorflow::AttrValue& Attrs::Raw(absl::string_view name) const {
  const tensorflow::AttrValue* value = Find(name);
  if (value == nullptr) MissingAttr(*def_, name);
  return *value;
}

std::string Attrs::GetString(absl::string_view name) const { return Raw(name).s(); }
int64_t Attrs::GetInt(absl::string_view name) const { return Raw(name).i(); }
float Attrs::GetFloat(absl::string_view name) const { return Raw(name).f(); }
bool Attrs::GetBool(absl::string_view name) const { return Raw(name).b(); }
DataType Attrs::GetType(absl::string_view name) const { return static_cast<DataType>(Raw(name).type()); }
PartialShape Attrs::GetShape(absl::string_view name) const { return ShapeOrUnknown(Raw(name).shape()); }
StatusOr<Tensor> Attrs::GetTensor(absl::string_view name) const { return TensorFromProto(Raw(name).tensor()); }

std::vector<std::string> Attrs::GetStrings(absl::string_view name) const {
  const auto& list = Raw(name).list().s();
  return {list.begin(), list.end()};
}
std::vector<int64_t> Attrs::GetInts(absl::string_view name) const {
  const auto& list = Raw(name).list().i();
  return {list.begin(), list.end()};
}
std::vector<float> Attrs::GetFloats(absl::string_view name) const {
  const auto& list = Raw(name).list().f();
  return {list.begin(), list.end()};
}
std::vector<bool> Attrs::GetBools(absl::string_view name) const {
  const auto& list = Raw(name).list().b();
  return {list.begin(), list.end()};
}
std::vector<DataType> Attrs::GetTypes(absl::string_view name) const {
  std::vector<DataType> types;
  for (int type : Raw(name).list().type()) types.push_back(static_cast<DataType>(type));
  return types;
}
std::vector<PartialShape> Attrs::GetShapes(absl::string_view name) const {
  std::vector<PartialShape> shapes;
  for (const auto& proto : Raw(name).list().shape()) shapes.push_back(ShapeOrUnknown(proto));
  return shapes;
}

void AttrToProto(const AttrValue& value, tensorflow::AttrValue* proto) {
  struct Visitor {
    tensorflow::AttrValue* proto;
    void operator()(const std::string& v) { proto->set_s(v); }
    void operator()(int64_t v) { proto->set_i(v); }
    void operator()(float v) { proto->set_f(v); }
    void operator()(bool v) { proto->set_b(v); }
    void operator()(DataType v) { proto->set_type(static_cast<tensorflow::DataType>(v)); }
    void operator()(const PartialShape& v) { ShapeToProto(v, proto->mutable_shape()); }
    void operator()(const Tensor& v) { TensorToProto(v, proto->mutable_tensor()); }
    void operator()(const std::vector<std::string>& list) {
      auto* to = proto->mutable_list();
      for (const std::string& v : list) to->add_s(v);
    }
    void operator()(const std::vector<int64_t>& list) {
      auto* to = proto->mutable_list();
      for (int64_t v : list) to->add_i(v);
    }
    void operator()(const std::vector<float>& list) {
      auto* to = proto->mutable_list();
      for (float v : list) to->add_f(v);
    }
    void operator()(const std::vector<bool>& list) {
      auto* to = proto->mutable_list();
      for (bool v : list) to->add_b(v);
    }
    void operator()(const std::vector<DataType>& list) {
      auto* to = proto->mutable_list();
      for (DataType v : list) to->add_type(static_cast<tensorflow::DataType>(v));
    }
    void operator()(const std::vector<PartialShape>& list) {
      auto* to = proto->mutable_list();
      for (const PartialShape& v : list) ShapeToProto(v, to->add_shape());
    }
    void operator()(const std::vector<Tensor>& list) {
      auto* to = proto->mutable_list();
      for (const Tensor& v : list) TensorToProto(v, to->add_tensor());
    }
  };
  std::visit(Visitor{proto}, value);
}

StatusOr<AttrValue> AttrFromProto(const tensorflow::AttrValue& proto) {
  switch (proto.value_case()) {
    case tensorflow::AttrValue::kS:
      return AttrValue(proto.s());
    case tensorflow::AttrValue::kI:
      return AttrValue(static_cast<int64_t>(proto.i()));
    case tensorflow::AttrValue::kF:
      return AttrValue(proto.f());
    case tensorflow::AttrValue::kB:
      return AttrValue(proto.b());
    case tensorflow::AttrValue::kType:
      return AttrValue(static_cast<DataType>(proto.type()));
    case tensorflow::AttrValue::kShape: {
      ASSIGN_OR_RETURN(PartialShape shape, PartialShapeFromProto(proto.shape()));
      return AttrValue(std::move(shape));
    }
    case tensorflow::AttrValue::kTensor: {
      ASSIGN_OR_RETURN(Tensor tensor, TensorFromProto(proto.tensor()));
      return AttrValue(std::move(tensor));
    }
    case tensorflow::AttrValue::kList: {
      const auto& list = proto.list();
      if (list.s_size() > 0) return AttrValue(std::vector<std::string>(list.s().begin(), list.s().end()));
      if (list.f_size() > 0) return AttrValue(std::vector<float>(list.f().begin(), list.f().end()));
      if (list.b_size() > 0) return AttrValue(std::vector<bool>(list.b().begin(), list.b().end()));
      if (list.type_size() > 0) {
        std::vector<DataType> types;
        for (int type : list.type()) types.push_back(static_cast<DataType>(type));
        return AttrValue(std::move(types));
      }
      if (list.shape_size() > 0) {
        std::vector<PartialShape> shapes;
        for (const auto& shape_proto : list.shape()) {
          ASSIGN_OR_RETURN(PartialShape shape, PartialShapeFromProto(shape_proto));
          shapes.push_back(std::move(shape));
        }
        return AttrValue(std::move(shapes));
      }
      if (list.tensor_size() > 0) {
        std::vector<Tensor> tensors;
        for (const auto& tensor_proto : list.tensor()) {
          ASSIGN_OR_RETURN(Tensor tensor, TensorFromProto(tensor_proto));
          tensors.push_back(std::move(tensor));
        }
        return AttrValue(std::move(tensors));
      }
      if (list.func_size() > 0) return Unimplemented("an attr that is a list of functions");
      return AttrValue(std::vector<int64_t>(list.i().begin(), list.i().end()));
    }
    case tensorflow::AttrValue::kFunc:
      return Unimplemented("an attr that is a function (", proto.func().name(), ")");
    case tensorflow::AttrValue::kPlaceholder:
      return Unimplemented("an attr that is a placeholder (", proto.placeholder(), ")");
    case tensorflow::AttrValue::VALUE_NOT_SET:
      break;
  }
  return InvalidArgument("an attr has no value");
}

}  // namespace tandem
