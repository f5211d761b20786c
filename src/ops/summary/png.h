// Images as PNG files.
#pragma once

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "core/status.h"

namespace tandem {

// `pixels`: height * width * channels bytes, row by row. 1 channel is grey, 3 are RGB, 4 are RGBA.
StatusOr<std::string> EncodePng(absl::Span<const uint8_t> pixels, int height, int width, int channels);

}  // namespace tandem
