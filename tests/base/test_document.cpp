// Tables and pages: what people read.
#include <sstream>

#include "core/base/document.hpp"
#include "core/base/plot/xml_text.hpp"
#include "core/base/table.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_document {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

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

TEST_CASE("words start and numbers end in the same place on every line, but for the first column, which starts") {
  Table table({"unit", "share", "space"});
  CHECK(table.text() == "unit  share  space\n------------------\n");
  table.add_row({"8", "10", "1"});
  table.add_row({"1024", "-9000.5", "Cuda"});
  table.add_row({"x", "-", "a"});
  const auto lines = lines_of(table.text());
  CHECK(lines[0] == "unit    share  space");
  CHECK(lines[2] == "8          10  1");
  CHECK(lines[3] == "1024  -9000.5  Cuda");
  CHECK(lines[4] == "x           -  a");
}

TEST_CASE("no line is wider than the rule and the rule is as wide as the widest line") {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int> size(1, 12);
  std::uniform_int_distribution<int> count(1, 6);
  for (int trial = 0; trial < 200; ++trial) {
    const int columns = count(random);
    const auto cells = [&](char letter) {
      std::vector<std::string> row;
      for (int c = 0; c < columns; ++c) row.emplace_back(static_cast<std::size_t>(size(random)), letter);
      return row;
    };
    Table table(cells('h'));
    const int rows = count(random);
    for (int r = 0; r < rows; ++r) table.add_row(cells(r % 2 == 0 ? '7' : 'x'));
    const auto lines = lines_of(table.text());
    REQUIRE(lines.size() == static_cast<std::size_t>(rows) + 2);
    std::size_t widest = 0;
    for (const std::string& line : lines) {
      REQUIRE((line.empty() || line.back() != ' '));
      if (&line != &lines[1]) widest = std::max(widest, line.size());
    }
    REQUIRE(lines[1] == std::string(widest, '-'));
  }
}

TEST_CASE("a row needs one cell per heading, in tables and pages") {
  Table table({"a", "b"});
  Document page("Page");
  for (const std::vector<std::string>& row : {std::vector<std::string>{"1", "2", "3"}, {"1"}, {}}) {
    CHECK_THROWS_MATCHES(
        table.add_row(row), InvalidArgument,
        MessageMatches(ContainsSubstring(std::to_string(row.size()) + " cells") && ContainsSubstring("expected 2")));
    CHECK_THROWS_AS(page.add_table({"a", "b"}, {row}), InvalidArgument);
  }
  CHECK(lines_of(table.text()).size() == 2);
}

TEST_CASE("as comma-separated values a table has numbers in SI units, quoted words and empty cells") {
  Table table({"unit", "time", "share", "size"});
  table.add_row({"host, \"fast\"", "12.5 ms", "40.0 %", "2 KiB"});
  table.add_row({"device", "-", "7", "2 x 3"});
  CHECK(table.csv() == "unit,time,share,size\n\"host, \"\"fast\"\"\",0.0125,0.4,2048\ndevice,,7,2 x 3\n");
}

TEST_CASE("every table that is made into text is passed to the function that was set, until none is set") {
  std::string seen;
  Table::on_text([&](const Table& table) { seen += table.headings().front(); });
  CHECK_FALSE(Table({"a"}).text().empty());
  CHECK_FALSE(Table({"b"}).text().empty());
  Table::on_text(nullptr);
  CHECK_FALSE(Table({"c"}).text().empty());
  CHECK(seen == "ab");
}

TEST_CASE("a printed time is within half a percent of the time, in three digits, and is read as that number") {
  for (double seconds = 1.0e-9; seconds < 1e5; seconds *= 1.0037) {
    for (const double time : {seconds, -seconds}) {
      const std::string text = format_seconds(time);
      INFO(time << " -> " << text);
      REQUIRE(text.find('e') == std::string::npos);
      REQUIRE(text.size() <= 9);
      REQUIRE_THAT(Table::number(text).value(), WithinRel(time, 0.00501));
    }
  }
  for (const double edge : {0.99999e-6, 0.99999e-3, 0.99999, 999.99}) {
    CHECK_THAT(Table::number(format_seconds(edge)).value(), WithinRel(edge, 0.001));
  }
  CHECK(format_seconds(0.0) == "0 ns");
  CHECK(format_seconds(2.345e-6) == "2.35 us");
  CHECK(format_seconds(1.0) == "1.00 s");
  CHECK(format_seconds(-0.25) == "-250 ms");
}

TEST_CASE("bytes are given in powers of 1024") {
  CHECK(format_bytes(0.0) == "0 B");
  CHECK(format_bytes(1023.0) == "1023 B");
  CHECK(format_bytes(1024.0) == "1 KiB");
  CHECK(format_bytes(1536.0) == "1.5 KiB");
  CHECK(format_bytes(std::pow(2.0, 30) - 1.0) == "1024 MiB");
  for (int power = 0; power < 7; ++power) {
    const double bytes = 6.0 * std::exp2(10 * power);
    CHECK(Table::number(format_bytes(bytes)) == bytes);
  }
}

TEST_CASE("a page needs nothing from elsewhere, and nothing that is written on it is markup") {
  const std::string html = document().html();
  CHECK(count(html, "http") == count(html, "xmlns=\"http://www.w3.org/2000/svg\""));
  for (const char* const elsewhere : {"<script", "src=", "<link", "@import", "url("}) {
    CHECK(count(html, elsewhere) == 0);
  }
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

TEST_CASE("sections are in the list of contents, which leads there, and numbers stand flush right in both formats") {
  const std::string html = document().html();
  for (const char* const anchor : {"section-1", "section-2"}) {
    CHECK(count(html, std::string("href=\"#") + anchor + "\"") == 1);
    CHECK(count(html, std::string("id=\"") + anchor + "\"") == 1);
  }
  CHECK(count(html, "section-3") == 0);
  CHECK(count(html, "class=\"number\"") == 3);
  CHECK_THAT(document().markdown(),
             ContainsSubstring("| run | time |\n| --- | ---: |\n| a\\|b | 1.5 ms |\n| c | - |\n"));
}

TEST_CASE("text can stand in XML whatever its bytes, and is cut to as many characters as asked for") {
  CHECK(xml_text("a<b>&\"c\"'d'\t\n") == "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;\t\n");
  CHECK(xml_text("τ-Lop, 5 µs → 𝛼") == "τ-Lop, 5 µs → 𝛼");
  // Bytes that are no character of XML are replaced: cut off, overlong, surrogates, above U+10FFFF, U+FFFF.
  CHECK(xml_text("a\xef\xbf\xbf\x62") == "a\uFFFDb");
  for (const std::string& bad : {std::string(1, '\0'), std::string("\x1b"), std::string("\xff"), std::string("\x80"),
                                 std::string("\xc3"), std::string("\xc0\xaf"), std::string("\xed\xa0\x80"),
                                 std::string("\xe0\x80\xaf"), std::string("\xf4\x90\x80\x80")}) {
    std::string replaced = "a";
    for (std::size_t i = 0; i < bad.size(); ++i) replaced += "\uFFFD";
    CHECK(xml_text("a" + bad + "b") == replaced + "b");
    CHECK(count_characters("a" + bad + "b") == bad.size() + 2);
  }
  CHECK(xml_text("memory", 6) == "memory");
  CHECK(xml_text("memory", 5) == "memo…");
  CHECK(xml_text("a<b & c", 3) == "a&lt;…");
  CHECK(xml_text("ττττ", 3) == "ττ…");
  CHECK(xml_text("memory", 1) == "…");
  CHECK(xml_text("memory", 0) == "…");
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

}  // namespace steelyard::test_document
