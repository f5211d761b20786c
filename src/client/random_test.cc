// The numbers are what TensorFlow 2.15.1 gives for the same program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tandem/ops.h"
#include "tandem/session.h"

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

auto Near(float value) { return FloatNear(value, 1e-6f); }

TEST(Random, GivesTensorFlowsNumbersForAGraphSeed) {
  Graph g;
  g.set_seed(7);
  Output a = RandomNormal(g, {2});
  Output b = RandomNormal(g, {2}, {.seed = 5});
  Output c = RandomUniform(g, {2}, {.low = -1, .high = 3});
  Output d = TruncatedNormal(g, {3}, {.stddev = 0.1f});
  Output e = RandomUniform(g, {4}, {.low = 0, .high = 50, .dtype = kInt32});
  Session session(g);
  std::vector<Tensor> out = session.Run({a, b, c, d, e});
  EXPECT_THAT(out[0].values<float>(), ElementsAre(Near(0.3536911f), Near(0.6635877f)));
  EXPECT_THAT(out[1].values<float>(), ElementsAre(Near(0.00727805f), Near(0.53435814f)));
  EXPECT_THAT(out[2].values<float>(), ElementsAre(Near(0.8414993f), Near(2.7140727f)));
  EXPECT_THAT(out[3].values<float>(), ElementsAre(Near(-0.14716817f), Near(-0.06164556f), Near(-0.03706751f)));
  EXPECT_THAT(out[4].values<int32_t>(), ElementsAre(43, 8, 0, 38));
}

TEST(Random, GivesTensorFlowsNumbersForTheSeedOfAnOp) {
  Graph g;
  Output b = RandomNormal(g, {2}, {.seed = 5});
  Session session(g);
  EXPECT_THAT(session.Run({b})[0].values<float>(), ElementsAre(Near(-1.1780828f), Near(-0.7099414f)));
}

TEST(Random, DiffersWithoutSeeds) {
  Graph g;
  Output a = RandomNormal(g, {100}), b = RandomNormal(g, {100});
  Session session(g);
  std::vector<Tensor> out = session.Run({a, b});
  EXPECT_NE(std::vector<float>(out[0].values<float>().begin(), out[0].values<float>().end()),
            std::vector<float>(out[1].values<float>().begin(), out[1].values<float>().end()));
}

}  // namespace
}  // namespace tandem
