#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/miniapps/product_runs.hpp"
#include "tests/miniapps/rectangles.hpp"

namespace steelyard::tests {

inline const std::filesystem::path summa = STEELYARD_SUMMA;

/// The ways that pivots travel, with barriers where there may be any.
inline const std::vector<Words> communications{{"--communication", "paper"},
                                               {"--communication", "bcast"},
                                               {"--communication", "pipelined"},
                                               {"--communication", "paper", "--barrier"},
                                               {"--communication", "bcast", "--barrier"}};

/// One of them, so that each meets many numbers.
inline const Words& communication_of(int number) { return communications[static_cast<std::size_t>(number) % 5]; }

/// run_app() with summa; nothing is measured before.
inline std::vector<Outcome> run_summa(std::vector<AppRun> runs, const TemporaryFolder& folder) {
  const TemporaryFolder platform;
  for (AppRun& run : runs) run.arguments = run.arguments + with_platform(platform);
  return run_app(summa, runs, folder);
}
inline Outcome run_summa(int ranks, const Words& arguments, const TemporaryFolder& folder) {
  return run_summa({{ranks, arguments}}, folder).front();
}

/// A phase in `run.json`.
inline const nlohmann::json& phase(const nlohmann::json& run, const std::string& name) {
  for (const auto& found : run.at("phases")) {
    if (found.at("name") == name) return found;
  }
  FAIL("there is no phase " << name);
  throw std::logic_error("unreachable");
}

/// Where every unit's blocks are, as the table says that summa prints; that also has to count them right.
inline Rectangles parts_in_table(const std::string& out) {
  const std::vector<long long> row = slices_in_table(out, "row"), column = slices_in_table(out, "column"),
                               rows = slices_in_table(out, "rows"), columns = slices_in_table(out, "columns"),
                               blocks = slices_in_table(out, "blocks");
  REQUIRE_FALSE(rows.empty());
  REQUIRE(row.size() == rows.size());
  REQUIRE(column.size() == rows.size());
  REQUIRE(columns.size() == rows.size());
  REQUIRE(blocks.size() == rows.size());
  Rectangles parts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    parts.push_back({row[i], column[i], rows[i], columns[i]});
    CHECK(parts[i].area() == blocks[i]);
  }
  return parts;
}

/// The rectangles of ranks that drive host and companion each: the host's part and below it the companion's.
inline Rectangles rank_rectangles(const Rectangles& parts) {
  Rectangles ranks;
  REQUIRE(parts.size() % 2 == 0);
  for (std::size_t i = 0; i < parts.size(); i += 2) {
    const partition::Rectangle& host = parts[i];
    const partition::Rectangle& companion = parts[i + 1];
    if (host.empty() || companion.empty()) {
      ranks.push_back(host.empty() ? companion : host);
      continue;
    }
    CHECK(companion.row == host.end_row());
    CHECK(companion.column == host.column);
    CHECK(companion.columns == host.columns);
    ranks.push_back({host.row, host.column, host.rows + companion.rows, host.columns});
  }
  return ranks;
}

/// Runs of summa on the same files.
template <class Scalar>
class SummaTest : public ProductRuns<Scalar> {
 public:
  /// Random n x n matrices.
  explicit SummaTest(std::int64_t n) : ProductRuns<Scalar>(summa, n, n, n) {}

  /// Makes all elements whole numbers so small that nothing is rounded in their product.
  void use_whole_numbers() {
    for (Grid<Scalar>* grid : {&this->files.a, &this->files.b, &this->files.c}) {
      for (Scalar& value : grid->values) value = std::floor(8 * value);
    }
  }

  /// All runs at the same time, on A, B and C' or without C'.
  void expect_products(const std::vector<AppRun>& runs, bool reads_c = true) {
    const Words platform = with_platform(this->folder());
    std::vector<typename ProductRuns<Scalar>::Product> products;
    for (const AppRun& run : runs) {
      products.push_back({{run.ranks, run.arguments + platform}, {1.0, reads_c ? 1.0 : 0.0}, reads_c});
    }
    ProductRuns<Scalar>::expect_products(products);
  }

  /// All runs of whole numbers.
  void expect_exact(const std::vector<AppRun>& runs) {
    use_whole_numbers();
    expect_products(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      INFO("run " << i << " on " << runs[i].ranks << " ranks\n" << this->outcomes()[i].out);
      CHECK(this->deviations()[i] == 0.0);
    }
  }

  Rectangles parts(std::size_t run) const { return parts_in_table(this->outcomes()[run].out); }
};

}  // namespace steelyard::tests
