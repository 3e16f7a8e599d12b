#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "miniapps/app/speed_models.hpp"
#include "partition/algorithms.hpp"
#include "tests/miniapps/app/shared_folder.hpp"

namespace steelyard::test_speed_models {

using Catch::Matchers::ContainsSubstring;
using namespace steelyard::tests;
using models::FpmFile;
using models::MeasuredPoint;

namespace {

partition::Algorithm geometric() { return partition::find_algorithm("geometric"); }

FpmFile file_of(const std::vector<double>& sizes) {
  FpmFile file;
  for (const double units : sizes) file.points.push_back({units, 1e-3 * units});
  return file;
}

std::vector<double> sizes_of(const FpmFile& file) {
  std::vector<double> sizes;
  for (const MeasuredPoint& point : file.points) sizes.push_back(point.units);
  return sizes;
}

/// A file that says all that it can of the kernel.
FpmFile full_file() {
  FpmFile file = file_of({10.0});
  file.app = "synthetic";
  file.element = "double";
  file.parameters = {{"columns", 64.0}, {"depth", 7.0}};
  return file;
}

KernelFacts synthetic_facts() {
  KernelFacts facts;
  facts.app = "synthetic";
  facts.element = "double";
  facts.parameters = {{"columns", 64.0}, {"depth", 7.0}};
  return facts;
}

/// One slot a rank, or two.
std::vector<Slot> slots_of(int per_rank) {
  std::vector<Slot> slots;
  for (int rank = 0; rank < session().size(); ++rank) {
    slots.push_back({rank, ProcessingUnit::Kind::host});
    if (per_rank > 1) slots.push_back({rank, ProcessingUnit::Kind::companion});
  }
  return slots;
}

/// Files whose only point is at their number, starting with 1.
std::vector<std::filesystem::path> write_numbered(const SharedFolder& folder, std::size_t count) {
  std::vector<std::filesystem::path> paths;
  for (std::size_t i = 1; i <= count; ++i) {
    paths.push_back(folder / (std::to_string(i) + ".fpm.json"));
    on_root(session().comm(), [&] { models::write_fpm_file(paths.back(), file_of({static_cast<double>(i)})); });
  }
  return paths;
}

/// Those of units that nothing slows down.
std::vector<double> slowdowns_of(const std::vector<Slot>& slots) { return std::vector<double>(slots.size(), 1.0); }

std::string refusal(const FpmFile& file, const SharedFolder& folder) {
  const std::filesystem::path path = folder / "refused.fpm.json";
  STEELYARD_MPI(MPI_Barrier(session().comm()));  // all have read the one before
  on_root(session().comm(), [&] { models::write_fpm_file(path, file); });
  try {
    read_speed_models({path}, synthetic_facts(), slots_of(1), slowdowns_of(slots_of(1)), geometric());
  } catch (const FileFormatError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("points are added by size, in place of those within 2 %, and sizes of 0 add none") {
  SpeedModels models({file_of({10.0, 100.0}), file_of({10.0}), file_of({})}, geometric());
  CHECK(models.pointers()[0] != nullptr);
  CHECK(models.pointers()[2] == nullptr);
  models.add({{101.0, 0.5}, {5.0, 1.0}, {0.0, 0.0}});
  CHECK(sizes_of(models.files()[0]) == std::vector<double>{10.0, 101.0});
  CHECK(sizes_of(models.files()[1]) == std::vector<double>{5.0, 10.0});
  CHECK(models.pointers()[2] == nullptr);
  models.add({{50.0, 0.1}, {0.0, 0.0}, {7.0, 0.7}});
  CHECK(sizes_of(models.files()[0]) == std::vector<double>{10.0, 50.0, 101.0});
  CHECK(sizes_of(models.files()[1]) == std::vector<double>{5.0, 10.0});
  CHECK(models.pointers()[2]->time_s(7.0) == 0.7);
}

TEST_CASE("a point that comes a second time says how speed has drifted, and one of another size does not") {
  SpeedModels models({file_of({50.0, 100.0})}, geometric());
  models.add({{80.0, 80e-3}});
  CHECK(models.files()[0].drift.degrees == 0);
  models.add({{100.0, 110e-3}});
  CHECK(models.files()[0].drift.degrees == 1);
  CHECK(models.files()[0].drift.share > 0.05);
  models.add({{81.0, 81e-3}});
  CHECK(models.files()[0].drift.degrees == 2);
  CHECK(models.files()[0].drift.share < 0.05);
}

TEST_CASE("a point out of core takes no place of one in core") {
  FpmFile file = file_of({50.0, 100.0});
  file.in_core_units = 100.0;
  SpeedModels models({file}, geometric());
  CHECK(models.pointers()[0]->max_units() == 100.0);
  models.add({{101.0, 10.0}});
  CHECK(sizes_of(models.files()[0]) == std::vector<double>{50.0, 100.0, 101.0});
  CHECK(models.pointers()[0]->time_s(100.0) < 1.0);
  CHECK(models.pointers()[0]->time_s(101.0) > 1.0);
  models.add({{102.0, 20.0}});
  CHECK(sizes_of(models.files()[0]) == std::vector<double>{50.0, 100.0, 102.0});
}

TEST_CASE("the algorithm chooses the kind of model") {
  for (const partition::Algorithm& algorithm : partition::algorithms()) {
    const SpeedModels models({file_of({10.0, 20.0, 40.0})}, algorithm);
    CHECK(models.pointers().front()->kind() == algorithm.model_kind);
  }
}

TEST_CASE("the user's kind of model takes the place of the algorithm's") {
  const SpeedModels models({file_of({10.0, 20.0, 40.0})}, algorithm_for("geometric", "saturating"));
  CHECK(models.pointers().front()->kind() == "saturating");
  CHECK_THROWS_AS(algorithm_for("geometric", "round"), InvalidArgument);
}

TEST_CASE("one file is every slot's, one per unit every rank's, one per slot its own") {
  const SharedFolder folder;
  for (const int per_rank : {1, 2}) {
    const std::vector<Slot> slots = slots_of(per_rank);
    const auto count = static_cast<std::size_t>(per_rank);
    for (const std::size_t files : {std::size_t{1}, count, slots.size()}) {
      const auto paths = write_numbered(folder, files);
      const SpeedModels models = read_speed_models(paths, synthetic_facts(), slots, slowdowns_of(slots), geometric());
      CHECK(models.files().size() == slots.size());
      for (std::size_t i = 0; i < slots.size(); ++i) {
        CHECK(sizes_of(models.files()[i]) == std::vector<double>{static_cast<double>(i % files + 1)});
      }
    }
    const auto paths = write_numbered(folder, slots.size() + 1);
    CHECK_THROWS_MATCHES(
        read_speed_models(paths, synthetic_facts(), slots, slowdowns_of(slots), geometric()), InvalidArgument,
        Catch::Matchers::MessageMatches(ContainsSubstring("--model names " + std::to_string(slots.size() + 1))));
  }
}

TEST_CASE("a model is as much slower as its slot is beside the unit that was measured, parts and intervals too") {
  const SharedFolder folder;
  FpmFile file = file_of({10.0});
  file.slowdown = 2.0;
  file.parts = {"border"};
  file.points[0].confidence_s = 1e-4;
  file.points[0].parts_s = {2e-3};
  on_root(session().comm(), [&] { models::write_fpm_file(folder / "slow.fpm.json", file); });
  const std::vector<Slot> slots = slots_of(2);
  std::vector<double> slowdowns = slowdowns_of(slots);
  slowdowns.back() = 6.0;
  const SpeedModels models =
      read_speed_models({folder / "slow.fpm.json"}, synthetic_facts(), slots, slowdowns, geometric());
  const FpmFile& slow = models.files().back();
  CHECK(slow.slowdown == 6.0);
  CHECK(slow.points[0].time_s == 3.0 * file.points[0].time_s);
  CHECK(slow.points[0].confidence_s == 3.0 * file.points[0].confidence_s);
  CHECK(slow.parts_s(7.0)[0] == 6e-3);
  CHECK(models.files().front().points[0].time_s == 0.5 * file.points[0].time_s);
}

TEST_CASE("a model of something else is refused naming file, key, value and what was expected") {
  const SharedFolder folder;
  CHECK(refusal(full_file(), folder).empty());
  FpmFile file = full_file();
  file.parameters["depth"] = 8.0;
  CHECK_THAT(refusal(file, folder), ContainsSubstring("refused.fpm.json: parameters.depth: is 8 (expected 7)"));
  file = full_file();
  file.element = "float";
  CHECK_THAT(refusal(file, folder), ContainsSubstring("refused.fpm.json: element: is float (expected double)"));
  file = full_file();
  file.app = "other";
  CHECK_THAT(refusal(file, folder), ContainsSubstring("refused.fpm.json: app: is other (expected synthetic)"));
}

TEST_CASE("what only one of file and kernel says is no reason to refuse") {
  const SharedFolder folder;
  CHECK(refusal(file_of({1.0, 2.0}), folder).empty());
  FpmFile file = full_file();
  file.parameters["rank"] = 3.0;
  file.parameters.erase("depth");
  CHECK(refusal(file, folder).empty());
}

}  // namespace steelyard::test_speed_models
