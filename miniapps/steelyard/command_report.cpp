#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "comm/collective.hpp"
#include "core/base/document.hpp"
#include "core/base/errors.hpp"
#include "core/base/text_file.hpp"
#include "miniapps/steelyard/command.hpp"
#include "miniapps/steelyard/report_experiment.hpp"
#include "miniapps/steelyard/report_runs.hpp"
#include "miniapps/steelyard/results.hpp"

namespace steelyard::tool {
namespace {

struct ReportOptions {
  std::vector<std::filesystem::path> folders;
  std::filesystem::path output;
  std::string format = "html";
};

/// Folders of experiments in or below a folder, in order.
std::vector<std::filesystem::path> experiments(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) throw InvalidArgument(folder.string() + " is not a folder of results");
  if (std::filesystem::exists(folder / "experiment.json")) return {folder};
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "experiment.json") found.push_back(entry.path().parent_path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string report(const ReportOptions& options) {
  Document document("Steelyard: " + folder_name(options.folders.front()));
  for (const std::filesystem::path& folder : options.folders) {
    const std::vector<std::filesystem::path> found = experiments(folder);
    for (const std::filesystem::path& experiment : found) add_experiment(document, experiment);
    const bool is_experiment = found.size() == 1 && found.front() == folder;
    if (!is_experiment) add_runs(document, folder);
    if (found.empty() && read_results(folder).empty()) {
      throw InvalidArgument(folder.string() + " holds no result (expected run.json or experiment.json in or below it)");
    }
  }
  return options.format == "html" ? document.html() : document.markdown();
}

}  // namespace

void add_report_command(CLI::App& parser, Action& chosen) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = parser.add_subcommand(
      "report", "Show results on one page: machine, predictions beside measurements, experiments beside the papers'");
  command
      ->add_option("DIR", options->folders, "Results (--result), folders of results, or experiments of benchmarks/run")
      ->required();
  command->add_option("--output", options->output, "The page; on standard output without it")->type_name("FILE");
  command->add_option("--format", options->format, "html or markdown")
      ->check(CLI::IsMember({"html", "markdown"}))
      ->type_name("html|markdown")
      ->capture_default_str();
  command->callback([options, &chosen] {
    chosen = [options](Session& session) {
      std::string text;
      on_root(session.comm(), [&] {
        text = report(*options);
        if (options->output.empty()) return;
        write_text_file(options->output, text);
        text = fmt::format("report     {}\n", options->output.string());
      });
      session.print(text);
      return ExitCode::good;
    };
  });
}

}  // namespace steelyard::tool
