// What people read: tables, pages and how far a run has come.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <regex>
#include <sstream>
#include <thread>

#include "core/base/document.hpp"
#include "core/base/plot/xml_text.hpp"
#include "core/base/progress.hpp"
#include "core/base/table.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_document {

using tests::TemporaryFolder;

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

TEST_CASE("a table has its cells in rows, numbers flush right, and a rule as wide as the widest line") {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int> size(1, 12);
  std::uniform_int_distribution<int> few(1, 6);
  for (int trial = 0; trial < 200; ++trial) {
    const int columns = few(random), rows = few(random);
    const auto cells = [&](char letter) {
      std::vector<std::string> row;
      for (int c = 0; c < columns; ++c) row.emplace_back(static_cast<std::size_t>(size(random)), letter);
      return row;
    };
    const bool words = trial % 2 == 0;
    Table table(cells('h'));
    std::vector<std::vector<std::string>> shown;
    for (int r = 0; r < rows; ++r) table.add_row(shown.emplace_back(cells(words && r % 2 == 0 ? 'x' : '7')));
    std::istringstream text(table.text());
    std::string heading, rule, line;
    std::getline(text, heading);
    std::getline(text, rule);
    std::size_t widest = heading.size();
    for (const std::vector<std::string>& row : shown) {
      REQUIRE(std::getline(text, line).good());
      REQUIRE(line.back() != ' ');
      if (!words && columns > 1) REQUIRE(line.size() == rule.size());
      widest = std::max(widest, line.size());
      std::istringstream found(line);
      for (const std::string& cell : row) {
        std::string word;
        found >> word;
        REQUIRE(word == cell);
      }
    }
    REQUIRE(rule == std::string(widest, '-'));
    REQUIRE(std::getline(text, line).fail());
  }
}

TEST_CASE("a row needs one cell per heading, in tables and pages") {
  Table table({"a", "b"});
  Document page("Page");
  for (const std::vector<std::string>& row : {std::vector<std::string>{"1", "2", "3"}, {"1"}, {}}) {
    CHECK_THROWS_AS(table.add_row(row), InvalidArgument);
    CHECK_THROWS_AS(page.add_table({"a", "b"}, {row}), InvalidArgument);
  }
  CHECK(table.csv() == "a,b\n");
}

TEST_CASE("as comma-separated values a table has numbers in SI units, quoted words and empty cells") {
  Table table({"unit", "time", "share", "size"});
  table.add_row({"host, \"fast\"", "12.5 ms", "40.0 %", "2 KiB"});
  table.add_row({"device", "-", "7", "2 x 3"});
  CHECK(table.csv() == "unit,time,share,size\n\"host, \"\"fast\"\"\",0.0125,0.4,2048\ndevice,,7,2 x 3\n");
}

TEST_CASE("every table that is made into text is passed to the function that was set, until none is set") {
  std::string seen;
  Table::on_text([&](const Table& table) { seen += table.csv(); });
  CHECK_FALSE(Table({"a"}).text().empty());
  CHECK_FALSE(Table({"b"}).text().empty());
  Table::on_text(nullptr);
  CHECK_FALSE(Table({"c"}).text().empty());
  CHECK(seen == "a\nb\n");
}

TEST_CASE("printed times and sizes are within half a percent, in few digits, and are read as these numbers") {
  for (double value = 1.0e-9; value < 1e5; value *= 1.0037) {
    for (const double time : {value, -value}) {
      const std::string text = format_seconds(time);
      INFO(time << " -> " << text);
      REQUIRE(text.find('e') == std::string::npos);
      REQUIRE(text.size() <= 9);
      REQUIRE_THAT(Table::number(text).value(), WithinRel(time, 0.00501));
    }
    const double bytes = std::floor(1e14 * value);
    REQUIRE_THAT(Table::number(format_bytes(bytes)).value(), WithinRel(bytes, 0.00051));
  }
  for (const double edge : {0.99999e-6, 0.99999e-3, 0.99999, 999.99}) {
    CHECK_THAT(Table::number(format_seconds(edge)).value(), WithinRel(edge, 0.001));
  }
  CHECK(format_seconds(0.0) == "0 ns");
  CHECK(format_seconds(1.0) == "1.00 s");
  CHECK(format_bytes(1023.0) == "1023 B");
  CHECK(format_bytes(1024.0) == "1 KiB");
}

TEST_CASE("a page needs nothing from elsewhere, leads to its sections, and nothing that is written on it is markup") {
  const std::string html = document().html();
  CHECK(count(html, "http") == count(html, "xmlns=\"http://www.w3.org/2000/svg\""));
  for (const char* const elsewhere : {"<script", "src=", "<link", "@import", "url("}) {
    CHECK(count(html, elsewhere) == 0);
  }
  CHECK_THAT(html, ContainsSubstring("<title>A &lt;title&gt;</title>"));
  CHECK_THAT(html, ContainsSubstring("Whatever &lt;script&gt; is written"));
  for (const std::string& name :
       std::vector<std::string>{"h2", "h3", "table", "tr", "th", "td", "figure", "dl", "svg", "p"}) {
    INFO(name);
    // Each is closed as often as it is opened.
    CHECK(count(html, "<" + name + ">") + count(html, "<" + name + " ") == count(html, "</" + name + ">"));
    CHECK(count(html, "</" + name + ">") > 0);
  }
  for (const std::string& anchor : {std::string("section-1"), std::string("section-2")}) {
    CHECK(count(html, "href=\"#" + anchor + "\"") == 1);
    CHECK(count(html, "id=\"" + anchor + "\"") == 1);
  }
  CHECK(count(html, "section-3") == 0);
  CHECK(count(html, "class=\"number\"") == 3);
  CHECK_THAT(document().markdown(),
             ContainsSubstring("| run | time |\n| --- | ---: |\n| a\\|b | 1.5 ms |\n| c | - |\n"));
}

TEST_CASE("text can stand in XML whatever its bytes, and is cut to as many characters as asked for") {
  CHECK(xml_text("a<b>&\"c\"'d'\t\n") == "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;\t\n");
  CHECK(xml_text("τ-Lop, 5 µs → 𝛼") == "τ-Lop, 5 µs → 𝛼");
  // Bytes that are no character of XML are replaced: cut off, overlong, surrogates, above U+10FFFF.
  for (const std::string& bad :
       {std::string(1, '\0'), std::string("\x1b"), std::string("\xff"), std::string("\xc3"), std::string("\xc0\xaf"),
        std::string("\xed\xa0\x80"), std::string("\xf4\x90\x80\x80")}) {
    std::string replaced;
    for (std::size_t i = 0; i < bad.size(); ++i) replaced += "\uFFFD";
    CHECK(xml_text("a" + bad + "b") == "a" + replaced + "b");
    CHECK(count_characters("a" + bad + "b") == bad.size() + 2);
  }
  CHECK(xml_text("a\xef\xbf\xbf\x62") == "a\uFFFDb");
  CHECK(xml_text("memory", 6) == "memory");
  CHECK(xml_text("a<b & c", 3) == "a&lt;…");
  CHECK(xml_text("ττττ", 3) == "ττ…");
  CHECK(xml_text("memory", 0) == "…");
}

TEST_CASE("progress is a line after two seconds where standard error is no terminal, with what is done and left") {
  const TemporaryFolder folder;
  const int file = ::open((folder / "stderr").c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  REQUIRE(file >= 0);
  std::fflush(stderr);
  const int standard_error = ::dup(STDERR_FILENO);
  ::dup2(file, STDERR_FILENO);
  {
    const Progress silent("silent", 10, false);
    Progress progress("measuring", 4);
    progress.set_steps(8, 8);
    progress.advance(1, "(size 128)");
    Progress steps("steps", 4);
    steps.set_steps(2, 4);
    CHECK(folder.read("stderr").empty());
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    for (int i = 0; i < 1000; ++i) progress.advance(0, "too soon");
  }
  std::fflush(stderr);
  ::dup2(standard_error, STDERR_FILENO);
  ::close(standard_error);
  ::close(file);
  // A busy machine may show them a little later.
  const std::string shown = folder.read("stderr");
  CHECK(std::count(shown.begin(), shown.end(), '\n') == 2);
  CHECK(std::regex_search(shown, std::regex("measuring 1/4 \\(size 128\\), [23] s, about ([6-9]|10) s left\n")));
  CHECK(std::regex_search(shown, std::regex("steps 0/4 \\(step 2 of 4\\), [23] s, about (1[4-9]|2[0-4]) s left\n")));
}

}  // namespace steelyard::test_document
