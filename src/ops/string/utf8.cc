#include "ops/string/utf8.h"

namespace tandem {

int64_t CountCharacters(absl::string_view text) {
  int64_t count = 0;
  for (char byte : text) count += BeginsCharacter(byte) ? 1 : 0;
  return count;
}

char32_t DecodeFront(absl::string_view text, int* size) {
  constexpr char32_t kReplacement = 0xfffd;
  unsigned char first = static_cast<unsigned char>(text[0]);
  *size = 1;
  if (first < 0x80) return first;
  int length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < static_cast<size_t>(length)) return kReplacement;
  char32_t code_point = first & (0xff >> (length + 1));
  for (int i = 1; i < length; ++i) {
    if (BeginsCharacter(text[i])) return kReplacement;
    code_point = code_point << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  bool is_surrogate = code_point >= 0xd800 && code_point < 0xe000;
  if (code_point < kLeast[length] || code_point > 0x10ffff || is_surrogate) return kReplacement;
  *size = length;
  return code_point;
}

void AppendUtf8(char32_t code_point, std::string* text) {
  auto tail = [&](int shift) { text->push_back(static_cast<char>(0x80 | (code_point >> shift & 0x3f))); };
  if (code_point < 0x80) {
    text->push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    text->push_back(static_cast<char>(0xc0 | code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    text->push_back(static_cast<char>(0xe0 | code_point >> 12));
    tail(6);
    tail(0);
  } else {
    text->push_back(static_cast<char>(0xf0 | code_point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace tandem
