#include "ops/summary/png.h"

#include <png.h>

#include <csetjmp>
#include <vector>

namespace tandem {
namespace {

void AppendBytes(png_structp png, png_bytep data, png_size_t size) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<char*>(data), size);
}

void KeepError(png_structp png, png_const_charp text) {
  *static_cast<std::string*>(png_get_error_ptr(png)) = text;
  png_longjmp(png, 1);
}

void IgnoreWarning(png_structp, png_const_charp) {}

// libpng leaves by longjmp on an error: no object with a destructor may live here.
bool Write(png_structp png, png_infop info, const uint8_t* pixels, int height, int width, int channels, std::string* out) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  constexpr int kBitDepth = 8;
  constexpr int kColorTypes[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA};
  png_set_write_fn(png, out, AppendBytes, nullptr);
  png_set_compression_mem_level(png, 9);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), kBitDepth, kColorTypes[channels], PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (int row = 0; row < height; ++row) png_write_row(png, pixels + static_cast<size_t>(row) * static_cast<size_t>(width) * static_cast<size_t>(channels));
  png_write_end(png, nullptr);
  return true;
}

}  // namespace

StatusOr<std::string> EncodePng(absl::Span<const uint8_t> pixels, int height, int width, int channels) {
  if (height < 1 || width < 1 || channels < 1 || channels > 4 ||
      pixels.size() != static_cast<size_t>(height) * static_cast<size_t>(width) * static_cast<size_t>(channels)) {
    return InvalidArgument("cannot encode an image of ", pixels.size(), " bytes as ", height, " x ", width, " x ", channels);
  }
  std::string encoded, error;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &error, KeepError, IgnoreWarning);
  if (png == nullptr) return ResourceExhausted("no memory to encode an image");
  png_infop info = png_create_info_struct(png);
  bool is_written = info != nullptr && Write(png, info, pixels.data(), height, width, channels, &encoded);
  png_destroy_write_struct(&png, &info);
  if (!is_written) return InvalidArgument("cannot encode an image of ", height, " x ", width, ": ", error);
  return encoded;
}

}  // namespace tandem
