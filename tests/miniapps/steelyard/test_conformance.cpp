// What steelyard conformance finds wrong with kernels that are.
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>

#include "core/spaces.hpp"
#include "miniapps/steelyard/conformance.hpp"
#include "tests/catch.hpp"

namespace steelyard::tool::test_conformance {
namespace {

using Kind = ProcessingUnit::Kind;
using Values = std::vector<double>;

/// What an instance of a size computes on a unit. @param instance counts from 0
using Computed = std::function<Values(Kind kind, std::int64_t units, int instance)>;

/// Computes what a test says.
class Numbers : public MeasurableKernel {
 public:
  Values expected;
  Computed computed;
  std::string element = "double";
  SameBits same_bits = SameBits::again;
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
  std::unique_ptr<KernelRun> allocate(Kind kind, std::int64_t units) const override {
    return std::make_unique<Run>([this, kind, units] { return computed(kind, units, instances_[{kind, units}]++); });
  }
  std::vector<ConformanceCase> conformance_cases(Kind /*kind*/) const override {
    if (!has_cases) return {};
    ConformanceCase one;
    one.shapes = {std::make_shared<Numbers>(*this)};
    one.sizes = {4, 7};
    one.tolerance = 8.0;
    one.same_bits = same_bits;
    one.timed = one.shapes[0];
    return {one};
  }
  Values reference(std::int64_t /*units*/) const override { return expected; }

 private:
  class Run : public KernelRun {
   public:
    explicit Run(std::function<Values()> values) : values_(std::move(values)) {}
    void run() override {}
    Values check_run() override { return values_(); }

   private:
    std::function<Values()> values_;
  };

  mutable std::map<std::pair<Kind, std::int64_t>, int> instances_;
};

/// Results on the host and, where there is one, on its companion after it.
std::vector<ConformanceResult> results_of(const Numbers& numbers) {
  CommonValues common;
  std::vector<ConformanceResult> results =
      check_kernels({std::make_shared<Numbers>(numbers)}, Kind::host, 64e6, common);
  if (has_companion) {
    results.push_back(check_kernels({std::make_shared<Numbers>(numbers)}, Kind::companion, 64e6, common).front());
  }
  return results;
}

/// The first result of a kernel that always computes the same.
ConformanceResult result_of(const Values& computed, const Values& expected, const std::string& element = "double") {
  Numbers numbers;
  numbers.computed = [&](Kind, std::int64_t, int) { return computed; };
  numbers.expected = expected;
  numbers.element = element;
  return results_of(numbers).front();
}

}  // namespace

TEST_CASE("errors are measured in roundings of the reference's largest value, and the tolerance is the most allowed") {
  for (const auto& [element, rounding] :
       {std::pair<std::string, double>{"double", std::numeric_limits<double>::epsilon()},
        {"float", std::numeric_limits<float>::epsilon()}}) {
    const Values expected{0.25, -2.0, 1.0};
    CHECK(result_of(expected, expected, element).error == 0.0);
    const ConformanceResult most = result_of({0.25 + 16.0 * rounding, -2.0, 1.0}, expected, element);
    CHECK(most.passed());
    CHECK(most.error == 8.0);
    CHECK((most.has_rates && most.flops_per_s > 0.0));
    CHECK_THAT(most.bytes_per_s / most.flops_per_s, WithinRel(16.0 / 3.0, 1e-9));
    const ConformanceResult more = result_of({0.25, -2.0, 1.0 - 18.0 * rounding}, expected, element);
    CHECK(more.error == 9.0);
    CHECK_THAT(more.wrong, ContainsSubstring("value 2 is ") && ContainsSubstring("expected 1)"));
  }
}

TEST_CASE("values that are missing, are none or differ from zeros are wrong, and kernels that name nothing to check") {
  const double none = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  CHECK_FALSE(result_of({1.0}, {1.0, 2.0}).passed());
  CHECK_FALSE(result_of({1.0, none}, {1.0, 2.0}).passed());
  CHECK_FALSE(result_of({1.0, infinity}, {1.0, 2.0}).passed());
  CHECK_FALSE(result_of({0.0, 1e-300}, {0.0, 0.0}).passed());
  CHECK(result_of({0.0, 0.0}, {0.0, 0.0}).passed());
  CHECK(result_of({}, {}).passed());
  Numbers empty;
  empty.has_cases = false;
  CHECK_FALSE(results_of(empty).front().passed());
}

TEST_CASE("what is wrong with one size, the second time, on another unit or so that it throws is found, and said") {
  const double last_bit = std::nextafter(1.0, 2.0);
  Numbers numbers;
  numbers.expected = {1.0};
  const auto wrong = [&](const Computed& computed, std::size_t unit = 0) {
    numbers.computed = computed;
    return results_of(numbers).at(unit).wrong;
  };
  CHECK_THAT(wrong([](Kind, std::int64_t units, int) { return Values{units == 7 ? 1.1 : 1.0}; }),
             ContainsSubstring(", 7 units: value 0 is "));
  CHECK_THAT(wrong([&](Kind, std::int64_t, int instance) { return Values{instance == 1 ? last_bit : 1.0}; }),
             ContainsSubstring("again: value 0 is "));
  CHECK(wrong([](Kind, std::int64_t, int) -> Values { throw std::runtime_error("the device is on fire"); }) ==
        "the device is on fire");
  if (!has_companion) return;
  const Computed other_bits = [&](Kind kind, std::int64_t, int) {
    return Values{kind == Kind::companion ? last_bit : 1.0};
  };
  CHECK(wrong(other_bits, 1) == "");
  numbers.same_bits = SameBits::any_unit;
  CHECK(wrong(other_bits, 0) == "");
  CHECK_THAT(wrong(other_bits, 1), ContainsSubstring("on another unit: value 0 is "));
}

}  // namespace steelyard::tool::test_conformance
