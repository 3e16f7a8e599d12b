#include "core/base/document.hpp"

#include <fmt/format.h>

#include <string_view>

#include "core/base/errors.hpp"
#include "core/base/plot/xml_text.hpp"
#include "core/base/table.hpp"

namespace steelyard {
namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --text: #1d2430; --faint: #5b6472; --line: #d7dce3; --page: #fff; --card: #f6f7f9; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e8ee; --faint: #a0a9b6; --line: #3a424e; --page: #171b21; --card: #20262e; }
}
body { font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; color: var(--text);
       background: var(--page); max-width: 80rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.4rem; margin: 2.6rem 0 .6rem; padding-top: .8rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.1rem; margin: 1.8rem 0 .4rem; }
p { max-width: 46rem; }
nav ul { columns: 20rem; padding-left: 1.2rem; }
a { color: inherit; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .6rem 0; }
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; }
summary { cursor: pointer; margin: 1.2rem 0 .4rem; font-weight: 600; }
figure { margin: 1rem 0; max-width: 60rem; }
figure svg { display: block; box-sizing: border-box; width: 100%; height: auto;
             border: 1px solid var(--line); border-radius: .4rem; }
.table { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; }
.number { text-align: right; white-space: nowrap; }
figure svg + svg { display: none; }
@media (max-width: 34rem) { figure svg:first-child { display: none; } figure svg + svg { display: block; } }
@media (max-width: 30rem) { body { font-size: 15px; } dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
@media print {
  body { max-width: none; font-size: 10pt; } h2, h3 { break-after: avoid; } figure, tr { break-inside: avoid; }
}
)";

/// Text that Markdown shows as it is, on one line.
std::string markdown_text(const std::string& text) {
  std::string shown;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]<>|#").find(c) != std::string_view::npos) shown += '\\';
    shown += c == '\n' ? ' ' : c;
  }
  return shown;
}

}  // namespace

void Document::add_heading(int level, const std::string& text) {
  parts_.push_back({fmt::format("<h{0}>{1}</h{0}>\n", level + 1, xml_text(text)),
                    fmt::format("{} {}\n\n", level == 1 ? "##" : "###", markdown_text(text)), level == 1 ? text : ""});
}

void Document::add_text(const std::string& text) {
  parts_.push_back({fmt::format("<p>{}</p>\n", xml_text(text)), markdown_text(text) + "\n\n"});
}

void Document::add_facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  Part part{"<dl>\n", ""};
  for (const auto& [name, what] : facts) {
    part.html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", xml_text(name), xml_text(what));
    part.markdown += fmt::format("- {}: {}\n", markdown_text(name), markdown_text(what));
  }
  part.html += "</dl>\n";
  part.markdown += "\n";
  parts_.push_back(part);
}

void Document::add_table(const std::vector<std::string>& headings, const std::vector<std::vector<std::string>>& rows) {
  std::vector<bool> numeric(headings.size(), true);
  for (const std::vector<std::string>& row : rows) {
    if (row.size() != headings.size()) {
      throw InvalidArgument(fmt::format("{} cells for {} headings (expected one each)", row.size(), headings.size()));
    }
    for (std::size_t i = 0; i < row.size(); ++i) numeric[i] = numeric[i] && shows_number(row[i]);
  }
  Part part{"<div class=\"table\"><table>\n<tr>", "|"};
  const auto add_cell = [&](const char* tag, std::size_t i, const std::string& cell) {
    part.html += fmt::format("<{0}{1}>{2}</{0}>", tag, numeric[i] ? " class=\"number\"" : "", xml_text(cell));
    part.markdown += fmt::format(" {} |", markdown_text(cell));
  };
  for (std::size_t i = 0; i < headings.size(); ++i) add_cell("th", i, headings[i]);
  part.markdown += "\n|";
  for (std::size_t i = 0; i < headings.size(); ++i) part.markdown += numeric[i] ? " ---: |" : " --- |";
  for (const std::vector<std::string>& row : rows) {
    part.html += "</tr>\n<tr>";
    part.markdown += "\n|";
    for (std::size_t i = 0; i < row.size(); ++i) add_cell("td", i, row[i]);
  }
  part.html += "</tr>\n</table></div>\n";
  part.markdown += "\n\n";
  parts_.push_back(part);
}

void Document::add_chart(const SvgPlot& chart) {
  parts_.push_back({fmt::format("<figure>\n{}{}</figure>\n", chart.text(), chart.text(SvgPlot::narrow)),
                    fmt::format("(chart: {})\n\n", markdown_text(chart.title))});
}

void Document::add(const Document& parts) { parts_.insert(parts_.end(), parts.parts_.begin(), parts.parts_.end()); }

void Document::add_folded(const Document& parts) {
  Part folded{fmt::format("<details>\n<summary>{}</summary>\n", xml_text(parts.title_)),
              fmt::format("### {}\n\n", markdown_text(parts.title_))};
  for (const Part& part : parts.parts_) {
    folded.html += part.html;
    folded.markdown += part.markdown;
  }
  folded.html += "</details>\n";
  parts_.push_back(folded);
}

std::string Document::html() const {
  std::string body, contents;
  int sections = 0;
  for (const Part& part : parts_) {
    if (!part.section.empty()) {
      body += fmt::format("<a id=\"section-{}\"></a>", ++sections);
      contents += fmt::format("<li><a href=\"#section-{}\">{}</a></li>\n", sections, xml_text(part.section));
    }
    body += part.html;
  }
  if (sections > 1) contents = "<nav><ul>\n" + contents + "</ul></nav>\n";
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{2}{3}</body>\n</html>\n",
      xml_text(title_), style, sections > 1 ? contents : "", body);
}

std::string Document::markdown() const {
  std::string text = fmt::format("# {}\n\n", markdown_text(title_));
  for (const Part& part : parts_) text += part.markdown;
  return text;
}

}  // namespace steelyard
