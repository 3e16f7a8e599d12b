#include "miniapps/fft2d/padding.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "core/base/errors.hpp"

namespace steelyard::fft2d {
namespace {

constexpr std::int64_t least_length = 32;
constexpr std::size_t most_lengths = 5;

bool is_smooth(std::int64_t number) {
  for (const std::int64_t factor : {2, 3, 5, 7}) {
    while (number % factor == 0) number /= factor;
  }
  return number == 1;
}

/// How often 2 divides it: libraries are fastest at powers of two.
int twos(std::int64_t number) {
  int count = 0;
  for (; number % 2 == 0; number /= 2) ++count;
  return count;
}

}  // namespace

Padding parse_padding(const std::string& text) {
  if (text == "none") return {};
  if (text == "auto") return {Padding::Kind::automatic, {}};
  Padding padding{Padding::Kind::given, {}};
  const char* const end = text.data() + text.size();
  const auto rows = std::from_chars(text.data(), end, padding.extents.rows);
  const bool more = rows.ec == std::errc() && rows.ptr != end && *rows.ptr == 'x';
  const auto columns = std::from_chars(more ? rows.ptr + 1 : end, end, padding.extents.columns);
  if (!more || columns.ec != std::errc() || columns.ptr != end || padding.extents.rows < 1 ||
      padding.extents.columns < 1) {
    throw InvalidArgument(fmt::format("--pad {} (expected none, auto or ROWSxCOLUMNS)", text));
  }
  return padding;
}

std::vector<std::int64_t> padded_lengths(std::int64_t length) {
  std::vector<std::int64_t> lengths{length};
  if (length < least_length) return lengths;
  std::vector<std::int64_t> smooth;
  for (std::int64_t longer = length + 1; longer <= length + length / 8; ++longer) {
    if (is_smooth(longer)) smooth.push_back(longer);
  }
  // The next few, and of the others those that 2 divides more often than any shorter one.
  int most = 0;
  for (const std::int64_t longer : smooth) {
    const bool early = lengths.size() < 3;
    if (early || (twos(longer) > most && lengths.size() < most_lengths)) lengths.push_back(longer);
    most = std::max(most, twos(longer));
  }
  return lengths;
}

Extents fastest_extents(const Extents& input, bool real,
                        const std::function<double(std::int64_t length, bool real)>& speed_of) {
  const std::vector<std::int64_t> rows = padded_lengths(input.rows), columns = padded_lengths(input.columns);
  std::vector<double> row_speeds, column_speeds;
  for (const std::int64_t length : columns) row_speeds.push_back(speed_of(length, real));
  for (const std::int64_t length : rows) column_speeds.push_back(speed_of(length, false));
  Extents best = input;
  double best_s = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const std::int64_t spectrum = real ? columns[j] / 2 + 1 : columns[j];
      const double seconds =
          static_cast<double>(rows[i]) / row_speeds[j] + static_cast<double>(spectrum) / column_speeds[i];
      if (seconds >= best_s) continue;
      best = {rows[i], columns[j]};
      best_s = seconds;
    }
  }
  return best;
}

}  // namespace steelyard::fft2d
