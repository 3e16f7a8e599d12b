#include "tests/device/emulated/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::emulated {
namespace {

[[noreturn]] void refuse(std::string_view word, std::string_view expected) {
  throw InvalidArgument(fmt::format("STEELYARD_EMULATED_DEVICE: \"{}\" (expected {})", word, expected));
}

/// A whole number of at least `least`, and what is written behind it.
std::pair<std::uint64_t, std::string_view> number_in(std::string_view word, std::string_view value, std::uint64_t least,
                                                     std::string_view expected) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || number < least) refuse(word, expected);
  return {number, value.substr(static_cast<std::size_t>(end - value.data()))};
}

std::uint64_t whole(std::string_view word, std::string_view value, std::uint64_t least, std::string_view expected) {
  const auto [number, rest] = number_in(word, value, least, expected);
  if (!rest.empty()) refuse(word, expected);
  return number;
}

std::uint64_t bytes(std::string_view word, std::string_view value) {
  constexpr std::string_view expected = "a size such as 48KiB, 64MiB or 1GiB";
  const auto [number, unit] = number_in(word, value, 1, expected);
  if (unit == "KiB") return number << 10;
  if (unit == "MiB") return number << 20;
  if (unit == "GiB") return number << 30;
  if (!unit.empty()) refuse(word, expected);
  return number;
}

Mistake mistake(std::string_view word, std::string_view value) {
  constexpr std::array<std::string_view, 5> names = {"none", "fence", "event", "copy", "barrier"};
  const auto found = std::find(names.begin(), names.end(), value);
  if (found == names.end()) refuse(word, "none, fence, event, copy or barrier");
  return static_cast<Mistake>(found - names.begin());
}

thread_local int device_of_this_thread = 0;

}  // namespace

Facts parse_facts(const std::string& text) {
  Facts facts;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const std::string_view key = word.substr(0, word.find('='));
    const std::string_view value = word.substr(std::min(word.size(), key.size() + 1));
    if (key == "memory") {
      facts.memory_bytes = static_cast<double>(bytes(word, value));
    } else if (key == "scratch") {
      facts.scratch_bytes = bytes(word, value);
    } else if (key == "devices") {
      facts.devices = static_cast<int>(whole(word, value, 1, "a number of devices >= 1"));
    } else if (key == "seed") {
      facts.seed = whole(word, value, 0, "a number >= 0");
    } else if (key == "lose") {
      facts.lost = mistake(word, value);
    } else if (key == "mpi" && (value == "aware" || value == "host")) {
      facts.mpi_aware = value == "aware";
    } else {
      refuse(word, "memory=, devices=, scratch=, seed=, lose= or mpi=aware|host");
    }
  }
  return facts;
}

const Facts& facts() {
  static const Facts of_this_process = [] {
    const char* const text = std::getenv("STEELYARD_EMULATED_DEVICE");
    return parse_facts(text == nullptr ? "" : text);
  }();
  return of_this_process;
}

int selected_device() { return device_of_this_thread; }

void select_device(int device) {
  if (device < 0 || device >= facts().devices) {
    throw InvalidArgument(fmt::format("device {} is not there (expected 0 to {})", device, facts().devices - 1));
  }
  device_of_this_thread = device;
}

}  // namespace steelyard::emulated
