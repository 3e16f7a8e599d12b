#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "comm/collective.hpp"
#include "core/base/errors.hpp"
#include "core/base/text_file.hpp"
#include "core/layout.hpp"
#include "core/unit_plan.hpp"
#include "miniapps/steelyard/command.hpp"
#include "miniapps/steelyard/rank_rates.hpp"

namespace steelyard::tool {
namespace {

struct LayoutOptions {
  RunOptions run;
  std::filesystem::path like;
  std::filesystem::path output;
};

/// The line of another layout whose units and slowness this rank is to have. Collective.
LayoutEntry line_like(const Session& session, const std::filesystem::path& path) {
  LayoutEntry line;
  collectively(session.comm(), [&] {
    const Layout layout = read_layout(path);
    if (layout.entries.size() != static_cast<std::size_t>(session.size())) {
      throw InvalidArgument(fmt::format("{} has {} lines for {} ranks (expected one each: mpirun -n {} …)",
                                        path.string(), layout.entries.size(), session.size(), layout.entries.size()));
    }
    line = layout.entries[static_cast<std::size_t>(session.rank())];
  });
  return line;
}

/// Writes the layout that the ranks of this mpirun have without one, to be edited.
ExitCode write_layout(Session& session, const LayoutOptions& options) {
  RunOptions run = options.run;
  LayoutEntry like;
  if (!options.like.empty()) {
    like = line_like(session, options.like);
    run.units = like.units;
  }
  RankUnits units = session.plan_units(run);
  collectively(session.comm(), [&] {
    const UnitSlowdowns slowdowns = unit_slowdowns(like);
    if (units.host) units.host->slowdown *= slowdowns.host;
    if (units.companion) units.companion->slowdown *= slowdowns.companion;
  });
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
  for (const ProcessingUnit& unit : units_of(units)) {
    if (unit.emulated()) entry.suboptions[unit.name() + "_slowdown"] = fmt::format("{:g}", unit.slowdown);
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
  command
      ->add_option("--like", options->like,
                   "Layout of other hosts, a line a rank, whose units and slowdowns the ranks here are to have")
      ->type_name("FILE")
      ->excludes("--units");
  command->add_option("--output", options->output, "File to write (default: standard output)")->type_name("FILE");
  command->callback(
      [options, &chosen] { chosen = [options](Session& session) { return write_layout(session, *options); }; });
}

}  // namespace steelyard::tool
