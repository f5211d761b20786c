// Characters of UTF-8 text.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

// Whether a byte begins a character; wrong bytes count as characters of their own.
inline bool BeginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

int64_t CountCharacters(absl::string_view text);

// The code point at the front of `text`, which is not empty, and its bytes; U+FFFD and 1 if they are not UTF-8.
char32_t DecodeFront(absl::string_view text, int* size);
void AppendUtf8(char32_t code_point, std::string* text);

}  // namespace tandem
