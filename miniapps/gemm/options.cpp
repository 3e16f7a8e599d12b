#include "miniapps/gemm/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>

#include "core/base/errors.hpp"
#include "core/typed_options.hpp"
#include "miniapps/gemm/blocking.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::gemm {
namespace {

constexpr std::int64_t default_extent = 2048;

/// CLI11 accepts a negative number of bytes, which wraps round to a very large one.
std::string refuse_negative(const std::string& bytes) {
  return bytes.starts_with('-') ? fmt::format("Value {} (expected a number of bytes)", bytes) : "";
}

/// An extent that several options or files name, and the first of them.
struct Extent {
  char name = ' ';
  std::optional<std::int64_t> value;
  std::string from;

  void take_from_file(const std::filesystem::path& path, std::int64_t found) {
    const auto refuse = [&](const std::string& expected) {
      throw FileFormatError(path.string(), "shape", fmt::format("has {} = {} (expected {})", name, found, expected));
    };
    if (value.value_or(found) != found) refuse(fmt::format("{} as in {}", *value, from));
    if (found > largest_extent) refuse(fmt::format("at most {}", largest_extent));
    if (!value) from = path.string();
    value = found;
  }
};

void take_extents(const Options& options, Extent& m, Extent& n, Extent& k) {
  const auto& files = options.run.input;
  if (files.empty()) return;
  const bool needs_c = options.problem.reads_c();
  if (files.size() != 3 && (needs_c || files.size() != 2)) {
    throw InvalidArgument(fmt::format("--input names {} file{} (expected A.npy B.npy{})", files.size(),
                                      files.size() == 1 ? "" : "s",
                                      needs_c ? " C.npy, for --beta is not 0" : " and, if at all, C.npy"));
  }
  const std::array<std::array<Extent*, 2>, 3> shapes{{{&m, &k}, {&k, &n}, {&m, &n}}};
  for (std::size_t i = 0; i < files.size(); ++i) {
    const NpyHeader header = read_input_header(files[i], options.run.element);
    for (const std::size_t j : {0, 1}) shapes[i][j]->take_from_file(files[i], header.shape[j]);
  }
}

}  // namespace

NpyHeader read_input_header(const std::filesystem::path& path, ElementType element) {
  return element == ElementType::float64 ? read_npy_matrix_header<double>(path) : read_npy_matrix_header<float>(path);
}

void add_device_memory_option(CLI::App& parser, double& device_memory_bytes) {
  const auto set = [&device_memory_bytes](const std::uint64_t& bytes) {
    device_memory_bytes = static_cast<double>(bytes);
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

void require_device_memory(double device_memory_bytes, double least_bytes, const std::string& what_for) {
  if (device_memory_bytes < least_bytes) {
    throw InvalidArgument(fmt::format("--device-memory {:.0f} (expected at least {:.0f} bytes: {})",
                                      device_memory_bytes, least_bytes, what_for));
  }
}

void add_options(const AppOptions& parsers, Options& options) {
  CLI::App& parser = parsers.model();
  const auto set_all = [&options](const std::int64_t& n) { options.m = options.n = options.k = n; };
  CLI::Option* const size = parser.add_option_function<std::int64_t>(
      "--size", set_all, fmt::format("Rows and columns of all matrices (default {})", default_extent));
  size->check(CLI::Range(std::int64_t{0}, largest_extent))->type_name("N");
  add_number(parser, "--m", options.m, "Rows of A and C", 0, largest_extent)->excludes(size);
  add_number(parser, "--n", options.n, "Columns of B and C", 0, largest_extent)->excludes(size);
  add_number(parser, "--k", options.k, "Columns of A, rows of B", 0, largest_extent)->excludes(size);
  parser.add_option("--alpha", options.problem.alpha, "Factor of A B")->type_name("X")->capture_default_str();
  parser.add_option("--beta", options.problem.beta, "Factor of C; with 0 it is written without being read")
      ->type_name("X")
      ->capture_default_str();
  add_number(parser, "--block", options.problem.block, "Rows of a block row, the computation unit", 1, 1 << 20, "ROWS")
      ->capture_default_str();
  add_device_memory_option(parser, options.device_memory_bytes);
  parsers.run().add_flag("--serialize", options.serialize,
                         "A device's copies and products one after the other (slower; 000's kernel of version 2)");
  parsers.run().get_option("--input")->description("A.npy B.npy and, where --beta is not 0, C.npy");
  parsers.run().get_option("--output")->description("Where C goes (NumPy .npy)");
}

Problem make_problem(const Options& options) {
  Problem problem = options.problem;
  for (const auto& [option, value] : {std::pair("--alpha", problem.alpha), {"--beta", problem.beta}}) {
    if (!std::isfinite(value)) throw InvalidArgument(fmt::format("{} {} (expected a number)", option, value));
  }
  require_device_memory(options.device_memory_bytes, least_memory_bytes(element_bytes(options.run.element)),
                        "five blocks of 32 x 32");
  Extent m{'m', options.m, "--m"}, n{'n', options.n, "--n"}, k{'k', options.k, "--k"};
  if (options.m && options.m == options.n && options.n == options.k) m.from = n.from = k.from = "the command line";
  take_extents(options, m, n, k);
  problem.m = m.value.value_or(default_extent);
  problem.n = n.value.value_or(default_extent);
  problem.k = k.value.value_or(default_extent);
  partition::find_algorithm(options.run.partition);
  return problem;
}

}  // namespace steelyard::gemm
