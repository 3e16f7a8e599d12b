#include "core/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "core/base/errors.hpp"
#include "core/base/text_file.hpp"

namespace steelyard {
namespace {

UnitChoice parse_device_type(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (text == "cpu") return UnitChoice::host;
  if (text == "gpu") return UnitChoice::device;
  if (text == "cpu+gpu") return UnitChoice::host_and_device;
  return parse_unit_choice(text);
}

std::map<std::string, std::string> parse_suboptions(std::istringstream& words) {
  std::map<std::string, std::string> suboptions;
  for (std::string word; words >> word;) {
    std::istringstream parts(word);
    for (std::string part; std::getline(parts, part, ',');) {
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos || equals == 0) {
        throw InvalidArgument(fmt::format("suboption \"{}\" (expected key=value)", excerpt(part)));
      }
      suboptions[part.substr(0, equals)] = part.substr(equals + 1);
    }
  }
  return suboptions;
}

LayoutEntry parse_entry(const std::string& line) {
  std::istringstream words(line);
  LayoutEntry entry;
  std::string rank, bind, device_type;
  if (!(words >> entry.host_name >> rank >> bind >> device_type)) {
    throw InvalidArgument("has fewer than 4 fields (expected hostname rank_intra bind device_type suboptions)");
  }
  if (rank.find_first_not_of("0123456789") != std::string::npos || rank.size() > 6) {
    throw InvalidArgument(fmt::format("rank_intra \"{}\" (expected a number)", excerpt(rank)));
  }
  entry.rank_on_node = std::stoi(rank);
  if (bind != "all") entry.cores = parse_cores(bind);
  entry.units = parse_device_type(device_type);
  entry.suboptions = parse_suboptions(words);
  return entry;
}

}  // namespace

const LayoutEntry& Layout::entry(const std::string& host_name, int rank_on_node) const {
  for (const LayoutEntry& candidate : entries) {
    if (candidate.host_name == host_name && candidate.rank_on_node == rank_on_node) return candidate;
  }
  throw InvalidArgument(
      fmt::format("{}: no line for rank {} on node {} (expected one line per rank)", path, rank_on_node, host_name));
}

Layout parse_layout(const std::string& text, const std::string& name) {
  Layout layout;
  layout.path = name;
  std::set<std::pair<std::string, int>> seen;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line.erase(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      layout.entries.push_back(parse_entry(line));
      const LayoutEntry& entry = layout.entries.back();
      if (!seen.insert({entry.host_name, entry.rank_on_node}).second) {
        throw InvalidArgument(fmt::format("rank {} of {} is there twice", entry.rank_on_node, entry.host_name));
      }
    } catch (const InvalidArgument& error) {
      throw FileFormatError(name, fmt::format("line {}", number), error.what());
    }
  }
  if (layout.entries.empty()) throw FileFormatError(name, "", "holds no ranks (expected one line per rank)");
  return layout;
}

Layout read_layout(const std::filesystem::path& path) { return parse_layout(read_text_file(path), path.string()); }

std::string format_layout(const Layout& layout) {
  std::string text =
      fmt::format("{:<20} {:<11} {:<9} {:<12} {}\n", "#hostname", "rank_intra", "bind", "device_type", "suboptions");
  for (const LayoutEntry& entry : layout.entries) {
    std::string suboptions;
    for (const auto& [key, value] : entry.suboptions) suboptions += (suboptions.empty() ? "" : ",") + key + "=" + value;
    std::string line =
        fmt::format("{:<20} {:<11} {:<9} {:<12} {}", entry.host_name, entry.rank_on_node,
                    entry.cores ? format_cores(*entry.cores) : "all", format_unit_choice(entry.units), suboptions);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace steelyard
