#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/plot/svg_plot.hpp"

namespace steelyard {

/// A page of headings, text, tables and charts that is one file: as HTML, which needs nothing from elsewhere and fits
/// any screen and paper, or as Markdown, in which a chart is its title.
class Document {
 public:
  explicit Document(std::string title) : title_(std::move(title)) {}

  /// @param level 1 for a section, 2 for a part of it, which a list of contents leaves out
  void add_heading(int level, const std::string& text);
  void add_text(const std::string& text);
  /// Pairs of a name and what it is.
  void add_facts(const std::vector<std::pair<std::string, std::string>>& facts);
  /// Cells that are numbers stand flush right. @throws InvalidArgument unless every row has a cell for each heading
  void add_table(const std::vector<std::string>& headings, const std::vector<std::vector<std::string>>& rows);
  /// @throws InvalidArgument as SvgPlot::text()
  void add_chart(const SvgPlot& chart);
  /// The parts of another page, without its title.
  void add(const Document& parts);
  /// The parts of another page, folded away under its title, or below a heading.
  void add_folded(const Document& parts);

  std::string html() const;
  std::string markdown() const;

 private:
  struct Part {
    std::string html;
    std::string markdown;
    std::string section = {};  ///< heading of level 1
  };
  std::string title_;
  std::vector<Part> parts_;
};

}  // namespace steelyard
