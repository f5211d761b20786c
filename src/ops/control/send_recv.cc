// _Send, _Recv and their Host twins: the ends of an edge between two tasks, put in by a partitioner (specification, 3.11).
#include "graph/op.h"

namespace tandem {
namespace {

EdgeKey KeyOf(const Attrs& attrs) {
  return EdgeKey::Make(attrs.GetString("send_device"), static_cast<uint64_t>(attrs.GetInt("send_device_incarnation")), attrs.GetString("recv_device"),
                       attrs.GetString("tensor_name"));
}

Status NoRendezvous() { return Internal("this run has no rendezvous: a graph with _Send or _Recv was run without a worker"); }

class Send : public Kernel {
 public:
  explicit Send(const Attrs& attrs) : key_(KeyOf(attrs)) {}

  Status Run(KernelContext& ctx) override {
    if (ctx.step().rendezvous == nullptr) return NoRendezvous();
    return ctx.step().rendezvous->Send(key_, ctx.input(0), /*is_dead=*/false);
  }

 private:
  const EdgeKey key_;
};

class Recv : public AsyncKernel {
 public:
  explicit Recv(const Attrs& attrs) : key_(KeyOf(attrs)), dtype_(attrs.GetType("tensor_type")) {}

  void Start(KernelContext& ctx, Done done) override {
    if (ctx.step().rendezvous == nullptr) return done(NoRendezvous());
    ctx.step().rendezvous->Recv(key_, [this, &ctx, done = std::move(done)](const Status& status, const Tensor& value, bool is_dead) {
      if (!status.ok()) return done(status);
      if (is_dead) return done(Unimplemented("a dead tensor arrived for ", key_.edge_name, ": conditionals are not supported"));
      if (value.dtype() != dtype_) {
        return done(Internal("Output 0 of type ", DataTypeName(value.dtype()), " does not match declared output type ", DataTypeName(dtype_), " for node {{node ",
                             ctx.node_name(), "}}"));
      }
      ctx.set_output(0, value);
      done(OkStatus());
    });
  }

 private:
  const EdgeKey key_;
  const DataType dtype_;
};

#define DEFINE_SEND(Name)                      \
  DEFINE_OP(Name)                              \
      .Input("tensor: T")                      \
      .Attr("T: type")                         \
      .Attr("tensor_name: string")             \
      .Attr("send_device: string")             \
      .Attr("send_device_incarnation: int")    \
      .Attr("recv_device: string")             \
      .Attr("client_terminated: bool = false") \
      .Stateful()                              \
      .Cpu(AnyType<Send>())
#define DEFINE_RECV(Name)                      \
  DEFINE_OP(Name)                              \
      .Output("tensor: tensor_type")           \
      .Attr("tensor_type: type")               \
      .Attr("tensor_name: string")             \
      .Attr("send_device: string")             \
      .Attr("send_device_incarnation: int")    \
      .Attr("recv_device: string")             \
      .Attr("client_terminated: bool = false") \
      .Stateful()                              \
      .Cpu(AnyType<Recv>())

DEFINE_SEND("_Send");
DEFINE_SEND("_HostSend");
DEFINE_RECV("_Recv");
DEFINE_RECV("_HostRecv");

}  // namespace
}  // namespace tandem
