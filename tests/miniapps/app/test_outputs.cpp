#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <complex>
#include <fstream>
#include <random>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "core/base/npy.hpp"
#include "miniapps/app/outputs.hpp"
#include "tests/miniapps/app/collective_error.hpp"
#include "tests/miniapps/app/described_run.hpp"
#include "tests/miniapps/app/shared_folder.hpp"

namespace steelyard::test_outputs {

using Catch::Matchers::ContainsSubstring;
using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;

namespace {

template <class Element>
Element element_at(std::int64_t row, std::int64_t column) {
  return static_cast<Element>(100.0 * static_cast<double>(row) + static_cast<double>(column));
}

template <class Element>
void hand_over(std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns,
               const BlockSink<Element>& sink) {
  std::vector<Element> elements;
  for (std::int64_t i = row; i < row + rows; ++i) {
    for (std::int64_t j = column; j < column + columns; ++j) elements.push_back(element_at<Element>(i, j));
  }
  sink(row, column, columns, elements);
}

/// Cuts a block in two anywhere, again and again, the same way on all ranks; each part goes to a rank by chance.
template <class Element>
void deal_blocks(std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns, int times,
                 std::mt19937& random, const BlockSink<Element>& sink) {
  if (times == 0) {
    const bool mine = random() % static_cast<unsigned>(session().size()) == static_cast<unsigned>(session().rank());
    if (mine) hand_over<Element>(row, column, rows, columns, sink);
    return;
  }
  if (random() % 2 == 0) {
    const auto above = static_cast<std::int64_t>(random() % static_cast<unsigned>(rows + 1));
    deal_blocks<Element>(row, column, above, columns, times - 1, random, sink);
    deal_blocks<Element>(row + above, column, rows - above, columns, times - 1, random, sink);
  } else {
    const auto left = static_cast<std::int64_t>(random() % static_cast<unsigned>(columns + 1));
    deal_blocks<Element>(row, column, rows, left, times - 1, random, sink);
    deal_blocks<Element>(row, column + left, rows, columns - left, times - 1, random, sink);
  }
}

/// Hands over the rows that are this rank's when rows are dealt out like cards, one at a time.
template <class Element>
void deal_rows(std::int64_t rows, std::int64_t columns, const BlockSink<Element>& sink) {
  for (std::int64_t row = session().rank(); row < rows; row += session().size()) {
    hand_over<Element>(row, 0, 1, columns, sink);
  }
}

template <class Element>
void check_written(const std::filesystem::path& path, std::int64_t rows, std::int64_t columns) {
  const NpyHeader header = read_npy_matrix_header<Element>(path);
  CHECK(header.shape == std::vector<std::int64_t>{rows, columns});
  std::vector<Element> all(static_cast<std::size_t>(rows * columns));
  read_npy_rows<Element>(path, header, 0, all);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      CHECK(all[static_cast<std::size_t>(i * columns + j)] == element_at<Element>(i, j));
    }
  }
}

const std::vector<Slot> slots{{0, Kind::host}, {0, Kind::companion}, {1, Kind::host}};

std::vector<KeptModels> model_files() {
  std::vector<models::FpmFile> files(3);
  for (std::size_t i = 0; i < files.size(); ++i) files[i].points = {{1.0 + static_cast<double>(i), 1e-3}};
  return {{"", files}};
}

}  // namespace

TEMPLATE_TEST_CASE("a matrix has the rows of all ranks, in a folder that is made where it is missing", "", double,
                   float, std::complex<double>, std::complex<float>) {
  const SharedFolder folder;
  for (const std::int64_t rows : {0, 1, 17}) {
    const std::filesystem::path path = folder / "new" / "rows of a matrix.npy";
    write_matrix<TestType>(session(), path, rows, 3,
                           [&](const BlockSink<TestType>& sink) { deal_rows<TestType>(rows, 3, sink); });
    CHECK(folder.entries() == 2);
    check_written<TestType>(path, rows, 3);
    // Everyone reads before it is written again.
    CHECK(folder.entries() == 2);
  }
}

TEMPLATE_TEST_CASE("a matrix has the blocks of all ranks, whoever has them", "", double, float, std::complex<double>,
                   std::complex<float>) {
  const SharedFolder folder;
  std::mt19937 random(7);
  for (const auto& [rows, columns] : {std::pair{0, 4}, {4, 0}, {1, 1}, {1, 40}, {40, 1}, {23, 31}}) {
    const std::filesystem::path path = folder / "a.npy";
    write_matrix<TestType>(session(), path, rows, columns, [&, r = rows, c = columns](const BlockSink<TestType>& sink) {
      deal_blocks<TestType>(0, 0, r, c, 4, random, sink);
    });
    CHECK(folder.entries() == 1);
    check_written<TestType>(path, rows, columns);
    CHECK(folder.entries() == 1);
  }
}

TEST_CASE("without --output nothing is asked for or written") {
  bool asked = false;
  write_matrix<double>(session(), "", 5, 3, [&](const BlockSink<double>&) { asked = true; });
  CHECK_FALSE(asked);
}

TEST_CASE("a rank that fails is everyone's error, and a file that was there stays as it was") {
  const SharedFolder folder;
  const auto write = [&](const char* name, int failing, std::int64_t first_column = 0) {
    write_matrix<double>(session(), folder / name, 8, 3, [&](const BlockSink<double>& sink) {
      deal_rows<double>(8, 3, sink);
      if (session().rank() != failing) return;
      if (first_column > 0) hand_over<double>(0, first_column, 1, 3, sink);
      throw RuntimeFailure("cannot be read back");
    });
  };
  write("good.npy", -1);
  for (int failing = 0; failing < session().size(); ++failing) {
    for (const char* name : {"good.npy", "new.npy"}) {
      for (const std::int64_t first_column : {0, 1}) {
        const auto error = collective_error([&] { write(name, failing, first_column); });
        CHECK(error.has_value());
        if (error) CHECK(error->teller() == failing);
        // A block that is not inside the matrix is refused before anything else is wrong.
        if (error) CHECK((error->code() == ExitCode::wrong_input) == (first_column > 0));
        CHECK(folder.entries() == 1);
        CHECK(read_npy_matrix_header<double>(folder / "good.npy").shape.front() == 8);
      }
    }
  }
  CHECK(collective_error([&] { write("good.npy/below", -1); }).has_value());
  CHECK(folder.entries() == 1);
}

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
  RunOptions same = good;
  same.result = folder / "." / "field.npy";
  const auto twice = collective_error([&] { require_outputs(session(), same); });
  REQUIRE(twice.has_value());
  CHECK(twice->code() == ExitCode::wrong_input);
  const auto error =
      collective_error([&] { write_result_folder(session(), folder / "file", described_run(), slots, model_files()); });
  CHECK(error.has_value());
  CHECK(folder.entries() == 1);
}

}  // namespace steelyard::test_outputs
