// y = sum(w_i * x / (i + 1)) + b with `variables` scalars and the global step on the ps; one x, y fed per step. Also `startup`.
#include <random>

#include "native/workload.h"

namespace bench {
namespace {

namespace td = tandem;

class Linreg : public Workload {
 public:
  Linreg(const Arguments& arguments, Place& place) : model_(place) {
    td::Graph& g = model_.graph;
    td::DeviceScope device(g, td::ReplicaDeviceSetter(place.config));
    td::Output x = td::Placeholder(g, td::kFloat, td::Shape{}, "x"), y = td::Placeholder(g, td::kFloat, td::Shape{}, "y");
    const long count = arguments.number("variables", 2);
    td::OutputList products;
    std::vector<td::Variable> weights;
    for (long i = 0; i < count - 1; ++i) weights.emplace_back(g, td::Const(g, 0.1f), "w" + std::to_string(i));
    td::Variable bias(g, td::Const(g, 0.0f), "b"), step = td::GlobalStep(g);
    for (size_t i = 0; i < weights.size(); ++i) products.push_back(weights[i] * (x / static_cast<double>(i + 1)));
    td::Output prediction = (products.size() > 1 ? td::AddN(products) : products[0]) + bias;
    td::Output loss = td::ReduceMean(td::Square(y - prediction));
    td::Operation train = td::GradientDescent(0.1f).Minimize(loss, step);
    run_ = model_.Open().MakeCallable({x, y}, {step.value()}, {train});

    std::mt19937 random(static_cast<unsigned>(arguments.number("seed", 1) + arguments.number("task_index")));
    std::uniform_real_distribution<float> uniform(0, 1);
    for (int i = 0; i < 1024; ++i) {
      const float value = uniform(random);
      examples_.push_back({td::Tensor(value), td::Tensor(2 * value + 1)});
    }
    if (arguments.text("workload") == "linreg") per_step_["steps_per_s"] = 1;
  }

  void Step() override { run_.Run(examples_[next_++ % examples_.size()]); }

 private:
  Model model_;
  td::Callable run_;
  std::vector<std::vector<td::Tensor>> examples_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Workload> MakeLinreg(const Arguments& arguments, Place& place) { return std::make_unique<Linreg>(arguments, place); }

}  // namespace bench
