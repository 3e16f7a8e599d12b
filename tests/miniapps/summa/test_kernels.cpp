// The kernels that gemm and summa measure, as their facts tell them. That they are right: `steelyard conformance`.

#include <CLI/CLI.hpp>
#include <memory>

#include "core/spaces.hpp"
#include "miniapps/app/mini_app.hpp"
#include "miniapps/gemm/blocking.hpp"
#include "miniapps/gemm/unit_gemm.hpp"
#include "tests/catch.hpp"
#include "tests/core/synthetic_machine.hpp"
#include "tests/miniapps/allocations.hpp"

namespace steelyard {
std::unique_ptr<MiniApp> make_gemm();
std::unique_ptr<MiniApp> make_summa();
}  // namespace steelyard

namespace steelyard::tests::test_kernels {
namespace {

using Kind = ProcessingUnit::Kind;

constexpr double infinity = std::numeric_limits<double>::infinity();
double real(std::int64_t value) { return static_cast<double>(value); }

/// The kernel of an app with these options, and a cap of a companion's memory where there is one.
std::shared_ptr<MeasurableKernel> kernel_of(const std::unique_ptr<MiniApp>& app, ElementType element, double cap,
                                            std::vector<std::string> words) {
  CLI::App parser("Multiplies", "test");
  const auto options = add_app_options(parser, *app, Verb::run);
  words.insert(words.begin(), {"test", "--type", element_name(element)});
  if (std::isfinite(cap)) words.insert(words.end(), {"--device-memory", std::to_string(std::llround(cap))});
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  parse_command_line(parser, static_cast<int>(arguments.size()), arguments.data());
  app->prepare();
  return app->kernel();
}

/// gemm's, for block rows of k and n elements.
std::shared_ptr<MeasurableKernel> gemm_kernel(std::int64_t n, std::int64_t k, std::int64_t block, double beta,
                                              ElementType element, double cap) {
  return kernel_of(make_gemm(), element, cap,
                   {"--n", std::to_string(n), "--k", std::to_string(k), "--block", std::to_string(block), "--beta",
                    std::to_string(beta)});
}

/// summa's, for blocks of a size.
std::shared_ptr<MeasurableKernel> summa_kernel(std::int64_t block, ElementType element, double cap = infinity,
                                               std::int64_t n = 2048) {
  return kernel_of(make_summa(), element, cap, {"--block", std::to_string(block), "--size", std::to_string(n)});
}

/// Bytes of the host's operands, too few for huge pages, or of the buffers of a companion that works on `units` once.
double allocated_bytes(const MeasurableKernel& kernel, Kind kind, std::int64_t units) {
  const Allocations counted(kind == Kind::host ? "steelyard::core::host_array" : "steelyard::gemm::buffers");
  const auto run = kernel.allocate(kind, units);
  if (kind == Kind::companion) run->run();
  return counted.bytes();
}

TEST_CASE("gemm's block row takes 2 x rows x n x k operations, and moves and holds its rows of A and C beside B") {
  const ElementType element = GENERATE(ElementType::float64, ElementType::float32);
  const std::int64_t n = GENERATE(3, 64, 300), k = GENERATE(1, 96, 250), units = GENERATE(1, 2, 30);
  const std::int64_t block = 32;
  const double beta = GENERATE(0.0, 2.0);
  const auto kernel = gemm_kernel(n, k, block, beta, element, 1e9);
  const KernelFacts facts = kernel->facts();
  CHECK(facts.flops_per_unit == 2.0 * 32 * real(n * k));
  // C goes out; it comes in where it is read.
  CHECK(facts.bytes_per_unit == element_bytes(element) * 32 * real(k + n * (beta == 0.0 ? 1 : 2)));
  const double told = facts.memory_bytes_fixed + facts.memory_bytes_per_unit * real(units);
  CAPTURE(n, k, units, element_name(element), told);
  if (told < 1e6) CHECK(allocated_bytes(*kernel, Kind::host, units) <= told);
  if (!has_companion) return;
  const double buffers = allocated_bytes(*kernel, Kind::companion, units), cap = std::floor(0.7 * told);
  CHECK(buffers <= told + 128.0);
  CHECK(buffers >= told);
  if (cap < 5e5) return;
  const double capped = allocated_bytes(*gemm_kernel(n, k, block, beta, element, cap), Kind::companion, units);
  CHECK(capped <= cap);
  // Blocks that overlap with copies are smaller where larger ones would move no less.
  if (!companion_is_device) CHECK(capped >= 0.4 * cap);
}

TEST_CASE("what fits in core, as gemm's facts have it, is what blocks are planned in core for, and limits lie beyond") {
  const ElementType element = GENERATE(ElementType::float64, ElementType::float32);
  const std::int64_t n = GENERATE(1, 32, 100, 1024), k = GENERATE(1, 33, 640), block = GENERATE(32, 320, 1, 7, 50);
  CHECK(gemm_kernel(n, k, 32, 0.0, element, infinity)->facts().runs_out_of_core == companion_is_device);
  for (const double cap : {1e5, 1e6, 12345678.0, 1e8, 1e9}) {
    const auto in_core = [&](std::int64_t rows) {
      try {
        const gemm::BlockingGoal goal = gemm::blocking_goal(element_bytes(element), cap);
        return gemm::plan_blocking({rows, n, k, 0, 1.0, 0.0}, goal).in_core;
      } catch (const InvalidArgument&) {
        return false;
      }
    };
    const KernelFacts facts = gemm_kernel(n, k, block, 0.0, element, cap)->facts();
    CHECK(facts.runs_out_of_core);
    CHECK(facts.device_memory_bytes == cap);
    // On a machine with 64 GiB; a device has a limit of its own.
    const SyntheticMachine machine("numa:1(memory=68719476736) core:4 pu:1");
    RankUnits drives;
    drives.companion = ProcessingUnit{Kind::companion, "Companion", {1}, companion_is_device ? 0 : -1, 1.0};
    const UnitLimits limits = unit_limits(*machine, drives, Kind::companion, 1, facts);
    const auto units = static_cast<std::int64_t>(limits.in_core_units);
    CAPTURE(n, k, cap, block, units, element_name(element));
    // Buffers have multiples of 32 rows, so with any other block some of the last rows do not fit.
    const std::int64_t rows = block % 32 == 0 ? units * block : units * block - 31;
    if (rows > 0) CHECK(in_core(rows));
    CHECK_FALSE(in_core((units + 1) * block));
    CHECK(limits.max_units > limits.in_core_units);
  }
}

TEST_CASE("summa's block takes 2 b^3 operations, in a nearly square rectangle of so many, which a companion holds") {
  const ElementType element = GENERATE(ElementType::float64, ElementType::float32);
  // Small enough for no huge pages, which arrays have room for.
  const std::int64_t block = GENERATE(1, 7, 32), units = GENERATE(1, 2, 3, 5, 17, 64, 99);
  const double size = element_bytes(element), b = real(block), area = real(units) * b * b, side = std::sqrt(area);
  const auto kernel = summa_kernel(block, element);
  const KernelFacts facts = kernel->facts();
  CAPTURE(block, units, element_name(element));
  CHECK(facts.flops_per_unit == 2.0 * b * b * b);
  CHECK(facts.memory_bytes_per_unit == size * b * b);
  CHECK(facts.bytes_per_unit == 2.0 * size * b * b);
  CHECK(facts.runs_out_of_core == companion_is_device);
  CHECK(facts.largest >= 16);
  // C, and a column and a row of blocks of a square; its sides are whole numbers, and so are words of memory.
  const double operands = allocated_bytes(*kernel, Kind::host, units);
  CHECK(std::abs(operands - size * (area + 2.0 * side * b)) <= size * (0.5 * side + b + 1.0) + 24.0);
  // A block larger than the matrix is the matrix.
  const auto whole = summa_kernel(1 << 20, element, infinity, block);
  CHECK(whole->facts().flops_per_unit == facts.flops_per_unit);
  CHECK(whole->facts().memory_bytes_per_unit == facts.memory_bytes_per_unit);
  CHECK(allocated_bytes(*whole, Kind::host, units) == operands);
  if (!has_companion) return;
  const double in_core = allocated_bytes(*summa_kernel(block, element, 1e9), Kind::companion, units),
               padded = side + 33.0;
  CHECK(in_core >= size * area);
  CHECK(in_core <= size * (padded * padded + 2.0 * padded * b) + 128.0);
  for (const double times : {1.0, 1.5}) {
    const double cap = std::floor(gemm::least_memory_bytes(size, block) * times);
    CHECK(allocated_bytes(*summa_kernel(block, element, cap), Kind::companion, units) <= cap + 128.0);
  }
}

}  // namespace
}  // namespace steelyard::tests::test_kernels
