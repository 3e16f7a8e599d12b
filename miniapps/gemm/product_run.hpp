#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/npy.hpp"
#include "core/gemm.hpp"
#include "core/memory/matrix.hpp"
#include "miniapps/app/mini_app.hpp"
#include "miniapps/gemm/freivalds.hpp"
#include "miniapps/gemm/random_matrix.hpp"
#include "miniapps/gemm/unit_gemm.hpp"

/// Parts that gemm and summa share.
namespace steelyard::gemm {

/// Adds `--device-memory`.
inline void add_device_memory_option(CLI::App& parser, double& device_memory_bytes) {
  const auto set = [&device_memory_bytes](const std::uint64_t& bytes) {
    device_memory_bytes = static_cast<double>(bytes);
  };
  // CLI11 accepts a negative number of bytes, which wraps round to a very large one.
  const auto refuse_negative = [](const std::string& bytes) {
    return bytes.starts_with('-') ? fmt::format("Value {} (expected a number of bytes)", bytes) : "";
  };
  parser
      .add_option_function<std::uint64_t>(
          "--device-memory", set,
          "Memory of the companion's own at most, such as 64MiB; without a GPU a part of the host's stands for it "
          "(default: all that a GPU has, and none without one)")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Validator(refuse_negative, ""))
      ->type_name("BYTES");
}

/// @param what_for the use of these bytes, in words @throws InvalidArgument for a cap below `least_bytes`
inline void require_device_memory(double device_memory_bytes, double least_bytes, const std::string& what_for) {
  if (device_memory_bytes < least_bytes) {
    throw InvalidArgument(fmt::format("--device-memory {:.0f} (expected at least {:.0f} bytes: {})",
                                      device_memory_bytes, least_bytes, what_for));
  }
}

/// @return rows and columns of a matrix file @throws FileFormatError, also for elements of another type
inline auto read_input_shape(const std::filesystem::path& path, ElementType element) {
  const bool is_double = element == ElementType::float64;
  return (is_double ? read_npy_matrix_header<double>(path) : read_npy_matrix_header<float>(path)).shape;
}

/// @return random matrices of `--seed` or, where there are any, the files of `--input`; zeros for C where they are two.
/// The source throws FileFormatError for a file that has changed since its header was read.
template <class Scalar>
MatrixSource<Scalar> matrix_source(const RunOptions& options) {
  if (options.input.empty()) {
    return [seed = options.seed](MatrixName name, const Tile& tile, std::span<Scalar> elements) {
      fill_random(RandomMatrix(seed, name), tile.row, tile.column, tile.columns, elements);
    };
  }
  return [files = options.input](MatrixName name, const Tile& tile, std::span<Scalar> elements) {
    if (elements.empty()) return;
    const std::size_t file = name == MatrixName::a ? 0 : name == MatrixName::b ? 1 : 2;
    if (file >= files.size()) {
      std::fill(elements.begin(), elements.end(), Scalar{0});
      return;
    }
    read_npy_block(files[file], read_npy_matrix_header<Scalar>(files[file]), tile.row, tile.column, tile.rows,
                   tile.columns, elements);
  };
}

/// A multiplication to be measured and checked, of the first rows and columns of the random matrices of seed 1: filled
/// by the unit's own threads, which construct this. Each run is the whole product or, of a problem in panels, one panel
/// after the other, all of them the same.
template <class Scalar>
class RandomProduct : public KernelRun {
 public:
  /// @param device_memory_bytes cap of a companion's memory, infinity for none
  RandomProduct(ProcessingUnit::Kind kind, const PanelProblem& problem, double device_memory_bytes)
      : kind_(kind),
        problem_(problem),
        a_(problem.rows, depth()),
        b_(depth(), problem.columns),
        c_(problem.rows, problem.columns) {
    fill(MatrixName::a, a_, depth());
    fill(MatrixName::b, b_, problem.columns);
    fill(MatrixName::c, c_, problem.columns);
    gemm_.emplace(kind, problem, device_memory_bytes);
  }

  void run() override {
    const Operands<Scalar> operands{a_.rows(0, problem_.rows), b_.rows(0, depth()), c_.rows(0, problem_.rows)};
    if (problem_.depth == 0) return gemm_->run(operands);
    gemm_->add(panel_, operands, {});
    panel_ = (panel_ + 1) % (problem_.k / problem_.depth);
  }
  std::vector<double> check_run() override {
    // C is whole after the last panel only.
    while (panel_ != 0) run();
    fill(MatrixName::c, c_, problem_.columns);
    do {
      run();
    } while (panel_ != 0);
    const std::span<const Scalar> values = c_.elements(0, problem_.rows);
    return {values.begin(), values.end()};
  }

 private:
  std::int64_t depth() const { return problem_.depth > 0 ? problem_.depth : problem_.k; }
  void fill(MatrixName name, const HostArray<Scalar>& array, std::int64_t columns) const {
    const std::span<Scalar> elements = array.elements(0, array.row_count());
    if (kind_ == ProcessingUnit::Kind::host) {
      fill_random<HostExecution>(RandomMatrix(1, name), 0, 0, columns, elements);
    } else {
      fill_random<CompanionExecution>(RandomMatrix(1, name), 0, 0, columns, elements);
    }
  }

  ProcessingUnit::Kind kind_;
  PanelProblem problem_;
  HostArray<Scalar> a_, b_, c_;
  std::optional<UnitGemm<Scalar>> gemm_;
  std::int64_t panel_ = 0;
};

inline std::unique_ptr<KernelRun> make_random_product(ProcessingUnit::Kind kind, ElementType element,
                                                      const PanelProblem& problem, double device_memory_bytes) {
  if (element == ElementType::float64) {
    return std::make_unique<RandomProduct<double>>(kind, problem, device_memory_bytes);
  }
  return std::make_unique<RandomProduct<float>>(kind, problem, device_memory_bytes);
}

/// alpha A B + beta C of these matrices, computed in long double.
inline std::vector<double> random_product(ElementType type, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                                          double alpha, double beta) {
  const auto element = [&](MatrixName name, std::int64_t i, std::int64_t j) {
    const double value = RandomMatrix(1, name).element(i, j);
    return static_cast<long double>(type == ElementType::float64 ? value : static_cast<float>(value));
  };
  std::vector<double> c;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      long double sum = 0.0L;
      for (std::int64_t l = 0; l < depth; ++l) sum += element(MatrixName::a, i, l) * element(MatrixName::b, l, j);
      const long double before = beta == 0.0 ? 0.0L : beta * element(MatrixName::c, i, j);
      c.push_back(static_cast<double>(alpha * sum + before));
    }
  }
  return c;
}

/// Keeps the BLAS of each unit, and the cap of a companion's memory where there is one.
inline void describe_units(RunRecord& record, const RankUnits& units, double device_memory_bytes) {
  if (units.host) record.settings["host_blas"] = blas::gemm_library(HostExecution());
  if (units.companion) record.settings["device_blas"] = blas::gemm_library(CompanionExecution());
  if (std::isfinite(device_memory_bytes)) record.params["device_memory_bytes"] = device_memory_bytes;
}

/// Keeps and prints the speed of a multiplication. @param units_flops_per_s of all units when none of them waits
/// @param share of that which the multiplication reaches
inline void add_speed(Outcome& outcome, double flops_per_s, double units_flops_per_s, double share) {
  outcome.figures["flops_per_s"] = flops_per_s;
  outcome.figures["units_flops_per_s"] = units_flops_per_s;
  outcome.figures["share_of_units"] = share;
  outcome.below += fmt::format("speed      {:.4g} GFLOP/s, {:.0f} % of what all units reach when none of them waits\n",
                               flops_per_s / 1e9, 100.0 * share);
}

/// Error that Freivalds' check of C finds. @see Freivalds::check()
template <class Scalar>
FoundError found_error(const Freivalds<Scalar>& freivalds, const ConstMatrix<HostExecution, Scalar>& c) {
  return {freivalds.check(c), 1.0, fmt::format("rounding's bound, by {} random vectors", vectors)};
}

}  // namespace steelyard::gemm
