#include "miniapps/steelyard/conformance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>

#include "core/unit_rates.hpp"

namespace steelyard::tool {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// What a timed run takes at least, where there is memory for it.
constexpr double long_enough_s = 0.01;
constexpr int timed_runs = 3;

double rounding_of(const std::string& element) {
  return element == "float" ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
}

/// `shape 3 (columns 203, order 4), 7 units`
std::string described(std::size_t shape, const KernelFacts& facts, std::int64_t units) {
  std::string parameters;
  for (const auto& [name, value] : facts.parameters) {
    parameters += fmt::format("{}{} {:g}", parameters.empty() ? "" : ", ", name, value);
  }
  return fmt::format("shape {} ({}), {} {}", shape, parameters, units, units == 1 ? "unit" : "units");
}

std::string differing_count(std::size_t count, std::size_t expected) {
  return fmt::format("{} values (expected {})", count, expected);
}

/// Compares with the reference. @return what differs first; empty where nothing does
std::string compare(const std::vector<double>& values, const std::vector<double>& reference, double rounding,
                    ConformanceResult& result) {
  if (values.size() != reference.size()) return differing_count(values.size(), reference.size());
  double scale = 0.0;
  for (const double value : reference) scale = std::max(scale, std::abs(value));
  std::string differs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = std::abs(values[i] - reference[i]);
    double error = difference == 0.0 ? 0.0 : difference / (rounding * scale);
    if (std::isnan(error)) error = infinity;
    result.error = std::max(result.error, error);
    if (error > result.tolerance && differs.empty()) {
      differs = fmt::format("value {} is {:.17g} (expected {:.17g})", i, values[i], reference[i]);
    }
  }
  return differs;
}

/// Likewise, bit by bit.
std::string compare_bits(const std::vector<double>& values, const std::vector<double>& expected) {
  if (values.size() != expected.size()) return differing_count(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::bit_cast<std::uint64_t>(values[i]) != std::bit_cast<std::uint64_t>(expected[i])) {
      return fmt::format("value {} is {:.17g} (before {:.17g})", i, values[i], expected[i]);
    }
  }
  return "";
}

/// Seconds of the fastest of a few runs after one that does not count.
double fastest_seconds(KernelRun& run) {
  run.run();
  double fastest_s = infinity;
  for (int i = 0; i < timed_runs; ++i) fastest_s = std::min(fastest_s, unit_seconds([&] { run.run(); }));
  return fastest_s;
}

void measure(const MeasurableKernel& kernel, ProcessingUnit::Kind kind, double memory_bytes,
             ConformanceResult& result) {
  const KernelFacts facts = kernel.facts();
  // Out of core any size runs.
  const double fit =
      kind == ProcessingUnit::Kind::companion && facts.runs_out_of_core
          ? infinity
          : std::floor((memory_bytes - facts.memory_bytes_fixed) / std::max(1.0, facts.memory_bytes_per_unit));
  std::int64_t most = facts.largest;
  if (fit < static_cast<double>(most)) most = std::max<std::int64_t>(1, static_cast<std::int64_t>(fit));
  for (std::int64_t units = std::min(facts.smallest, most);;) {
    const double seconds = fastest_seconds(*kernel.allocate(kind, units));
    if (seconds >= long_enough_s || units == most) {
      result.has_rates = true;
      result.bytes_per_s = static_cast<double>(units) * facts.bytes_per_unit / seconds;
      result.flops_per_s = static_cast<double>(units) * facts.flops_per_unit / seconds;
      return;
    }
    // A little more, for larger sizes may be faster.
    const double wanted = 1.2 * static_cast<double>(units) * long_enough_s / seconds;
    units = wanted < static_cast<double>(most) ? static_cast<std::int64_t>(wanted) + 1 : most;
  }
}

}  // namespace

std::size_t Conformance::cases(ProcessingUnit::Kind kind) const {
  std::size_t count = 0;
  for (const auto& kernel : kernels_) count += kernel->conformance_cases(kind).size();
  return count;
}

bool Conformance::passed() const {
  return std::all_of(results_.begin(), results_.end(), [](const ConformanceResult& result) { return result.passed(); });
}

void Conformance::check(ProcessingUnit::Kind kind, double memory_bytes) {
  for (const auto& kernel : kernels_) {
    ConformanceResult result;
    result.app = kernel->facts().app;
    result.unit = kind == ProcessingUnit::Kind::host ? "host" : "device";
    const std::vector<ConformanceCase> cases = kernel->conformance_cases(kind);
    if (cases.empty()) {
      result.wrong = "nothing to check";
      results_.push_back(result);
    }
    for (const ConformanceCase& one : cases) {
      result.options = one.options;
      result.tolerance = one.tolerance;
      result.same_bits = one.same_bits;
      results_.push_back(result);
      if (notify_) notify_(fmt::format("({} {} on {})", result.app, result.options, result.unit));
      try {
        check(one, kind, memory_bytes, results_.back());
      } catch (const std::exception& error) {
        if (results_.back().wrong.empty()) results_.back().wrong = error.what();
      }
    }
  }
}

void Conformance::check(const ConformanceCase& one, ProcessingUnit::Kind kind, double memory_bytes,
                        ConformanceResult& result) {
  const auto note = [&](const std::string& what, const std::string& differs) {
    if (!differs.empty() && result.wrong.empty()) result.wrong = what + ": " + differs;
  };
  for (std::size_t i = 0; i < one.shapes.size(); ++i) {
    const MeasurableKernel& shape = *one.shapes[i];
    const KernelFacts facts = shape.facts();
    result.element = facts.element;
    for (const std::int64_t units : one.sizes) {
      const std::string of = described(i, facts, units);
      const std::vector<double> values = shape.allocate(kind, units)->check_run();
      note(of, compare(values, shape.reference(units), rounding_of(facts.element), result));
      note(of + ", again", compare_bits(shape.allocate(kind, units)->check_run(), values));
      if (one.same_bits != SameBits::any_unit) continue;
      const auto [before, is_first] = values_.try_emplace(result.app + result.options + of, values);
      if (!is_first) note(of + ", on another unit", compare_bits(values, before->second));
    }
  }
  if (one.timed != nullptr) measure(*one.timed, kind, memory_bytes, result);
}

}  // namespace steelyard::tool
