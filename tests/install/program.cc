// Trains w of y = w x for a few steps with nothing but the installed headers and library.
#include <tandem/tandem.h>

#include <cmath>
#include <cstdio>

namespace td = tandem;

int main() {
  td::Graph g;
  td::Output x = td::Placeholder(g, td::kFloat, {}, "x"), y = td::Placeholder(g, td::kFloat, {}, "y");
  td::Variable w(g, td::Zeros(g, {}), "w");
  td::Operation train = td::GradientDescent(0.1f).Minimize(td::Square(y - x * w));
  td::Session session(g);
  session.Run({td::GlobalVariablesInitializer(g)});
  for (int i = 0; i < 100; ++i) session.Run({train}, {{x, 1.0f}, {y, 3.0f}});
  const float learned = session.Run({w.value()})[0].scalar<float>();
  std::printf("w = %f\n", learned);
  return std::abs(learned - 3.0f) < 1e-3f ? 0 : 1;
}
