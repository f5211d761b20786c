// Learns w and b of y = w x + b, on one process or on a cluster: the classic tutorial program.
//
//   linear_regression                                     in this process
//   tandem launch --ps 1 --workers 2 -- linear_regression on a cluster on this machine
//   linear_regression --data points.csv                   two numbers a line: x,y
#include <tandem/tandem.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace td = tandem;

struct Points {
  std::vector<float> xs, ys;
};

// y = 2 x and some noise, as in the tutorial.
Points Synthetic() {
  Points points;
  std::mt19937 random(1);
  std::normal_distribution<float> noise(0, 0.33f);
  for (int i = 0; i < 101; ++i) {
    points.xs.push_back(-1 + 0.02f * static_cast<float>(i));
    points.ys.push_back(2 * points.xs.back() + noise(random));
  }
  return points;
}

// Ends the program, naming file, line and column, if something is not a number.
Points ReadCsv(const std::string& path) {
  auto fail = [&](int line, size_t column, const std::string& what) {
    std::fprintf(stderr, "%s:%d:%zu: %s\n", path.c_str(), line, column + 1, what.c_str());
    std::exit(1);
  };
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    std::exit(1);
  }
  Points points;
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (text.empty()) continue;
    size_t column = 0;
    for (std::vector<float>* values : {&points.xs, &points.ys}) {
      const bool is_last = values == &points.ys;
      size_t end = text.find(',', column);
      if (is_last != (end == std::string::npos)) fail(line, is_last ? end : text.size(), "two numbers with a comma between them are wanted");
      if (end == std::string::npos) end = text.size();
      const std::string field = text.substr(column, end - column);
      size_t used = 0;
      try {
        values->push_back(std::stof(field, &used));
      } catch (const std::exception&) {
        fail(line, column, "'" + field + "' is not a number");
      }
      if (field.find_first_not_of(" \t", used) != std::string::npos || !std::isfinite(values->back())) fail(line, column, "'" + field + "' is not a number");
      column = end + 1;
    }
  }
  if (points.xs.empty()) fail(1, 0, "there are no points in this file");
  return points;
}

int main(int argc, char** argv) {
  td::ClusterConfig job = td::ClusterConfig::FromArgs(argc, argv,
                                                      {{"steps", "20000", "train until the next multiple of this step: run again, it goes on"},
                                                       {"data", "", "a CSV file of x,y; without it y = 2 x + noise"},
                                                       {"logdir", "log/linear", "for checkpoints and event files"}});
  const int64_t round = job.int_flag("steps");
  if (round <= 0) {
    std::fprintf(stderr, "--steps=%ld: a number above 0 is wanted\n", round);
    return 2;
  }
  const std::string logdir = job.flag("logdir");
  const Points points = job.flag("data").empty() ? Synthetic() : ReadCsv(job.flag("data"));
  td::Server server(job);
  if (job.is_ps()) return server.Join();

  td::Graph g;
  td::DeviceScope device(g, td::ReplicaDeviceSetter(job));
  td::Output x = td::Placeholder(g, td::kFloat, {}, "x"), y = td::Placeholder(g, td::kFloat, {}, "y");
  td::Variable w(g, td::RandomNormal(g, {1}), "weight"), b(g, td::Zeros(g, {1}), "bias");
  td::Variable step = td::GlobalStep(g);
  td::Output z = x * w + b;
  td::Output loss = td::ReduceMean(td::Square(y - z));
  td::summary::Histogram("z", z);
  td::summary::Scalar("loss_function", loss);
  td::Operation train = td::GradientDescent(0.001f).Minimize(loss, step);

  td::Supervisor sv(g, {.is_chief = job.is_chief(), .logdir = logdir, .global_step = step, .save_summaries_secs = 2, .save_model_secs = 5, .max_to_keep = 1});
  td::Session& session = sv.ManagedSession(server.target());

  using Clock = std::chrono::steady_clock;
  Clock::time_point last_report = Clock::now();
  int64_t now = session.Run({step})[0].scalar<int64_t>(), own_steps = 0;
  const int64_t last_step = (now / round + 1) * round;
  for (size_t i = 0; !sv.ShouldStop() && now < last_step; i = (i + 1) % points.xs.size(), ++own_steps) {
    const std::vector<td::Tensor> result = session.Run({train, step, loss}, {{x, points.xs[i]}, {y, points.ys[i]}});
    now = result[1].scalar<int64_t>();
    const double seconds = std::chrono::duration<double>(Clock::now() - last_report).count();
    if (seconds < 1) continue;
    std::printf("step %ld  loss %.4f  %.0f steps/s\n", now, result[2].scalar<float>(), static_cast<double>(own_steps) / seconds);
    std::fflush(stdout);
    last_report = Clock::now();
    own_steps = 0;
  }

  if (!job.is_chief()) return 0;
  sv.SaveNow();
  const std::vector<td::Tensor> learned = session.Run({w, b, step});
  std::printf("done at step %ld: w = %.3f, b = %.3f\n", learned[2].scalar<int64_t>(), learned[0].scalar<float>(), learned[1].scalar<float>());
  std::printf("checkpoints and event files are in %s; see them with: tandem inspect %s, or tensorboard --logdir %s\n", logdir.c_str(), logdir.c_str(), logdir.c_str());
  return 0;
}
