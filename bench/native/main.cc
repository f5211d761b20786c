// Tandem's side of the benchmarks: speaks the contract of the harness (READY, GO, RESULT) and steps.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "native/workload.h"

namespace bench {
namespace {

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

Arguments::Arguments(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    if (word.rfind("--", 0) != 0 || equals == std::string::npos) {
      std::fprintf(stderr, "bench_native: '%s' is not of the form --name=value\n", word.c_str());
      std::exit(2);
    }
    values_[word.substr(2, equals - 2)] = word.substr(equals + 1);
  }
}

std::string Arguments::text(const std::string& name, const std::string& default_value) const {
  auto found = values_.find(name);
  return found == values_.end() ? default_value : found->second;
}
long Arguments::number(const std::string& name, long default_value) const {
  auto found = values_.find(name);
  return found == values_.end() ? default_value : std::strtol(found->second.c_str(), nullptr, 10);
}
double Arguments::real(const std::string& name, double default_value) const {
  auto found = values_.find(name);
  return found == values_.end() ? default_value : std::strtod(found->second.c_str(), nullptr);
}

Place::Place(const Arguments& arguments) {
  const std::string mode = arguments.text("mode", "local");
  if (mode == "local") return;
  const std::vector<std::string> words = {"--job_name=" + mode, "--task_index=" + std::to_string(arguments.number("task_index")),
                                          "--ps_hosts=" + arguments.text("ps_hosts"), "--worker_hosts=" + arguments.text("worker_hosts")};
  config = tandem::ValueOrThrow(tandem::ClusterConfig::Parse(words, ""));
  server = std::make_unique<tandem::Server>(config);
  target = server->target();
}

tandem::Session& Model::Open() {
  std::vector<tandem::Variable> variables = tandem::Variable::Collection(graph, tandem::kGlobalVariables);
  const tandem::Operation init = tandem::GlobalVariablesInitializer(graph);
  const tandem::Output missing = tandem::ReportUninitializedVariables(graph, variables);
  session_ = std::make_unique<tandem::Session>(graph, place_.target);
  if (place_.config.is_chief()) {
    session_->Run({init});
  } else {
    // The chief says nothing when it is done: asking is the only way, each question takes a round trip.
    while (session_->Run({missing})[0].num_elements() > 0) {
    }
  }
  return *session_;
}

Result Workload::RunFor(double seconds) {
  Result result;
  const double begin = Now();
  double now = begin;
  do {
    Step();
    ++result.steps;
    now = Now();
  } while (now < begin + seconds);
  result.seconds = now - begin;
  return result;
}

void Workload::WarmUp(double seconds) {
  Step();
  if (seconds == 0) return;
  for (int i = 0; i < 4; ++i) Step();
  RunFor(seconds);
}

Result Workload::Measure(double seconds) {
  Result result = RunFor(seconds);
  for (const auto& [metric, amount] : per_step_) result.metrics[metric] = amount * static_cast<double>(result.steps) / result.seconds;
  return result;
}

int Main(const Arguments& arguments) {
  const std::string name = arguments.text("workload");
  Place place(arguments);
  if (arguments.text("mode") == "ps") return place.server->Join();
  std::unique_ptr<Workload> work;
  if (name == "linreg" || name == "startup") {
    work = MakeLinreg(arguments, place);
  } else if (name == "mlp") {
    work = MakeMlp(arguments, place);
  } else if (name == "memory") {
    work = MakeMemory(arguments, place);
  } else {
    std::fprintf(stderr, "bench_native: there is no work load '%s' here; there are linreg, startup, mlp and memory\n", name.c_str());
    return 2;
  }
  work->WarmUp(arguments.real("warmup", 1));
  std::printf("READY {}\n");
  std::fflush(stdout);
  std::string line;
  if (!std::getline(std::cin, line) || line != "GO") return 0;
  const Result result = work->Measure(arguments.real("seconds", 1));
  std::string metrics;
  for (const auto& [metric, value] : result.metrics) {
    char text[100];
    std::snprintf(text, sizeof text, "%s\"%s\": %.9g", metrics.empty() ? "" : ", ", metric.c_str(), value);
    metrics += text;
  }
  std::printf("RESULT {\"steps\": %ld, \"seconds\": %.9g, \"metrics\": {%s}}\n", result.steps, result.seconds, metrics.c_str());
  std::fflush(stdout);
  // Until our input is closed: others may still need this task's server.
  while (std::getline(std::cin, line)) {
  }
  return 0;
}

}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::Main(bench::Arguments(argc, argv));
  } catch (const tandem::Error& error) {
    std::fprintf(stderr, "bench_native: %s\n", error.what());
    return 1;
  }
}
