#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/npy.hpp"
#include "core/gemm.hpp"
#include "core/host_blas.hpp"
#include "core/measurable_kernel.hpp"
#include "core/memory/matrix.hpp"
#include "miniapps/app/mini_app.hpp"
#include "miniapps/gemm/blocking.hpp"
#include "miniapps/gemm/freivalds.hpp"
#include "miniapps/gemm/problem.hpp"
#include "miniapps/gemm/unit_gemm.hpp"

/// Measured kernel of a multiplication, and the parts of a run that gemm and summa share.
namespace steelyard::gemm {

/// Extents of gemm's matrices where the user names none.
inline constexpr std::int64_t default_extent = 2048;

/// Adds `--device-memory`.
inline void add_device_options(CLI::App& parser, DeviceUse& use) {
  const auto set = [&use](const std::uint64_t& bytes) { use.memory_bytes = static_cast<double>(bytes); };
  // CLI11 accepts a negative number of bytes, which wraps round to a very large one.
  const auto refuse_negative = [](const std::string& bytes) {
    return bytes.starts_with('-') ? fmt::format("Value {} (expected a number of bytes)", bytes) : "";
  };
  parser
      .add_option_function<std::uint64_t>(
          "--device-memory", set,
          "Memory of each device at most, such as 64MiB; without a GPU a part of the host's stands for it "
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
  return with_element(element, [&]<class Scalar>(Scalar) { return read_npy_matrix_header<Scalar>(path).shape; });
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
  RandomProduct(ProcessingUnit::Kind kind, const PanelProblem& problem, const DeviceUse& use)
      : kind_(kind),
        problem_(problem),
        a_(problem.rows, depth()),
        b_(depth(), problem.columns),
        c_(problem.rows, problem.columns) {
    fill(MatrixName::a, a_, depth());
    fill(MatrixName::b, b_, problem.columns);
    fill(MatrixName::c, c_, problem.columns);
    gemm_.emplace(kind, problem, use);
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
    with_space(kind_, [&]<class Execution>(const Execution&) {
      fill_random<Execution>(RandomMatrix(1, name), 0, 0, columns, elements);
    });
  }

  ProcessingUnit::Kind kind_;
  PanelProblem problem_;
  HostArray<Scalar> a_, b_, c_;
  std::optional<UnitGemm<Scalar>> gemm_;
  std::int64_t panel_ = 0;
};

/// A kernel that multiplies random matrices, gemm's or summa's.
class ProductKernel : public MeasurableKernel {
 public:
  ProductKernel(ElementType element, const DeviceUse& use) : element_(element), use_(use) {}

  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override {
    return with_element(element_, [&]<class Scalar>(Scalar) -> std::unique_ptr<KernelRun> {
      return std::make_unique<RandomProduct<Scalar>>(kind, product(units), use_);
    });
  }
  /// Computed in long double.
  std::vector<double> reference(std::int64_t units) const override {
    const PanelProblem of = product(units);
    const std::int64_t depth = of.depth > 0 ? of.depth : of.k, panels = of.depth > 0 ? of.k / of.depth : 0;
    const double alpha = panels > 0 ? static_cast<double>(panels) : of.alpha;
    const auto element = [&](MatrixName name, std::int64_t i, std::int64_t j) {
      const double value = RandomMatrix(1, name).element(i, j);
      return static_cast<long double>(element_ == ElementType::float64 ? value : static_cast<float>(value));
    };
    std::vector<double> c;
    for (std::int64_t i = 0; i < of.rows; ++i) {
      for (std::int64_t j = 0; j < of.columns; ++j) {
        long double sum = 0.0L;
        for (std::int64_t l = 0; l < depth; ++l) sum += element(MatrixName::a, i, l) * element(MatrixName::b, l, j);
        const long double before = of.beta == 0.0 ? 0.0L : of.beta * element(MatrixName::c, i, j);
        c.push_back(static_cast<double>(alpha * sum + before));
      }
    }
    return c;
  }

 protected:
  /// The product of so many computation units.
  virtual PanelProblem product(std::int64_t units) const = 0;
  KernelFacts facts_of(const std::string& app, const std::string& computation_unit) const {
    KernelFacts facts;
    facts.app = app;
    facts.kernel = "gemm";
    facts.element = element_name(element_);
    facts.computation_unit = computation_unit;
    facts.host_blas = host_blas().name;
    facts.runs_out_of_core = has_device_memory(use_.memory_bytes);
    facts.device_memory_bytes = use_.memory_bytes;
    return facts;
  }
  ElementType element_type() const { return element_; }

 private:
  ElementType element_;
  DeviceUse use_;
};

/// gemm's measured kernel: the multiplication on one unit's block rows, with all copies to and from a companion's
/// memory (000, section 4.1.1): a computation unit is a block row of A and C, 2 x block x n x k flops.
class MeasuredKernel : public ProductKernel {
 public:
  MeasuredKernel(const Problem& problem, ElementType element, const DeviceUse& use)
      : ProductKernel(element, use), problem_(problem) {
    // C is not set back between runs: other factors would let it grow out of the numbers, or shrink below them.
    problem_.alpha = problem.alpha == 0.0 ? 0.0 : 1.0;
    problem_.beta = problem.reads_c() ? 1.0 : 0.0;
  }

  KernelFacts facts() const override {
    const double bytes = element_bytes(element_type());
    const double n = static_cast<double>(problem_.n), k = static_cast<double>(problem_.k);
    const double rows = static_cast<double>(problem_.block);
    KernelFacts facts = facts_of("gemm", "one block row of C = alpha A B + beta C");
    facts.parameters = {{"n", n}, {"k", k}, {"block", rows}, {"reads_c", problem_.reads_c() ? 1.0 : 0.0}};
    facts.flops_per_unit = 2.0 * rows * n * k;
    facts.bytes_per_unit = bytes * rows * (k + n * (problem_.reads_c() ? 2.0 : 1.0));
    // As in a device's buffers.
    const auto n_padded = static_cast<double>(padded_extent(problem_.n));
    const auto k_padded = static_cast<double>(padded_extent(problem_.k));
    facts.memory_bytes_per_unit = bytes * rows * (k_padded + n_padded);
    facts.memory_bytes_fixed = bytes * k_padded * n_padded;
    facts.copied_bytes_per_unit = bytes * rows * k_padded;
    // Up to twice as many rows as a square problem has.
    facts.largest = std::max<std::int64_t>(64, 2 * std::max(problem_.n, problem_.k) / problem_.block);
    return facts;
  }
  std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind kind) const override {
    constexpr double all = std::numeric_limits<double>::infinity();
    std::vector<ConformanceCase> cases;
    for (const ElementType element : {ElementType::float64, ElementType::float32}) {
      for (const double beta : {0.0, 1.0}) {
        // A small memory has a companion multiply out of core.
        for (const double memory : {all, 64.0 * 1024.0}) {
          if (memory != all && kind == ProcessingUnit::Kind::host) continue;
          const auto kernel = [&](std::int64_t n, std::int64_t k, std::int64_t block) {
            return std::make_shared<MeasuredKernel>(Problem{0, n, k, 1.0, beta, block}, element, DeviceUse{memory});
          };
          ConformanceCase& check = cases.emplace_back();
          check.options = fmt::format("--type {} --beta {:g}{}", element_name(element), beta,
                                      memory == all ? "" : " --device-memory 64KiB");
          check.shapes = {kernel(1, 1, 1), kernel(61, 83, 5), kernel(130, 67, 32), kernel(5, 0, 3), kernel(0, 5, 3)};
          check.sizes = {0, 1, 3, 7};
          // A sum of k products of numbers below 1, and the largest of many is no smaller than 1.
          check.tolerance = 83.0;
          if (memory == all) check.timed = kernel(default_extent, default_extent, Problem().block);
        }
      }
    }
    return cases;
  }

 private:
  PanelProblem product(std::int64_t units) const override {
    return {units * problem_.block, problem_.n, problem_.k, 0, problem_.alpha, problem_.beta};
  }

  Problem problem_;
};

/// Keeps the BLAS of each unit, and the cap of a companion's memory where there is one.
inline void describe_units(RunRecord& record, const RankUnits& units, double device_memory_bytes) {
  if (units.host) record.settings["host_blas"] = blas::gemm_library(HostExecution());
  if (units.companion) record.settings["device_blas"] = blas::gemm_library(CompanionExecution());
  if (std::isfinite(device_memory_bytes)) record.params["device_memory_bytes"] = device_memory_bytes;
}

/// Keeps and prints the speed of a multiplication. @param units_flops_per_s of all units when none of them waits
/// @param share of that which the multiplication reaches
inline void add_speed(Outcome& outcome, double flops_per_s, double units_flops_per_s, double share) {
  outcome.figure_of_merit = {"GFLOP/s", 1e-9 * flops_per_s};
  outcome.figures["units_flops_per_s"] = units_flops_per_s;
  outcome.figures["share_of_units"] = share;
  outcome.below += fmt::format("share      {:.0f} % of what all units reach when none of them waits\n", 100.0 * share);
}

/// Error that Freivalds' check of C finds. @see Freivalds::check()
template <class Scalar>
FoundError found_error(const Freivalds<Scalar>& freivalds, const ConstMatrix<HostExecution, Scalar>& c) {
  return {freivalds.check(c), 1.0, fmt::format("rounding's bound, by {} random vectors", vectors)};
}

}  // namespace steelyard::gemm
