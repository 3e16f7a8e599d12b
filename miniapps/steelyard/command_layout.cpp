#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "comm/collective.hpp"
#include "core/base/text_file.hpp"
#include "core/layout.hpp"
#include "miniapps/steelyard/command.hpp"

namespace steelyard::tool {
namespace {

struct LayoutOptions {
  RunOptions run;
  std::filesystem::path output;
};

/// Writes the layout that the ranks of this mpirun have without one, to be edited.
ExitCode write_layout(Session& session, const LayoutOptions& options) {
  const RankUnits units = session.plan_units(options.run);
  LayoutEntry entry;
  entry.host_name = session.machine().host_name();
  entry.rank_on_node = session.nodes().rank_on_node;
  entry.cores = units.host ? units.host->cores : CoreList{};
  if (units.companion &&
      entry.cores->end() == std::find(entry.cores->begin(), entry.cores->end(), units.companion->cores.front())) {
    entry.cores->push_back(units.companion->cores.front());
    std::sort(entry.cores->begin(), entry.cores->end());
  }
  entry.units = !units.companion ? UnitChoice::host : units.host ? UnitChoice::host_and_device : UnitChoice::device;
  for (const std::optional<ProcessingUnit>* unit : {&units.host, &units.companion}) {
    if (*unit && (*unit)->emulated()) {
      entry.suboptions[(*unit)->name() + "_slowdown"] = fmt::format("{:g}", (*unit)->slowdown);
    }
  }
  // Each rank's file of one line; rank 0 keeps the first line of headings and every rank's own.
  Layout mine;
  mine.entries.push_back(entry);
  std::string text;
  for (const std::string& lines : all_gather_text(session.comm(), format_layout(mine))) {
    text += text.empty() ? lines : lines.substr(lines.find('\n') + 1);
  }
  if (options.output.empty()) {
    session.print(text);
  } else {
    on_root(session.comm(), [&] { write_text_file(options.output, text); });
  }
  return ExitCode::good;
}

}  // namespace

void add_layout_command(CLI::App& parser, Action& chosen) {
  auto options = std::make_shared<LayoutOptions>();
  CLI::App* command = parser.add_subcommand("layout", "Write a layout file for the current mpirun, to edit");
  command
      ->add_option_function<std::string>(
          "--units", [options](const std::string& word) { options->run.units = parse_unit_choice(word); },
          "host, device or host+device (default: all there are)")
      ->check(CLI::IsMember({"host", "device", "host+device"}))
      ->type_name("UNITS");
  command->add_option("--slowdown", options->run.slowdown, "host=F, device=F or rankN=F")->type_name("WHICH=F");
  command->add_option("--output", options->output, "File to write (default: standard output)")->type_name("FILE");
  command->callback(
      [options, &chosen] { chosen = [options](Session& session) { return write_layout(session, *options); }; });
}

}  // namespace steelyard::tool
