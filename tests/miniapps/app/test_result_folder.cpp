#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>

#include "core/base/json_file.hpp"
#include "miniapps/app/result_folder.hpp"
#include "tests/miniapps/app/collective_error.hpp"
#include "tests/miniapps/app/described_run.hpp"
#include "tests/miniapps/app/shared_folder.hpp"

namespace steelyard::test_result_folder {

using Catch::Matchers::ContainsSubstring;
using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;

namespace {

const std::vector<Slot> slots{{0, Kind::host}, {0, Kind::companion}, {1, Kind::host}};

std::vector<KeptModels> model_files() {
  std::vector<models::FpmFile> files(3);
  for (std::size_t i = 0; i < files.size(); ++i) files[i].points = {{1.0 + static_cast<double>(i), 1e-3}};
  return {{"", files}};
}

}  // namespace

TEST_CASE("a result folder holds the record, the samples and every slot's model, for whoever looks") {
  const SharedFolder folder;
  write_result_folder(session(), folder / "deep", described_run(), slots, model_files());
  CHECK(folder.entries() == 7);
  CHECK(read_json_file(folder / "deep" / "run.json").at("app") == "app");
  CHECK(std::filesystem::exists(folder / "deep" / "samples.jsonl"));
  const char* const names[] = {"rank0-host.fpm.json", "rank0-device.fpm.json", "rank1-host.fpm.json"};
  for (std::size_t i = 0; i < 3; ++i) {
    const models::FpmFile file = models::read_fpm_file(folder / "deep" / "models" / names[i]);
    CHECK(file.points.front().units == 1.0 + static_cast<double>(i));
  }
  // Everyone reads before the folder goes.
  CHECK(folder.entries() == 7);
}

TEST_CASE("without --result nothing is written") {
  const SharedFolder folder;
  write_result_folder(session(), "", described_run(), slots, model_files());
  require_outputs(session(), {});
  CHECK(folder.entries() == 0);
}

TEST_CASE("outputs that cannot be are everyone's error before anything is written") {
  const SharedFolder folder;
  if (session().is_root()) std::ofstream(folder / "file") << "in the way";
  CHECK(folder.entries() == 1);
  RunOptions good;
  good.output = folder / "field.npy";
  good.result = folder / "result";
  require_outputs(session(), good);
  RunOptions bad_output = good;
  bad_output.output = folder / "file" / "field.npy";
  RunOptions bad_result = good;
  bad_result.result = folder / "file";
  for (const RunOptions& options : {bad_output, bad_result}) {
    const auto error = collective_error([&] { require_outputs(session(), options); });
    CHECK(error.has_value());
    if (error) {
      CHECK_THAT(error->what(), ContainsSubstring("file"));
      CHECK(error->code() == ExitCode::failed);
    }
  }
  const auto error =
      collective_error([&] { write_result_folder(session(), folder / "file", described_run(), slots, model_files()); });
  CHECK(error.has_value());
  CHECK(folder.entries() == 1);
}

}  // namespace steelyard::test_result_folder
