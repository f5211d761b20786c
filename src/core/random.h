// Numbers that nobody can guess or repeat: incarnations, session handles, seeds that the user did not choose.
#pragma once

#include <cstdint>

namespace tandem {

// Never 0. Any thread.
uint64_t RandomUint64();

}  // namespace tandem
