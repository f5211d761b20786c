// 784-100-10 classifier on MNIST images, plain gradient descent; goal=accuracy trains to 95 % on the test set.
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

#include "native/workload.h"

namespace bench {
namespace {

namespace td = tandem;

constexpr int kPixels = 784;
constexpr double kTargetAccuracy = 0.95;
constexpr double kGiveUpSeconds = 90;

// The bytes of a gzip file behind a header of `header` bytes.
std::vector<uint8_t> ReadIdx(const std::string& path, size_t header) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw td::Error(absl::NotFoundError("cannot open " + path));
  std::vector<uint8_t> bytes;
  uint8_t chunk[1 << 16];
  int count;
  while ((count = gzread(file, chunk, sizeof chunk)) > 0) bytes.insert(bytes.end(), chunk, chunk + count);
  gzclose(file);
  if (count < 0 || bytes.size() < header) throw td::Error(absl::DataLossError(path + " is damaged"));
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<long>(header));
  return bytes;
}

struct Digits {
  std::vector<float> images;  // rows of 784 pixels from 0 to 1
  std::vector<int32_t> labels;

  void Add(const uint8_t* pixels, uint8_t label) {
    for (int i = 0; i < kPixels; ++i) images.push_back(static_cast<float>(pixels[i]) / 255.0f);
    labels.push_back(label);
  }
  std::vector<td::Tensor> Rows(const std::vector<size_t>& order, size_t begin, size_t count) const {
    td::Tensor x(td::kFloat, td::Shape{static_cast<int64_t>(count), kPixels}), y(td::kInt32, td::Shape{static_cast<int64_t>(count)});
    for (size_t i = 0; i < count; ++i) {
      const size_t row = order.empty() ? begin + i : order[begin + i];
      std::memcpy(x.mutable_data<float>() + i * kPixels, images.data() + row * kPixels, kPixels * sizeof(float));
      y.mutable_data<int32_t>()[i] = labels[row];
    }
    return {x, y};
  }
};

class Mlp : public Workload {
 public:
  Mlp(const Arguments& arguments, Place& place) : model_(place), until_accurate_(arguments.text("goal", "rate") == "accuracy") {
    const auto batch = static_cast<size_t>(arguments.number("batch", 128));
    td::Graph& g = model_.graph;
    td::DeviceScope device(g, td::ReplicaDeviceSetter(place.config));
    td::Output images = td::Placeholder(g, td::kFloat, {-1, kPixels}, "images"), labels = td::Placeholder(g, td::kInt32, {-1}, "labels");
    td::Variable step = td::GlobalStep(g);
    td::Output logits = Dense(g, "softmax", td::Relu(Dense(g, "hidden", images, kPixels, 100)), 100, 10);
    td::Output loss = td::ReduceMean(td::SparseSoftmaxCrossEntropyWithLogits(logits, labels));
    td::Output right = td::ReduceSum(td::Cast(td::Equal(td::ArgMax(logits, 1, td::kInt32), labels), td::kInt32));
    td::Operation train = td::GradientDescent(0.2f).Minimize(loss, step);
    td::Session& session = model_.Open();
    run_ = session.MakeCallable({images, labels}, {step.value()}, {train});
    count_right_ = session.MakeCallable({images, labels}, {right});

    Load(arguments.text("data", "."));
    std::vector<size_t> order(train_.labels.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(arguments.number("seed", 1) + arguments.number("task_index"))));
    for (size_t at = 0; at + batch <= order.size(); at += batch) batches_.push_back(train_.Rows(order, at, batch));
    batch_ = batch;
    if (!until_accurate_) per_step_ = {{"steps_per_s", 1}, {"examples_per_s", static_cast<double>(batch)}};
  }

  void Step() override { run_.Run(batches_[next_++ % batches_.size()]); }

  void WarmUp(double seconds) override {
    if (!until_accurate_) return Workload::WarmUp(seconds);
    Step();
    Accuracy();
  }

  Result Measure(double seconds) override {
    if (!until_accurate_) return Workload::Measure(seconds);
    const auto begin = std::chrono::steady_clock::now();
    auto elapsed = [begin] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
    Result result;
    double accuracy = 0;
    while (accuracy < kTargetAccuracy && elapsed() < kGiveUpSeconds) {
      for (size_t i = 0; i < 8000 / batch_; ++i) {
        Step();
        ++result.steps;
      }
      accuracy = Accuracy();
    }
    result.seconds = elapsed();
    result.metrics = {{"seconds_to_target", result.seconds}, {"steps_to_target", static_cast<double>(result.steps)}, {"test_accuracy", accuracy}};
    return result;
  }

 private:
  static td::Output Dense(td::Graph& g, const std::string& name, const td::Output& inputs, int fan_in, int width) {
    td::Variable w(g,
                   td::TruncatedNormal(g, {fan_in, width}, {.stddev = static_cast<float>(std::pow(fan_in, -0.5)), .seed = fan_in + width}), name + "_w");
    td::Variable b(g, td::Zeros(g, {width}), name + "_b");
    return td::BiasAdd(td::MatMul(inputs, w), b);
  }

  // Of the 10,000 every fifth is for testing.
  void Load(const std::string& folder) {
    const std::vector<uint8_t> pixels = ReadIdx(folder + "/t10k-images-idx3-ubyte.gz", 16), labels = ReadIdx(folder + "/t10k-labels-idx1-ubyte.gz", 8);
    for (size_t i = 0; i < labels.size() && (i + 1) * kPixels <= pixels.size(); ++i) (i % 5 == 4 ? test_ : train_).Add(&pixels[i * kPixels], labels[i]);
  }

  double Accuracy() {
    const std::vector<td::Tensor> all = test_.Rows({}, 0, test_.labels.size());
    return static_cast<double>(count_right_.Run(all)[0].scalar<int32_t>()) / static_cast<double>(test_.labels.size());
  }

  Model model_;
  const bool until_accurate_;
  td::Callable run_, count_right_;
  Digits train_, test_;
  std::vector<std::vector<td::Tensor>> batches_;
  size_t next_ = 0, batch_ = 0;
};

}  // namespace

std::unique_ptr<Workload> MakeMlp(const Arguments& arguments, Place& place) { return std::make_unique<Mlp>(arguments, place); }

}  // namespace bench
