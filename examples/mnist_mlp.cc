// Reads handwritten digits with a perceptron of one hidden layer, 784-100-10. The same source in one process and on a cluster.
//
//   mnist_mlp --data examples/data
//   tandem launch --ps 1 --workers 2 -- mnist_mlp --data examples/data --optimizer sgd
#include <tandem/tandem.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "mnist.h"

namespace td = tandem;

// A layer of `width` units, each connected to every value of `x`.
td::Output Dense(const td::Output& x, int64_t inputs, int64_t width, const std::string& name) {
  td::Graph& g = x.graph();
  const float stddev = 1.0f / std::sqrt(static_cast<float>(inputs));
  td::Variable w(g, td::TruncatedNormal(g, {inputs, width}, {.stddev = stddev, .seed = inputs}), name + "/weights");
  td::Variable b(g, td::Zeros(g, {width}), name + "/biases");
  return td::BiasAdd(td::MatMul(x, w), b);
}

std::unique_ptr<td::Optimizer> ChooseOptimizer(const std::string& name) {
  if (name == "adam") return std::make_unique<td::Adam>(0.002f);
  if (name == "sgd") return std::make_unique<td::GradientDescent>(0.2f);
  std::fprintf(stderr, "--optimizer=%s: use adam or sgd\n", name.c_str());
  std::exit(2);
}

int main(int argc, char** argv) {
  td::ClusterConfig job = td::ClusterConfig::FromArgs(argc, argv,
                                                      {{"steps", "2000", "train until this step"},
                                                       {"batch", "100", "images per step"},
                                                       {"optimizer", "adam", "adam or sgd"},
                                                       {"data", "examples/data", "the folder with the MNIST files"},
                                                       {"logdir", "", "for checkpoints and event files; none without it"}});
  const int64_t last_step = job.int_flag("steps");
  td::Server server(job);
  if (job.is_ps()) return server.Join();
  const mnist::Data data = mnist::Read(job.flag("data"));

  td::Graph g;
  td::DeviceScope device(g, td::ReplicaDeviceSetter(job));
  td::Output images = td::Placeholder(g, td::kFloat, {td::kUnknownSize, mnist::kPixels}, "images");
  td::Output labels = td::Placeholder(g, td::kInt32, {td::kUnknownSize}, "labels");
  td::Variable step = td::GlobalStep(g);
  td::Output hidden = td::Relu(Dense(images, mnist::kPixels, 100, "hidden"));
  td::Output logits = Dense(hidden, 100, 10, "softmax");
  td::Output loss = td::ReduceMean(td::SparseSoftmaxCrossEntropyWithLogits(logits, labels));
  td::Output accuracy = td::ReduceMean(td::Cast(td::Equal(td::ArgMax(logits, 1, td::kInt32), labels), td::kFloat));
  td::summary::Scalar("loss", loss);
  td::Operation train = ChooseOptimizer(job.flag("optimizer"))->Minimize(loss, step);

  td::Supervisor sv(g, {.is_chief = job.is_chief(), .logdir = job.flag("logdir"), .global_step = step, .save_summaries_secs = 2});
  td::Session& session = sv.ManagedSession(server.target());
  mnist::Batches batches(data.train, static_cast<int>(job.int_flag("batch")), 1 + job.task_index());
  int64_t now = 0, reported = 0;
  while (!sv.ShouldStop() && now < last_step) {
    const mnist::Batch batch = batches.Next();
    const std::vector<td::Tensor> result = session.Run({train, step, loss}, {{images, batch.pixels}, {labels, batch.labels}});
    now = result[1].scalar<int64_t>();
    if (now < reported + 100) continue;
    std::printf("step %ld  loss %.4f\n", now, result[2].scalar<float>());
    reported = now;
  }

  if (!job.is_chief()) return 0;
  const mnist::Batch test = mnist::All(data.test);
  const float reached = session.Run({accuracy}, {{images, test.pixels}, {labels, test.labels}})[0].scalar<float>();
  std::printf("%.2f %% of the %d test images are right\n", reached * 100, data.test.count());
  return 0;
}
