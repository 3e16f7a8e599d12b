#include "core/base/plot/xml_text.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace steelyard {
namespace {

/// The text with U+FFFD in place of bytes that are not UTF-8.
std::string valid_utf8(std::string_view text) {
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

std::string_view escaped(std::string_view character) {
  static const std::map<std::string_view, std::string_view> escapes{
      {"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"},     {"'", "&#39;"},
      {"\t", "\t"},   {"\n", "\n"},  {"\r", "\r"},  {"\uFFFE", "\uFFFD"}, {"\uFFFF", "\uFFFD"}};
  const auto found = escapes.find(character);
  if (found != escapes.end()) return found->second;
  return static_cast<unsigned char>(character[0]) < 0x20 ? "\uFFFD" : character;
}

}  // namespace

std::string xml_text(std::string_view text, std::size_t at_most) {
  const std::string valid = valid_utf8(text);
  const bool cut = count_characters(valid) > at_most;
  std::size_t room = cut ? std::max<std::size_t>(at_most, 1) - 1 : at_most;
  std::string result;
  for (std::size_t begin = 0, end = 0; begin < valid.size() && room > 0; begin = end, --room) {
    for (++end; end < valid.size() && !begins_character(valid[end]);) ++end;
    result += escaped(std::string_view(valid).substr(begin, end - begin));
  }
  return cut ? result + "…" : result;
}

std::size_t count_characters(std::string_view text) {
  const std::string valid = valid_utf8(text);
  return static_cast<std::size_t>(std::count_if(valid.begin(), valid.end(), begins_character));
}

}  // namespace steelyard
