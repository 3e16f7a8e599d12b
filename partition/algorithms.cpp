#include "partition/algorithms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <sstream>

#include "core/base/errors.hpp"
#include "models/kinds/model_kinds.hpp"
#include "partition/time_table.hpp"

namespace steelyard::partition {
namespace {

/// The numbers with colons between them behind the first colon of `name`.
std::vector<double> numbers_of(const std::string& name) {
  std::vector<double> numbers;
  std::istringstream words(name.substr(name.find(':') + 1));
  for (std::string word; std::getline(words, word, ':');) {
    const char* const end = word.data() + word.size();
    double number = 0.0;
    const auto [read, error] = std::from_chars(word.data(), end, number);
    if (error != std::errc() || read != end || !(number >= 0.0 && std::isfinite(number))) {
      throw InvalidArgument(
          fmt::format("partition \"{}\": \"{}\" (expected numbers >= 0 with colons between them)", name, word));
    }
    numbers.push_back(number);
  }
  return numbers;
}

/// Predicts slices that take no notice of memory. @throws InvalidArgument for one that exceeds its unit's
Distribution predict_fitting(std::vector<std::int64_t> slices, Models models, const char* name) {
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (models[i]->fits(static_cast<double>(slices[i]))) continue;
    throw InvalidArgument(fmt::format("{} of {} computation units does not fit on unit {}, which holds {}", name,
                                      slices[i], i, models[i]->max_units()));
  }
  return predict(std::move(slices), models);
}

/// `shares:A:B:...`: whole parts of the total in proportion to the shares.
Algorithm by_shares(const std::string& name) {
  const std::vector<double> shares = numbers_of(name);
  if (std::all_of(shares.begin(), shares.end(), [](double share) { return share == 0.0; })) {
    throw InvalidArgument(fmt::format("partition \"{}\" (expected a share above 0)", name));
  }
  const auto distribute = [shares](std::int64_t total, Models models) {
    require_feasible(total, models);
    if (shares.size() != models.size()) {
      throw InvalidArgument(
          fmt::format("{} shares for {} processing units (expected one for each)", shares.size(), models.size()));
    }
    std::vector<double> seconds_per_part;
    for (const double share : shares) seconds_per_part.push_back(share > 0.0 ? 1.0 / share : 1.0);
    return predict_fitting(proportional_parts(total, shares, seconds_per_part), models, "share");
  };
  return {name, "in proportion to given numbers", distribute};
}

/// A model whose computation unit is a piece of several.
class PieceModel : public models::SpeedModel {
 public:
  PieceModel(const models::SpeedModel& model, double piece)
      : SpeedModel(std::max(std::floor(model.max_units() / piece), std::numeric_limits<double>::min())),
        model_(model),
        piece_(piece) {}

  std::string kind() const override { return model_.kind(); }
  double units_within(double time_s) const override { return model_.units_within(time_s) / piece_; }
  std::vector<double> breakpoints() const override {
    std::vector<double> pieces = model_.breakpoints();
    for (double& size : pieces) size /= piece_;
    return pieces;
  }

 private:
  double fitted_speed(double units) const override { return model_.speed(units * piece_) / piece_; }

  const models::SpeedModel& model_;
  double piece_;
};

/// `constant:N`.
Algorithm constant_at(double units) {
  if (!(units > 0.0)) throw InvalidArgument(fmt::format("partition constant:{} (expected constant:N, N > 0)", units));
  Algorithm algorithm = find_algorithm("constant");
  algorithm.name += fmt::format(":{}", units);
  algorithm.distribute = [units](std::int64_t total, Models models) { return constant(total, models, units); };
  algorithm.constant_at = units;
  return algorithm;
}

}  // namespace

Distribution even(std::int64_t total, Models models) {
  require_feasible(total, models);
  return predict_fitting(even_slices(total, models.size()), models, "even share");
}

Distribution constant(std::int64_t total, Models models, double at_units) {
  require_feasible(total, models);
  if (total == 0) return predict(std::vector<std::int64_t>(models.size(), 0), models);
  const double size = at_units > 0.0 ? at_units : static_cast<double>(total) / static_cast<double>(models.size());
  std::vector<double> speeds, max_units;
  for (const models::SpeedModel* model : models) {
    max_units.push_back(model->max_units());
    const double at = std::min(size, max_units.back());
    speeds.push_back(model->speed(at));
    if (speeds.back() > 0.0) continue;
    throw InvalidArgument(
        fmt::format("{} model of unit {} has no speed at {} computation units (expected constant:N "
                    "with a size N that all models answer for)",
                    model->kind(), speeds.size() - 1, at));
  }
  return predict(constant_speeds(total, speeds, max_units).units, models);
}

Distribution distribute_among(std::int64_t total, Models models,
                              const std::function<Distribution(std::int64_t total, Models models)>& distribute) {
  std::vector<const models::SpeedModel*> present;
  for (const models::SpeedModel* model : models) {
    if (model != nullptr) present.push_back(model);
  }
  const Distribution found = distribute(total, present);
  Distribution distribution;
  std::size_t next = 0;
  for (const models::SpeedModel* model : models) {
    distribution.units.push_back(model != nullptr ? found.units[next] : 0);
    distribution.predicted_s.push_back(model != nullptr ? found.predicted_s[next++] : 0.0);
  }
  return distribution;
}

Distribution constant_speeds(std::int64_t total, std::span<const double> speeds, std::span<const double> max_units) {
  std::deque<models::ConstantModel> constants;
  std::vector<const models::SpeedModel*> pointers;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    double limit = models::no_limit;
    if (!max_units.empty()) limit = max_units[i];
    pointers.push_back(speeds[i] == 0.0 ? nullptr : &constants.emplace_back(speeds[i], limit));
  }
  // Lines through the origin meet constant speeds at proportional slices, so this is the same bisection.
  return distribute_among(total, pointers, geometric);
}

std::span<const Algorithm> algorithms() {
  static const std::array<Algorithm, 6> all{{
      {"even", "the same number for every processing unit", even},
      {"constant", "proportional to the speed at the even share, or constant:N at N computation units (CPM)",
       [](std::int64_t total, Models models) { return constant(total, models); }},
      {"geometric", "equal times by bisection with lines through the origin (FPM)", geometric, "piecewise_linear",
       models::Shape::increasing_time, 0.0, true},
      {"numerical", "equal times by root finding, for smooth speeds of any shape (multiroot)", numerical, "akima",
       models::Shape::increasing_time, 0.0, true},
      {"hpopta", "least makespan for any shape of speed by tree search as published (HPOPTA)",
       [](std::int64_t total, Models models) { return hpopta(total, tabulate(models, total)).distribution; },
       "piecewise_linear", models::Shape::as_measured, 0.0, true},
      {"exact", "least makespan for any shape of speed in polynomial time, then least total time",
       [](std::int64_t total, Models models) { return exact(total, tabulate(models, total)).distribution; }, "shrunk",
       models::Shape::as_measured, 0.0, true},
  }};
  return all;
}

Algorithm find_algorithm(const std::string& name, const std::string& others) {
  if (name.starts_with("shares:")) return by_shares(name);
  if (name.starts_with("constant:")) {
    const std::vector<double> numbers = numbers_of(name);
    return constant_at(numbers.size() == 1 ? numbers.front() : 0.0);
  }
  std::string names;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.name == name) return algorithm;
    names += (names.empty() ? "" : ", ") + algorithm.name;
  }
  throw InvalidArgument(fmt::format("partition \"{}\" is unknown (expected one of {}{})", name, names, others));
}

Distribution distribute_in_multiples(std::int64_t total, Models models, const Algorithm& algorithm,
                                     std::int64_t granularity) {
  if (granularity < 1 || total % granularity != 0) {
    throw InvalidArgument(
        fmt::format("granularity {} for {} computation units (expected a divisor)", granularity, total));
  }
  if (granularity == 1) return algorithm.distribute(total, models);
  std::deque<PieceModel> pieces;
  std::vector<const models::SpeedModel*> pointers;
  for (const models::SpeedModel* model : models) {
    pointers.push_back(&pieces.emplace_back(*model, static_cast<double>(granularity)));
  }
  const Algorithm of_pieces =
      algorithm.constant_at > 0.0 ? constant_at(algorithm.constant_at / static_cast<double>(granularity)) : algorithm;
  std::vector<std::int64_t> units = of_pieces.distribute(total / granularity, pointers).units;
  for (std::int64_t& slice : units) slice *= granularity;
  return predict(std::move(units), models);
}

}  // namespace steelyard::partition
