// The MNIST images of examples/data, and batches of them.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <tandem/tandem.h>

namespace mnist {

constexpr int kPixels = 28 * 28;
constexpr int kTraining = 8000;  // images 0 … 7,999 train, the others test

struct Images {
  std::vector<float> pixels;    // kPixels a piece, 0 … 1
  std::vector<int32_t> labels;  // 0 … 9
  int count() const { return static_cast<int>(labels.size()); }
};

struct Data {
  Images train, test;
};

[[noreturn]] inline void Fail(const std::string& path, const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", path.c_str(), what.c_str());
  std::exit(1);
}

// The content of an IDX file behind its header, which must say `magic` and then `sizes`.
inline std::vector<uint8_t> ReadIdx(const std::string& path, uint32_t magic, const std::vector<uint32_t>& sizes) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) Fail(path, "cannot be read; --data names the folder with the MNIST files");
  std::vector<uint32_t> expected = {magic};
  expected.insert(expected.end(), sizes.begin(), sizes.end());
  size_t bytes = 1;
  for (uint32_t size : sizes) bytes *= size;
  for (uint32_t value : expected) {
    uint8_t b[4];
    if (gzread(file, b, 4) != 4) Fail(path, "ends within its header");
    const uint32_t found = static_cast<uint32_t>(b[0]) << 24 | static_cast<uint32_t>(b[1]) << 16 | static_cast<uint32_t>(b[2]) << 8 | b[3];
    if (found != value) Fail(path, "has " + std::to_string(found) + " in its header where " + std::to_string(value) + " is wanted");
  }
  std::vector<uint8_t> content(bytes);
  if (gzread(file, content.data(), static_cast<unsigned>(bytes)) != static_cast<int>(bytes)) Fail(path, "is too short or damaged");
  gzclose(file);
  return content;
}

inline Data Read(const std::string& folder) {
  constexpr uint32_t kCount = 10000;
  const std::vector<uint8_t> pixels = ReadIdx(folder + "/t10k-images-idx3-ubyte.gz", 2051, {kCount, 28, 28});
  const std::vector<uint8_t> labels = ReadIdx(folder + "/t10k-labels-idx1-ubyte.gz", 2049, {kCount});
  Data data;
  for (uint32_t i = 0; i < kCount; ++i) {
    Images& images = i < kTraining ? data.train : data.test;
    images.labels.push_back(labels[i]);
    for (int p = 0; p < kPixels; ++p) images.pixels.push_back(static_cast<float>(pixels[i * kPixels + p]) / 255.0f);
  }
  return data;
}

// What is fed in one step.
struct Batch {
  tandem::Tensor pixels, labels;  // [n, 784] and [n]
};

inline Batch All(const Images& images) {
  return {tandem::Tensor::Of<float>({images.count(), kPixels}, absl::MakeConstSpan(images.pixels)), tandem::Tensor(images.labels)};
}

// Batches in random order, without end. Workers with different seeds see different orders.
class Batches {
 public:
  Batches(const Images& images, int size, uint32_t seed) : images_(images), size_(size), random_(seed) {}

  Batch Next() {
    Batch batch{tandem::Tensor(tandem::kFloat, {size_, kPixels}), tandem::Tensor(tandem::kInt32, {size_})};
    float* pixels = batch.pixels.mutable_data<float>();
    int32_t* labels = batch.labels.mutable_data<int32_t>();
    for (int i = 0; i < size_; ++i) {
      const int chosen = std::uniform_int_distribution<int>(0, images_.count() - 1)(random_);
      std::copy_n(images_.pixels.begin() + static_cast<int64_t>(chosen) * kPixels, kPixels, pixels + static_cast<int64_t>(i) * kPixels);
      labels[i] = images_.labels[chosen];
    }
    return batch;
  }

 private:
  const Images& images_;
  const int size_;
  std::mt19937 random_;
};

}  // namespace mnist
