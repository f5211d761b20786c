#include "core/random.h"

#include <sys/random.h>

#include <random>

namespace tandem {

uint64_t RandomUint64() {
  uint64_t number = 0;
  while (number == 0) {
    // Asks the system each time: two processes forked from one must not draw the same numbers.
    if (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) {
      std::random_device device;
      number = (uint64_t{device()} << 32) | device();
    }
  }
  return number;
}

}  // namespace tandem
