// A work load of the comparison with TensorFlow, ready to run; the models are those of TensorFlow's side.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tandem/tandem.h"

namespace bench {

// The command line: --name=value.
class Arguments {
 public:
  // Exits with 2 on a word of another form.
  Arguments(int argc, char** argv);
  std::string text(const std::string& name, const std::string& default_value = "") const;
  long number(const std::string& name, long default_value = 0) const;
  double real(const std::string& name, double default_value = 0) const;

 private:
  std::map<std::string, std::string> values_;
};

// This process's place: alone, a ps, or a worker that is its own client.
struct Place {
  explicit Place(const Arguments& arguments);
  tandem::ClusterConfig config;
  std::unique_ptr<tandem::Server> server;  // null without a cluster
  std::string target;
};

struct Result {
  long steps = 0;
  double seconds = 0;
  std::map<std::string, double> metrics;
};

class Workload {
 public:
  virtual ~Workload() = default;
  // One step; throws tandem::Error.
  virtual void Step() = 0;
  // At least five steps, and for `seconds`; one step if it is 0.
  virtual void WarmUp(double seconds);
  // At least one step, and for `seconds`.
  virtual Result Measure(double seconds);

 protected:
  // What one step counts, by metric: rates are these, times the steps per second.
  std::map<std::string, double> per_step_;
  Result RunFor(double seconds);
};

std::unique_ptr<Workload> MakeLinreg(const Arguments& arguments, Place& place);
std::unique_ptr<Workload> MakeMlp(const Arguments& arguments, Place& place);
std::unique_ptr<Workload> MakeMemory(const Arguments& arguments, Place& place);

// A graph placed for this process, and its session once the graph is complete: variables initialised by task 0, for which the others
// wait.
class Model {
 public:
  explicit Model(Place& place) : place_(place) {}
  tandem::Graph graph;
  // The chief initialises; others ask until it has.
  tandem::Session& Open();

 private:
  Place& place_;
  std::unique_ptr<tandem::Session> session_;
};

}  // namespace bench
