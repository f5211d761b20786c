// Conversion between element types.
#pragma once

#include <cstdint>

#include "tandem/dtype.h"

namespace tandem {

// Whether CastElements can: numbers and bool, not strings, resources and quantised types.
bool IsCastable(DataType from, DataType to);

// As C++ converts: to integers towards zero, from complex the real part, to bool whether it is not 0. What a float outside the
// range of an integer type becomes is not defined, but it does no harm. Both ranges hold `count` elements and do not overlap.
void CastElements(DataType from_type, const void* from, DataType to_type, void* to, int64_t count);

}  // namespace tandem
