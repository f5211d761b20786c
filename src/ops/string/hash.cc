// Strings to hash buckets. The hashes are TensorFlow's to the bit, so that feature columns of both fall into the same buckets.
#include <farmhash.h>
#include <highwayhash/sip_hash.h>

#include <cstring>
#include <string>
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

// MurmurHash64A with the seed that TensorFlow uses for names and for StringToHashBucket.
uint64_t Hash64(absl::string_view text) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995u, kSeed = 0xDECAFCAFFEu;
  constexpr int kShift = 47;
  uint64_t hash = kSeed ^ (text.size() * kMultiplier);
  size_t whole = text.size() / 8 * 8;
  for (size_t i = 0; i < whole; i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, sizeof word);
    word *= kMultiplier;
    word ^= word >> kShift;
    word *= kMultiplier;
    hash ^= word;
    hash *= kMultiplier;
  }
  if (whole < text.size()) {
    uint64_t tail = 0;
    for (size_t i = whole; i < text.size(); ++i) tail |= static_cast<uint64_t>(static_cast<unsigned char>(text[i])) << (8 * (i - whole));
    hash ^= tail;
    hash *= kMultiplier;
  }
  hash ^= hash >> kShift;
  hash *= kMultiplier;
  return hash ^ (hash >> kShift);
}

template <typename Hash>
Status ToBuckets(KernelContext& ctx, uint64_t bucket_count, Hash hash) {
  const Tensor& input = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, input.shape()));
  int64_t* to = output->mutable_data<int64_t>();
  for (const std::string& text : input.values<std::string>()) *to++ = static_cast<int64_t>(hash(text) % bucket_count);
  return OkStatus();
}

struct Buckets {
  explicit Buckets(const Attrs& attrs) : count(static_cast<uint64_t>(attrs.GetInt("num_buckets"))) {
    if (attrs.GetInt("num_buckets") < 1) attrs.Fail(InvalidArgument("num_buckets must be at least 1, got ", attrs.GetInt("num_buckets")));
  }
  uint64_t count;
};

struct Fast : Buckets {
  using Buckets::Buckets;
  Status Run(KernelContext& ctx) const {
    return ToBuckets(ctx, count, [](const std::string& text) { return NAMESPACE_FOR_HASH_FUNCTIONS::Fingerprint64(text.data(), text.size()); });
  }
};

struct Strong : Buckets {
  explicit Strong(const Attrs& attrs) : Buckets(attrs) {
    std::vector<int64_t> values = attrs.GetInts("key");
    if (values.size() != 2) {
      attrs.Fail(InvalidArgument("Key must have 2 elements"));
      return;
    }
    key[0] = static_cast<uint64_t>(values[0]);
    key[1] = static_cast<uint64_t>(values[1]);
  }
  Status Run(KernelContext& ctx) const {
    return ToBuckets(ctx, count, [this](const std::string& text) { return highwayhash::SipHash(key, text.data(), text.size()); });
  }
  highwayhash::HH_U64 key[2] = {0, 0};
};

struct Plain : Buckets {
  using Buckets::Buckets;
  Status Run(KernelContext& ctx) const { return ToBuckets(ctx, count, Hash64); }
};

DEFINE_OP("StringToHashBucketFast")
    .Input("input: string")
    .Output("output: int64")
    .Attr("num_buckets: int >= 1")
    .Shape(SameAsInput0)
    .Cpu(AnyType<Fast>())
    .NoGradient();

DEFINE_OP("StringToHashBucketStrong")
    .Input("input: string")
    .Output("output: int64")
    .Attr("num_buckets: int >= 1")
    .Attr("key: list(int)")
    .Shape(SameAsInput0)
    .Cpu(AnyType<Strong>())
    .NoGradient();

DEFINE_OP("StringToHashBucket")
    .Input("string_tensor: string")
    .Output("output: int64")
    .Attr("num_buckets: int >= 1")
    .Shape(SameAsInput0)
    .Cpu(AnyType<Plain>())
    .NoGradient();

}  // namespace
}  // namespace tandem
