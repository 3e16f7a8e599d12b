#pragma once

#include <png.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "core/base/plot/colour_map.hpp"

namespace steelyard::tests {

struct Picture {
  std::int64_t rows = 0, columns = 0;
  int bits = 0, colour_type = 0;
  bool srgb = false;
  std::vector<Rgb> pixels;
};

/// What libpng, with no conversions, finds in a file.
inline Picture read_png(const std::filesystem::path& path) {
  Picture picture;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  REQUIRE(file);
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  REQUIRE(png != nullptr);
  png_infop info = png_create_info_struct(png);
  REQUIRE(info != nullptr);
  if (setjmp(png_jmpbuf(png)) != 0) {
    png_destroy_read_struct(&png, &info, nullptr);
    FAIL("libpng cannot read " << path);
  }
  png_init_io(png, file.get());
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_read_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  picture.rows = png_get_image_height(png, info);
  picture.columns = png_get_image_width(png, info);
  picture.bits = png_get_bit_depth(png, info);
  picture.colour_type = png_get_color_type(png, info);
  picture.srgb = png_get_valid(png, info, PNG_INFO_sRGB) != 0;
  for (std::int64_t i = 0; i < picture.rows; ++i) {
    const auto* row = reinterpret_cast<const Rgb*>(png_get_rows(png, info)[i]);
    picture.pixels.insert(picture.pixels.end(), row, row + picture.columns);
  }
  png_destroy_read_struct(&png, &info, nullptr);
  return picture;
}

}  // namespace steelyard::tests
