#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "core/base/document.hpp"
#include "core/base/errors.hpp"

namespace steelyard::test_document {

using Catch::Matchers::ContainsSubstring;

namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

Document document() {
  Document document("A <title>");
  document.add_heading(1, "One & all");
  document.add_facts({{"machine", "a \"big\" one"}});
  document.add_table({"run", "time"}, {{"a|b", "1.5 ms"}, {"c", "-"}});
  SvgPlot chart;
  chart.title = "Speeds";
  chart.series = {{"host", {1.0, 2.0}, {3.0, 4.0}}};
  document.add_chart(chart);
  document.add_heading(2, "A part");
  document.add_text("Whatever <script> is written, it is text.");
  document.add_heading(1, "Two");
  return document;
}

}  // namespace

TEST_CASE("a page needs nothing from elsewhere, and nothing that is written on it is markup") {
  const std::string html = document().html();
  CHECK(count(html, "http") == count(html, "xmlns=\"http://www.w3.org/2000/svg\""));
  for (const char* const elsewhere : {"<script", "src=", "<link", "@import", "url("})
    CHECK(count(html, elsewhere) == 0);
  CHECK_THAT(html, ContainsSubstring("<title>A &lt;title&gt;</title>"));
  CHECK_THAT(html, ContainsSubstring("Whatever &lt;script&gt; is written"));
  for (const char* const element : {"h2", "h3", "table", "tr", "th", "td", "figure", "dl", "svg", "p"}) {
    INFO(element);
    // Each is closed as often as it is opened.
    const std::string name = element;
    CHECK(count(html, "<" + name + ">") + count(html, "<" + name + " ") == count(html, "</" + name + ">"));
    CHECK(count(html, "</" + name + ">") > 0);
  }
}

TEST_CASE("every section is in the list of contents, and leads there") {
  const std::string html = document().html();
  for (const char* const anchor : {"section-1", "section-2"}) {
    CHECK(count(html, std::string("href=\"#") + anchor + "\"") == 1);
    CHECK(count(html, std::string("id=\"") + anchor + "\"") == 1);
  }
  CHECK(count(html, "section-3") == 0);
  Document short_one("One section");
  short_one.add_heading(1, "Alone");
  CHECK(count(short_one.html(), "<nav") == 0);
}

TEST_CASE("columns of numbers stand flush right in both formats, and texts do not") {
  CHECK(count(document().html(), "class=\"number\"") == 3);
  CHECK_THAT(document().markdown(),
             ContainsSubstring("| run | time |\n| --- | ---: |\n| a\\|b | 1.5 ms |\n| c | - |\n"));
}

TEST_CASE("a row that is too short or too long is refused") {
  Document page("Page");
  CHECK_THROWS_AS(page.add_table({"a", "b"}, {{"1"}}), InvalidArgument);
  CHECK_THROWS_AS(page.add_table({"a"}, {{"1", "2"}}), InvalidArgument);
}

}  // namespace steelyard::test_document
