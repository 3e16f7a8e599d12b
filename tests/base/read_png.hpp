#pragma once

#include <png.h>

#include <filesystem>

#include "core/base/plot/picture.hpp"
#include "tests/catch.hpp"

namespace steelyard::tests {

struct Picture {
  std::int64_t rows = 0, columns = 0;
  std::vector<Rgb> pixels;
};

/// What libpng finds in a file of three bytes a pixel that is marked as sRGB.
inline Picture read_png(const std::filesystem::path& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) FAIL(path << ": " << image.message);
  REQUIRE(image.format == PNG_FORMAT_RGB);
  REQUIRE(image.flags == 0);
  Picture picture{image.height, image.width, std::vector<Rgb>(std::size_t{image.height} * image.width)};
  REQUIRE(png_image_finish_read(&image, nullptr, picture.pixels.data(), 0, nullptr) != 0);
  return picture;
}

}  // namespace steelyard::tests
