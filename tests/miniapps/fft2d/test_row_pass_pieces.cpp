#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include "core/base/errors.hpp"
#include "tests/miniapps/fft2d/row_pass_run.hpp"

namespace steelyard::fft2d::test_row_pass_pieces {
namespace {

using tests::Array;
using tests::Units;

constexpr std::int64_t row_count = 37;

/// Lengths whose rows are aligned and not, short and with large prime factors.
constexpr std::int64_t some_lengths[] = {1, 7, 48, 61, 128, 135, 202};

/// Parts of [0, points), some of them empty.
std::vector<std::pair<std::int64_t, std::int64_t>> parts(std::int64_t points, std::size_t number, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<std::int64_t> cuts{0, points};
  while (cuts.size() < number + 1) {
    cuts.push_back(std::uniform_int_distribution<std::int64_t>(0, points)(engine));
  }
  std::sort(cuts.begin(), cuts.end());
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) result.emplace_back(cuts[i], cuts[i + 1] - cuts[i]);
  return result;
}

/// A slice's rows and what they are stored as, each cut into pieces with memory and padding of their own.
template <class Unit, class Element>
class CutSlice {
 public:
  using Scalar = typename Unit::Scalar;
  using Complex = Kokkos::complex<Scalar>;

  CutSlice(const RowTransformation& transformation, const Array<Element>& rows, std::size_t in_pieces,
           std::size_t out_pieces, unsigned seed)
      : transformation_(transformation), points_(stored_points(transformation.length, RowPass<Element>::real)) {
    for (const auto& [first, count] : parts(transformation.length, in_pieces, seed)) {
      const std::int64_t pitch = count + static_cast<std::int64_t>(seed + arrays_.size()) % 4;
      arrays_.emplace_back(row_count * pitch + 1);
      for (std::int64_t i = 0; i < row_count; ++i) {
        for (std::int64_t j = 0; j < count; ++j) {
          arrays_.back()[i * pitch + j] = rows[i * transformation.length + first + j];
        }
      }
      in_.push_back({arrays_.back().data(), pitch, first, count});
    }
    for (const auto& [first, count] : parts(points_, out_pieces, seed + 1)) {
      const std::int64_t least = transformation.transpose ? row_count : count;
      const std::int64_t pitch = least + static_cast<std::int64_t>(seed + stored_.size()) % 3;
      stored_.emplace_back((transformation.transpose ? count : row_count) * pitch + 1);
      out_.push_back({stored_.back().data(), pitch, first, count});
    }
    // Pieces may come in any order.
    std::reverse(in_.begin(), in_.end());
    std::reverse(out_.begin(), out_.end());
  }

  void run(RowPass<Element>& pass, std::int64_t first, std::int64_t count) {
    pass.run(first, count, std::span<const RowPiece<Element>>(in_), std::span<const StoredPiece<Complex>>(out_));
  }

  /// The stored points, as one array.
  Array<Complex> stored() const {
    Array<Complex> all(row_count * points_);
    for (const auto& piece : out_) {
      for (std::int64_t i = 0; i < row_count; ++i) {
        for (std::int64_t j = 0; j < piece.count; ++j) {
          if (transformation_.transpose) {
            all[(piece.first + j) * row_count + i] = piece.data[j * piece.pitch + i];
          } else {
            all[i * points_ + piece.first + j] = piece.data[i * piece.pitch + j];
          }
        }
      }
    }
    return all;
  }

  /// Whether elements that belong to no row were left alone.
  bool kept_off_padding() const {
    std::int64_t written = 0;
    for (const Array<Complex>& array : stored_) {
      for (std::int64_t i = 0; i < array.size(); ++i) written += array[i].real() == Scalar(777) ? 0 : 1;
    }
    return written == row_count * points_;
  }

 private:
  RowTransformation transformation_;
  std::int64_t points_;  ///< of a row that are stored
  std::vector<Array<Element>> arrays_;
  std::vector<Array<Complex>> stored_;
  std::vector<RowPiece<Element>> in_;
  std::vector<StoredPiece<Complex>> out_;
};

template <class Unit, class Element>
void check_cuts(const RowTransformation& transformation, const Array<Element>& rows) {
  for (const std::string& library : row_fft_libraries<typename Unit::Execution>()) {
    const auto whole = tests::run_pass<Unit>(transformation, library, rows);
    const auto pass =
        make_row_pass<Element>(Unit::kind, transformation, row_count, RowFftChoice{library, Planner::estimate});
    unsigned seed = 0;
    for (const std::size_t in_pieces : {1, 2, 5}) {
      for (const std::size_t out_pieces : {1, 3}) {
        CAPTURE(library, transformation.length, transformation.transpose, in_pieces, out_pieces);
        CutSlice<Unit, Element> at_once(transformation, rows, in_pieces, out_pieces, ++seed);
        at_once.run(*pass, 0, row_count);
        CHECK(at_once.stored().same_bits(whole));
        CHECK(at_once.kept_off_padding());
        CutSlice<Unit, Element> in_batches(transformation, rows, in_pieces, out_pieces, seed);
        std::int64_t first = 0;
        for (const std::int64_t count : {5, 0, 1, 16, 15}) {
          in_batches.run(*pass, first, count);
          first += count;
        }
        REQUIRE(first == row_count);
        CHECK(in_batches.stored().same_bits(whole));
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("However rows are cut and batched, the same bits are stored, and nothing else", "", Units) {
  using Scalar = typename TestType::Scalar;
  for (const std::int64_t n : some_lengths) {
    const auto rows = tests::random_rows<Kokkos::complex<Scalar>>(row_count * n, 11);
    const auto real_rows = tests::random_rows<Scalar>(row_count * n, 12);
    for (const bool transpose : {true, false}) {
      check_cuts<TestType>({n, Direction::forward, 0.25, transpose}, rows);
      check_cuts<TestType>({n, Direction::forward, 0.25, transpose}, real_rows);
    }
    check_cuts<TestType>({n, Direction::inverse, 3.0, true}, rows);
  }
}

TEMPLATE_LIST_TEST_CASE("Many rows are transformed as few are", "", Units) {
  using Scalar = typename TestType::Scalar;
  // So many that they are stored past the caches, in columns that begin anywhere in a cache line.
  const std::int64_t n = 48, many = 9001;
  const auto rows = tests::random_rows<Kokkos::complex<Scalar>>(many * n, 13);
  for (const std::string& library : row_fft_libraries<typename TestType::Execution>()) {
    const auto all = tests::run_pass<TestType>({n}, library, rows);
    for (std::int64_t i = 0; i < many; i += 900) {
      Array<Kokkos::complex<Scalar>> row(n), stored(n);
      for (std::int64_t j = 0; j < n; ++j) row[j] = rows[i * n + j], stored[j] = all[j * many + i];
      CHECK(stored.same_bits(tests::run_pass<TestType>({n}, library, row)));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("Pieces that do not cover rows, or more rows than announced, are refused", "", Units) {
  using Scalar = typename TestType::Scalar;
  using Complex = Kokkos::complex<Scalar>;
  using In = std::vector<RowPiece<Complex>>;
  using Out = std::vector<StoredPiece<Complex>>;
  const Array<Complex> rows(64), stored(64);
  for (const std::string& library : row_fft_libraries<typename TestType::Execution>()) {
    const auto pass = make_row_pass<Complex>(TestType::kind, {8}, 4, {library, Planner::estimate});
    const auto run = [&](std::int64_t first, std::int64_t count, const In& in, const Out& out) {
      pass->run(first, count, std::span(in), std::span(out));
    };
    const In in{{rows.data(), 8, 0, 8}};
    const Out out{{stored.data(), 4, 0, 8}};
    CHECK_NOTHROW(run(0, 4, in, out));
    CHECK_NOTHROW(run(0, 0, in, out));
    CHECK_NOTHROW(run(0, 4, {{nullptr, 0, 0, 0}, in[0]}, {{nullptr, 0, 8, 0}, out[0], {nullptr, 0, 0, 0}}));
    CHECK_THROWS_AS(run(0, 5, in, out), InvalidArgument);
    CHECK_THROWS_AS(run(-1, 2, in, out), InvalidArgument);
    CHECK_THROWS_AS(run(0, -1, in, out), InvalidArgument);
    CHECK_THROWS_AS(run(0, 4, {}, out), InvalidArgument);
    CHECK_THROWS_AS(run(0, 4, {{rows.data(), 8, 0, 7}}, out), InvalidArgument);
    CHECK_THROWS_AS(run(0, 4, {{rows.data(), 7, 0, 8}}, out), InvalidArgument);
    CHECK_THROWS_AS(run(0, 4, {{nullptr, 8, 0, 8}}, out), InvalidArgument);
    CHECK_THROWS_AS(run(0, 4, {{rows.data(), 8, 4, 4}, {rows.data(), 8, 0, 3}}, out), InvalidArgument);
    CHECK_THROWS_AS(run(0, 4, {{rows.data(), 8, 0, 5}, {rows.data(), 8, 4, 4}}, out), InvalidArgument);
    CHECK_THROWS_AS(run(0, 4, in, {}), InvalidArgument);
    CHECK_THROWS_AS(run(0, 4, in, {{stored.data(), 4, 0, 9}}), InvalidArgument);
    CHECK_THROWS_AS(run(0, 4, in, {{stored.data(), 3, 0, 8}}), InvalidArgument);
    CHECK_THROWS_AS(run(0, 4, in, {{stored.data(), 4, 0, 4}, {stored.data(), 4, 3, 5}}), InvalidArgument);
  }
}

}  // namespace
}  // namespace steelyard::fft2d::test_row_pass_pieces
