// A ps that holds `megabytes` (10^6) in ten variables; the measured step subtracts from each of them on the ps.
#include "native/workload.h"

namespace bench {
namespace {

namespace td = tandem;

class Memory : public Workload {
 public:
  Memory(const Arguments& arguments, Place& place) : model_(place) {
    td::Graph& g = model_.graph;
    const int64_t count = arguments.number("megabytes", 1000) * 100'000 / 4;
    td::DeviceScope device(g, place.config.has_cluster() ? "/job:ps/task:0" : "");
    std::vector<td::Variable> held;
    for (int i = 0; i < 10; ++i) held.emplace_back(g, td::Ones(g, {count}), "v" + std::to_string(i));
    std::vector<td::Operation> updates, firsts;
    for (const td::Variable& each : held) {
      updates.push_back(each.AssignSub(td::Zeros(g, {count})));
      firsts.push_back(td::ops::StridedSlice(each, td::Const(g, std::vector<int32_t>{0}), td::Const(g, std::vector<int32_t>{1}),
                                             td::Const(g, std::vector<int32_t>{1}), {.shrink_axis_mask = 1}));
    }
    td::Operation update = td::Group(g, updates), first = td::Group(g, firsts, "first");
    td::Session& session = model_.Open();
    update_ = session.MakeCallable({}, {}, {update});
    first_ = session.MakeCallable({}, {}, {first});
  }

  void Step() override { first_.Run(); }

  Result Measure(double) override {
    Result result;
    update_.Run();
    result.steps = 1;
    result.seconds = 1;
    return result;
  }

 private:
  Model model_;
  td::Callable update_, first_;
};

}  // namespace

std::unique_ptr<Workload> MakeMemory(const Arguments& arguments, Place& place) { return std::make_unique<Memory>(arguments, place); }

}  // namespace bench
