// Reads handwritten digits with one layer: softmax regression. The same source in one process and on a cluster.
//
//   mnist_softmax --data examples/data
//   tandem launch --ps 1 --workers 2 -- mnist_softmax --data examples/data
#include <tandem/tandem.h>

#include <cstdio>

#include "mnist.h"

namespace td = tandem;

int main(int argc, char** argv) {
  td::ClusterConfig job = td::ClusterConfig::FromArgs(argc, argv,
                                                      {{"steps", "1000", "train until this step"},
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
  td::Variable w(g, td::Zeros(g, {mnist::kPixels, 10}), "softmax/weights"), b(g, td::Zeros(g, {10}), "softmax/biases");
  td::Variable step = td::GlobalStep(g);
  td::Output logits = td::BiasAdd(td::MatMul(images, w), b);
  td::Output loss = td::ReduceMean(td::SparseSoftmaxCrossEntropyWithLogits(logits, labels));
  td::Output accuracy = td::ReduceMean(td::Cast(td::Equal(td::ArgMax(logits, 1, td::kInt32), labels), td::kFloat));
  td::Operation train = td::GradientDescent(0.5f).Minimize(loss, step);

  td::Supervisor sv(g, {.is_chief = job.is_chief(), .logdir = job.flag("logdir"), .global_step = step});
  td::Session& session = sv.ManagedSession(server.target());
  mnist::Batches batches(data.train, 100, 1 + job.task_index());
  int64_t now = 0;
  while (!sv.ShouldStop() && now < last_step) {
    const mnist::Batch batch = batches.Next();
    const std::vector<td::Tensor> result = session.Run({train, step, loss}, {{images, batch.pixels}, {labels, batch.labels}});
    now = result[1].scalar<int64_t>();
    if (now % 100 == 0) std::printf("step %ld  loss %.4f\n", now, result[2].scalar<float>());
  }

  if (!job.is_chief()) return 0;
  const mnist::Batch test = mnist::All(data.test);
  const float reached = session.Run({accuracy}, {{images, test.pixels}, {labels, test.labels}})[0].scalar<float>();
  std::printf("%.2f %% of the %d test images are right\n", reached * 100, data.test.count());
  return 0;
}
