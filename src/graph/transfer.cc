#include "graph/transfer.h"

#include "kernel/rendezvous.h"

namespace tandem {
namespace {

using tensorflow::GraphDef;
using tensorflow::NodeDef;

NodeDef* AddNode(const std::string& name, const char* op, const std::string& device, GraphDef* to) {
  NodeDef* def = to->add_node();
  def->set_name(name);
  def->set_op(op);
  def->set_device(device);
  return def;
}

void SetType(NodeDef* def, const char* attr, DataType type) { (*def->mutable_attr())[attr].set_type(static_cast<tensorflow::DataType>(BaseType(type))); }

}  // namespace

std::string InputText(absl::string_view node, int output) {
  if (output < 0) return absl::StrCat("^", node);
  return output == 0 ? std::string(node) : absl::StrCat(node, ":", output);
}

std::string TransferNodes::NewName(absl::string_view from) {
  std::string name;
  do {
    name = absl::StrCat(from, "_S", next_name_++);
  } while (graph_ != nullptr && graph_->FindNode(name) != nullptr);
  return name;
}

std::string TransferNodes::Key(const Transfer& transfer) const {
  return EdgeKey::Make(transfer.source_device, incarnation_(transfer.source_device), transfer.target_device, transfer.name).full;
}

void TransferNodes::SetTransfer(const Transfer& transfer, NodeDef* def) const {
  auto& attr = *def->mutable_attr();
  attr["tensor_name"].set_s(transfer.name);
  attr["send_device"].set_s(transfer.source_device);
  attr["recv_device"].set_s(transfer.target_device);
  attr["send_device_incarnation"].set_i(static_cast<int64_t>(incarnation_(transfer.source_device)));
  attr["client_terminated"].set_b(transfer.is_client_terminated);
}

std::string TransferNodes::AddSend(const std::string& name, const std::string& input, DataType type, const Transfer& transfer, GraphDef* to) {
  NodeDef* def = AddNode(name, "_Send", transfer.source_device, to);
  def->add_input(input);
  SetType(def, "T", type);
  SetTransfer(transfer, def);
  return name;
}

std::string TransferNodes::AddRecv(const std::string& name, DataType type, const Transfer& transfer, GraphDef* to) {
  NodeDef* def = AddNode(name, "_Recv", transfer.target_device, to);
  SetType(def, "tensor_type", type);
  SetTransfer(transfer, def);
  return name;
}

std::string TransferNodes::AddSignal(absl::string_view name, const std::string& device, absl::Span<const std::string> after, GraphDef* to) {
  NodeDef* def = AddNode(NewName(name), "Const", device, to);
  SetType(def, "dtype", kFloat);
  tensorflow::TensorProto* value = (*def->mutable_attr())["value"].mutable_tensor();
  value->set_dtype(tensorflow::DT_FLOAT);
  value->mutable_tensor_shape()->add_dim()->set_size(0);
  for (const std::string& input : after) def->add_input(input);
  return def->name();
}

std::string TransferNodes::AddSignalTaker(const std::string& recv, const std::string& device, GraphDef* to) {
  NodeDef* def = AddNode(NewName(recv), "Identity", device, to);
  def->add_input(recv);
  SetType(def, "T", kFloat);
  return def->name();
}

}  // namespace tandem
