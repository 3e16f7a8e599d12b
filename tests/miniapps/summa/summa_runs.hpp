#pragma once

#include <filesystem>

#include "tests/catch.hpp"
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

/// run_app() with summa; nothing is measured before.
inline std::vector<Outcome> run_summa(std::vector<AppRun> runs, const TemporaryFolder& folder) {
  const TemporaryFolder platform;
  for (AppRun& run : runs) run.arguments = run.arguments + with_platform(platform);
  return run_app(summa, runs, folder);
}
inline Outcome run_summa(int ranks, const Words& arguments, const TemporaryFolder& folder) {
  return run_summa({{ranks, arguments}}, folder).front();
}

/// Where every unit's blocks are, as the table says that summa prints; that also has to count them right.
inline Rectangles parts_in_table(const std::string& out) {
  const std::vector<long long> row = slices_in_table(out, "row"), column = slices_in_table(out, "column"),
                               rows = slices_in_table(out, "rows"), columns = slices_in_table(out, "columns"),
                               blocks = slices_in_table(out, "blocks");
  REQUIRE_FALSE(rows.empty());
  for (const auto* other : {&row, &column, &columns, &blocks}) REQUIRE(other->size() == rows.size());
  Rectangles parts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    parts.push_back({row[i], column[i], rows[i], columns[i]});
    CHECK(parts[i].area() == blocks[i]);
  }
  return parts;
}

/// Whether each part of ranks that drive host and companion is in its rank's rectangle, and all together cover these.
inline bool share_out(const Rectangles& rectangles, const Rectangles& parts) {
  bool inside = parts.size() == 2 * rectangles.size();
  std::int64_t area = 0;
  for (std::size_t i = 0; i < parts.size() && inside; ++i) {
    inside = partition::common_part(parts[i], rectangles[i / 2]).area() == parts[i].area();
    area += rectangles[i / 2].area() - 2 * parts[i].area();
  }
  return inside && area == 0;
}

/// Runs of summa on the same files.
template <class Scalar>
class SummaTest : public ProductRuns<Scalar> {
 public:
  /// Random n x n matrices.
  explicit SummaTest(std::int64_t n) : ProductRuns<Scalar>(summa, n, n, n) {}

  /// All runs at the same time, on A, B and C' or without C'.
  void expect_products(const std::vector<AppRun>& runs, bool reads_c = true) {
    const Words platform = with_platform(this->folder());
    std::vector<typename ProductRuns<Scalar>::Product> products;
    for (const AppRun& run : runs) {
      products.push_back({{run.ranks, run.arguments + platform}, {1.0, reads_c ? 1.0 : 0.0}, reads_c});
    }
    ProductRuns<Scalar>::expect_products(products);
  }

  Rectangles parts(std::size_t run) const { return parts_in_table(this->outcomes()[run].out); }
};

}  // namespace steelyard::tests
