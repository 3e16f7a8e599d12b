#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <random>
#include <string>

#include "core/base/plot/xml_text.hpp"

namespace steelyard::test_xml_text {

TEST_CASE("what means something in XML is escaped and everything else stays") {
  CHECK(xml_text("a<b>&\"c\"'d'") == "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;");
  CHECK(xml_text("τ-Lop, 5 µs → 𝛼") == "τ-Lop, 5 µs → 𝛼");
  CHECK(xml_text("tab\tand\nline") == "tab\tand\nline");
  CHECK(xml_text("").empty());
}

TEST_CASE("bytes that are no character of XML are replaced one by one") {
  const std::string bad = GENERATE(std::string(1, '\0'), "\x1b", "\xff", "\x80", "\xc0", "\xe2", "\xf5");
  CHECK(xml_text("a" + bad + "b") == "a\uFFFDb");
  CHECK(count_characters("a" + bad + "b") == 3);
  CHECK(xml_text("\xc3") == "\uFFFD");                                  // ends inside a character
  CHECK(xml_text("\xc0\xaf") == "\uFFFD\uFFFD");                        // overlong slash
  CHECK(xml_text("\xed\xa0\x80") == "\uFFFD\uFFFD\uFFFD");              // surrogate
  CHECK(xml_text("\xef\xbf\xbf") == "\uFFFD\uFFFD\uFFFD");              // U+FFFF
  CHECK(xml_text("\xe0\x80\xaf") == "\uFFFD\uFFFD\uFFFD");              // overlong again
  CHECK(xml_text("\xf4\x90\x80\x80") == xml_text("\xff\xff\xff\xff"));  // above U+10FFFF
}

TEST_CASE("cut text has as many characters as asked for and ends with an ellipsis") {
  CHECK(xml_text("memory", 6) == "memory");
  CHECK(xml_text("memory", 5) == "memo…");
  CHECK(xml_text("a<b & c", 3) == "a&lt;…");
  CHECK(xml_text("ττττ", 3) == "ττ…");
  CHECK(xml_text("memory", 1) == "…");
  CHECK(xml_text("memory", 0) == "…");
}

TEST_CASE("no bytes whatever leave a raw bracket or a character that is not UTF-8") {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int> byte(0, 255);
  for (int trial = 0; trial < 2000; ++trial) {
    std::string raw(12, ' ');
    for (char& c : raw) c = static_cast<char>(byte(random));
    const std::string text = xml_text(raw);
    REQUIRE(text.find_first_of("<>\"'") == std::string::npos);
    // The escaped text is text itself: nothing in it needs to be replaced again.
    std::string twice = xml_text(text);
    for (std::size_t at = 0; (at = twice.find("&amp;", at)) != std::string::npos; ++at) twice.erase(at + 1, 4);
    REQUIRE(twice == text);
  }
}

}  // namespace steelyard::test_xml_text
