#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/machine.hpp"
#include "core/processing_unit.hpp"

namespace steelyard {

/// Line of a layout file: one rank. Source: 000, section 6.1.1 (fupermod_process_conf).
struct LayoutEntry {
  std::string host_name;
  int rank_on_node = 0;
  std::optional<CoreList> cores;  ///< nothing for `all`
  UnitChoice units = UnitChoice::host;
  std::map<std::string, std::string> suboptions;  ///< such as slowdown=3
};

/// A layout: one line per rank, `hostname rank_intra bind device_type suboptions`, with `#` comments. `bind` is a core
/// list or `all`; `device_type` is as in `--units` (the thesis' `CPU` and `GPU` are understood);
/// suboptions are `key=value`, separated by commas or blanks.
struct Layout {
  std::vector<LayoutEntry> entries;
  std::string path;

  /// @throws InvalidArgument when the layout has no line for this rank
  const LayoutEntry& entry(const std::string& host_name, int rank_on_node) const;
};

/// @throws FileFormatError naming file and line
Layout read_layout(const std::filesystem::path& path);
Layout parse_layout(const std::string& text, const std::string& name);

/// The file's text, with a line of headings.
std::string format_layout(const Layout& layout);

}  // namespace steelyard
