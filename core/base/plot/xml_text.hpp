#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace steelyard {

/// Text as it can stand in XML or HTML, between tags and in attributes of either quote: & < > " ' escaped, and whatever
/// is not UTF-8 or not a character of XML 1.0 (section 2.2) replaced by U+FFFD, so that no name can break a page.
/// @param at_most characters, after which text is cut and ends with an ellipsis; at least one is kept
std::string xml_text(std::string_view text, std::size_t at_most = std::string_view::npos);

/// How many characters xml_text shows of the whole text.
std::size_t count_characters(std::string_view text);

}  // namespace steelyard
