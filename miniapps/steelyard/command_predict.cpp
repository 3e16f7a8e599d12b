#include <CLI/CLI.hpp>

#include "miniapps/steelyard/command.hpp"
#include "miniapps/steelyard/predict_apps.hpp"

namespace steelyard::tool {

void add_predict_command(CLI::App& parser, Action& chosen) {
  CLI::App* command = parser.add_subcommand(
      "predict", "Predict how long an app takes on a platform, for any number of processes, without running it");
  command->require_subcommand(0, 1);
  // Not require_subcommand(1), which would hide the word that is no app.
  command->callback([command] {
    if (command->get_subcommands().empty()) throw CLI::RequiredError("An app to predict");
  });
  add_predict_summa(*command, chosen);
  add_predict_wave2d(*command, chosen);
  add_predict_fft2d(*command, chosen);
}

}  // namespace steelyard::tool
