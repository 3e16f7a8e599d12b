#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/spaces.hpp"
#include "miniapps/fft2d/measured_kernel.hpp"
#include "miniapps/gemm/measured_kernel.hpp"
#include "miniapps/steelyard/conformance.hpp"
#include "miniapps/wave2d/measured_kernel.hpp"

namespace steelyard::tool::test_conformance {
namespace {

using Catch::Matchers::ContainsSubstring;
using Kind = ProcessingUnit::Kind;

constexpr double memory_bytes = 64.0 * 1024.0 * 1024.0;

std::vector<Kind> kinds() {
  if (has_companion) return {Kind::host, Kind::companion};
  return {Kind::host};
}

/// What an instance computed: on which unit, of how many computation units, and the how manieth instance it was.
struct Computed {
  std::vector<double>& values;
  Kind kind;
  std::int64_t units;
  int instance;
};
using Damage = std::function<void(const Computed&)>;

/// A kernel of the suite whose results are damaged. Only its checks are kept, for they are what finds that.
class Damaged : public MeasurableKernel {
 public:
  Damaged(std::shared_ptr<const MeasurableKernel> kernel, Damage damage)
      : kernel_(std::move(kernel)), damage_(std::move(damage)), instances_(std::make_shared<int>(0)) {}

  KernelFacts facts() const override { return kernel_->facts(); }
  std::unique_ptr<KernelRun> allocate(Kind kind, std::int64_t units) const override {
    return std::make_unique<Run>(kernel_->allocate(kind, units), damage_, kind, units, (*instances_)++);
  }
  std::vector<ConformanceCase> conformance_cases(Kind kind) const override {
    std::vector<ConformanceCase> cases = kernel_->conformance_cases(kind);
    for (ConformanceCase& one : cases) {
      for (auto& shape : one.shapes) {
        auto damaged = std::make_shared<Damaged>(shape, damage_);
        damaged->instances_ = instances_;
        shape = damaged;
      }
      one.timed = nullptr;
    }
    return cases;
  }
  std::vector<double> reference(std::int64_t units) const override { return kernel_->reference(units); }

 private:
  class Run : public KernelRun {
   public:
    Run(std::unique_ptr<KernelRun> run, const Damage& damage, Kind kind, std::int64_t units, int instance)
        : run_(std::move(run)), damage_(damage), kind_(kind), units_(units), instance_(instance) {}
    void run() override { run_->run(); }
    std::vector<double> check_run() override {
      std::vector<double> values = run_->check_run();
      damage_({values, kind_, units_, instance_});
      return values;
    }

   private:
    std::unique_ptr<KernelRun> run_;
    const Damage& damage_;
    Kind kind_;
    std::int64_t units_;
    int instance_;
  };

  std::shared_ptr<const MeasurableKernel> kernel_;
  Damage damage_;
  std::shared_ptr<int> instances_;
};

/// All cases of a kernel with this damage on a unit.
std::vector<ConformanceResult> results_of(std::shared_ptr<const MeasurableKernel> kernel, Kind kind, Damage damage) {
  Conformance conformance({std::make_shared<Damaged>(std::move(kernel), std::move(damage))});
  conformance.check(kind, memory_bytes);
  CHECK(conformance.results().size() == conformance.cases(kind));
  return conformance.results();
}

/// Another last bit, as far as there is a value with one: 0 has no error that is small beside it.
void turn_last_bit(std::vector<double>& values) {
  if (!values.empty() && values.back() != 0.0) {
    values.back() = std::nextafter(values.back(), std::numeric_limits<double>::infinity());
  }
}

/// Computes what a test says, of one shape and size.
class Numbers : public MeasurableKernel {
 public:
  std::vector<double> computed, expected;
  std::string element = "double";
  bool has_cases = true;

  KernelFacts facts() const override {
    KernelFacts facts;
    facts.app = "numbers";
    facts.element = element;
    facts.flops_per_unit = 3.0;
    facts.bytes_per_unit = 16.0;
    facts.largest = 50;
    return facts;
  }
  std::unique_ptr<KernelRun> allocate(Kind /*kind*/, std::int64_t /*units*/) const override {
    return std::make_unique<Run>(computed);
  }
  std::vector<ConformanceCase> conformance_cases(Kind /*kind*/) const override {
    if (!has_cases) return {};
    ConformanceCase one;
    one.shapes = {std::make_shared<Numbers>(*this)};
    one.sizes = {4};
    one.tolerance = 8.0;
    one.timed = one.shapes[0];
    return {one};
  }
  std::vector<double> reference(std::int64_t /*units*/) const override { return expected; }

 private:
  class Run : public KernelRun {
   public:
    explicit Run(std::vector<double> values) : values_(std::move(values)) {}
    void run() override {}
    std::vector<double> check_run() override { return values_; }

   private:
    std::vector<double> values_;
  };
};

ConformanceResult result_of(std::vector<double> computed, std::vector<double> expected,
                            const std::string& element = "double") {
  auto numbers = std::make_shared<Numbers>();
  numbers->computed = std::move(computed);
  numbers->expected = std::move(expected);
  numbers->element = element;
  Conformance conformance({numbers});
  conformance.check(Kind::host, memory_bytes);
  REQUIRE(conformance.results().size() == 1);
  CHECK(conformance.passed() == conformance.results()[0].passed());
  return conformance.results()[0];
}

}  // namespace

TEST_CASE("kernels of the suite are right in all of their cases on every unit") {
  for (const Kind kind : kinds()) {
    for (const std::shared_ptr<const MeasurableKernel>& kernel : std::vector<std::shared_ptr<const MeasurableKernel>>{
             std::make_shared<wave2d::MeasuredKernel>(), std::make_shared<gemm::MeasuredKernel>(),
             std::make_shared<fft2d::MeasuredKernel>()}) {
      for (const ConformanceResult& result : results_of(kernel, kind, [](const Computed&) {})) {
        CAPTURE(result.app, result.options, result.unit);
        CHECK(result.wrong == "");
        CHECK(result.error <= result.tolerance);
      }
    }
  }
}

TEST_CASE("a wrong value of the wave is found in every case, and said which it is") {
  for (const Kind kind : kinds()) {
    const auto damage = [](const Computed& computed) {
      if (computed.values.size() > 2) computed.values[2] += 1e-3;
    };
    for (const ConformanceResult& result : results_of(std::make_shared<wave2d::MeasuredKernel>(), kind, damage)) {
      CAPTURE(result.options);
      CHECK_FALSE(result.passed());
      CHECK_THAT(result.wrong, ContainsSubstring("value 2 is "));
      CHECK_THAT(result.wrong, ContainsSubstring("expected"));
      CHECK(result.error > result.tolerance);
    }
  }
}

TEST_CASE("a spectrum that is wrong for one odd number of rows alone is found in every case") {
  for (const Kind kind : kinds()) {
    const auto damage = [](const Computed& computed) {
      if (computed.units == 37) computed.values.back() = -computed.values.back() + 0.01;
    };
    for (const ConformanceResult& result : results_of(std::make_shared<fft2d::MeasuredKernel>(), kind, damage)) {
      CAPTURE(result.options);
      CHECK_THAT(result.wrong, ContainsSubstring(", 37 units: "));
    }
  }
}

TEST_CASE("a product whose last bit is another one the second time is found in every case") {
  for (const Kind kind : kinds()) {
    const auto damage = [](const Computed& computed) {
      if (computed.instance % 2 == 1) turn_last_bit(computed.values);
    };
    for (const ConformanceResult& result : results_of(std::make_shared<gemm::MeasuredKernel>(), kind, damage)) {
      CAPTURE(result.options);
      CHECK_THAT(result.wrong, ContainsSubstring("again: value "));
      // As near to the reference as before.
      CHECK(result.error <= result.tolerance);
    }
  }
}

TEST_CASE("another last bit on another unit is found where any unit is to have the same bits, and only there") {
  if (!has_companion) SKIP("one unit");
  const auto damage = [](const Computed& computed) {
    if (computed.kind == Kind::companion) turn_last_bit(computed.values);
  };
  Conformance conformance({std::make_shared<Damaged>(std::make_shared<wave2d::MeasuredKernel>(), damage),
                           std::make_shared<Damaged>(std::make_shared<gemm::MeasuredKernel>(), damage)});
  conformance.check(Kind::host, memory_bytes);
  CHECK(conformance.passed());
  conformance.check(Kind::companion, memory_bytes);
  for (const ConformanceResult& result : conformance.results()) {
    CAPTURE(result.app, result.options, result.unit);
    if (result.unit == "device" && result.same_bits == SameBits::any_unit) {
      CHECK_THAT(result.wrong, ContainsSubstring("on another unit: value "));
    } else {
      CHECK(result.passed());
    }
  }
}

TEST_CASE("errors are measured in roundings of the reference's largest value, and the tolerance is the most allowed") {
  for (const auto& [element, rounding] :
       {std::pair<std::string, double>{"double", std::numeric_limits<double>::epsilon()},
        {"float", std::numeric_limits<float>::epsilon()}}) {
    const std::vector<double> expected{0.25, -2.0, 1.0};
    CHECK(result_of(expected, expected, element).error == 0.0);
    const ConformanceResult most = result_of({0.25 + 16.0 * rounding, -2.0, 1.0}, expected, element);
    CHECK(most.passed());
    CHECK(most.error == 8.0);
    const ConformanceResult more = result_of({0.25, -2.0, 1.0 - 18.0 * rounding}, expected, element);
    CHECK(more.error == 9.0);
    CHECK_THAT(more.wrong, ContainsSubstring("value 2 is ") && ContainsSubstring("expected 1)"));
  }
}

TEST_CASE("values that are missing, are none or differ from zeros are wrong") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  CHECK_THAT(result_of({1.0}, {1.0, 2.0}).wrong, ContainsSubstring("1 values (expected 2)"));
  CHECK_THAT(result_of({1.0, none}, {1.0, 2.0}).wrong, ContainsSubstring("value 1 is nan"));
  CHECK_FALSE(result_of({1.0, std::numeric_limits<double>::infinity()}, {1.0, 2.0}).passed());
  CHECK_FALSE(result_of({0.0, 1e-300}, {0.0, 0.0}).passed());
  CHECK(result_of({0.0, 0.0}, {0.0, 0.0}).passed());
  CHECK(result_of({}, {}).passed());
}

TEST_CASE("what a kernel throws is what is wrong with it, and the others are checked all the same") {
  const auto damage = [](const Computed&) { throw std::runtime_error("the device is on fire"); };
  auto numbers = std::make_shared<Numbers>();
  numbers->computed = numbers->expected = {1.0, 2.0};
  Conformance conformance({std::make_shared<Damaged>(std::make_shared<gemm::MeasuredKernel>(), damage), numbers});
  conformance.check(Kind::host, memory_bytes);
  CHECK_FALSE(conformance.passed());
  CHECK(conformance.results().front().wrong == "the device is on fire");
  CHECK(conformance.results().back().passed());
}

TEST_CASE("a kernel that names nothing to check does not pass") {
  auto numbers = std::make_shared<Numbers>();
  numbers->has_cases = false;
  Conformance conformance({numbers});
  conformance.check(Kind::host, memory_bytes);
  REQUIRE(conformance.results().size() == 1);
  CHECK_FALSE(conformance.passed());
}

TEST_CASE(
    "bytes and operations per second have the ratio that the kernel says, of the largest size if runs are short") {
  const ConformanceResult result = result_of({1.0}, {1.0});
  CHECK(result.has_rates);
  CHECK(result.flops_per_s > 0.0);
  CHECK(std::abs(result.bytes_per_s / result.flops_per_s - 16.0 / 3.0) < 1e-9);
}

TEST_CASE("every case is announced before it runs, as many as there are") {
  std::vector<std::string> notes;
  auto numbers = std::make_shared<Numbers>();
  Conformance conformance({numbers, numbers}, [&](const std::string& note) { notes.push_back(note); });
  conformance.check(Kind::host, memory_bytes);
  CHECK(notes.size() == conformance.cases(Kind::host));
  CHECK_THAT(notes.front(), ContainsSubstring("numbers"));
}

}  // namespace steelyard::tool::test_conformance
