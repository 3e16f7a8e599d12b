#include "core/base/plot/xml_text.hpp"

#include <algorithm>

namespace steelyard {
namespace {

/// Bytes of the character of XML 1.0 that the text begins with; 0 when it begins with none.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 || lead == '\t' || lead == '\n' || lead == '\r' ? 1 : 0;
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return 0;
  unsigned long code = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return overlong || surrogate || code == 0xFFFE || code == 0xFFFF || code > 0x10FFFF ? 0 : size;
}

std::string escaped(std::string_view character) {
  switch (character[0]) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return std::string(character);
  }
}

}  // namespace

std::string xml_text(std::string_view text, std::size_t at_most) {
  const bool cut = count_characters(text) > at_most;
  std::size_t room = cut ? std::max<std::size_t>(at_most, 1) - 1 : at_most;
  std::string result;
  for (; !text.empty() && room > 0; --room) {
    const std::size_t size = character_size(text);
    result += size > 0 ? escaped(text.substr(0, size)) : "\uFFFD";
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return cut ? result + "…" : result;
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(std::max<std::size_t>(character_size(text), 1));
  return count;
}

}  // namespace steelyard
