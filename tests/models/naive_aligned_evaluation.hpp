#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "models/communication/tau_lop/tau_lop.hpp"
#include "tests/models/merged_neighbours.hpp"
#include "tests/models/random_expressions.hpp"

namespace steelyard::tests {

/// What models/communication/tau_lop/aligned_evaluation.hpp says, every transmission on its own: each one takes an
/// interval of its channel, a sequence puts intervals behind each other and concurrent parts put them over each other.
/// Where k intervals overlap on a length m, there is k || T^c(m), terms of one k brought together.
class NaiveAlignedEvaluation {
 public:
  NaiveAlignedEvaluation(const models::TauLop& model, double bytes_per_unit = 1.0)
      : model_(&model), bytes_per_unit_(bytes_per_unit) {}

  models::ReducedForm form(const models::Expression& expression) {
    return terms(placed(expanded(merged_neighbours(expression))));
  }

  /// Parts that share no channel cost the same, and each of them is right.
  bool has_ties() const { return has_ties_; }

 private:
  using Interval = std::pair<double, double>;
  using Placed = std::map<models::ChannelInstance, std::vector<Interval>>;
  using Kind = models::Expression::Kind;

  static double length(const std::vector<Interval>& intervals) {
    double end = 0.0;
    for (const Interval& interval : intervals) end = std::max(end, interval.second);
    return end;
  }

  static models::ReducedForm terms(const Placed& placed) {
    models::ReducedForm form;
    for (const auto& [channel, intervals] : placed) {
      std::set<double> ends;
      for (const auto& [begin, end] : intervals) ends.insert({begin, end});
      std::map<std::int64_t, double> sizes;
      for (auto at = ends.begin(); at != ends.end() && std::next(at) != ends.end(); ++at) {
        std::int64_t k = 0;
        for (const auto& [begin, end] : intervals) k += begin <= *at && *at < end ? 1 : 0;
        if (k > 0) sizes[k] += *std::next(at) - *at;
      }
      for (const auto& [k, size] : sizes) form.push_back({k, channel, size});
    }
    return form;
  }

  double seconds(const Placed& placed) const {
    double sum_s = 0.0;
    for (const models::Term& term : terms(placed)) {
      sum_s += model_->transmission_s(term.channel.channel, term.size * bytes_per_unit_, term.multiplicity);
    }
    return sum_s;
  }

  Placed placed(const models::Expression& expression) {
    Placed result;
    if (expression.kind == Kind::transmission) {
      if (expression.size > 0.0) result[expression.channel].push_back({0.0, expression.size});
    } else if (expression.kind == Kind::sequence) {
      for (const models::Expression& part : expression.parts) {
        for (const auto& [channel, intervals] : placed(part)) {
          auto& all = result[channel];
          const double from = length(all);
          for (const auto& [begin, end] : intervals) all.push_back({from + begin, from + end});
        }
      }
    } else {
      result = dearest(flattened(expression));
    }
    return result;
  }

  /// X || (Y || Z) is X || Y || Z.
  static std::vector<models::Expression> flattened(const models::Expression& expression) {
    std::vector<models::Expression> all;
    for (const models::Expression& part : expression.parts) {
      const models::Expression* inner = &part;
      while (inner->kind == Kind::sequence && inner->parts.size() == 1) inner = &inner->parts.front();
      if (inner->kind == Kind::concurrent) {
        for (models::Expression& one : flattened(*inner)) all.push_back(std::move(one));
      } else {
        all.push_back(*inner);
      }
    }
    return all;
  }

  /// Keys of a channel's instances that one part uses, or parts, in groups that have nothing in common.
  template <class Keys>
  static std::vector<std::set<models::ChannelInstance>> apart(const Keys& sets) {
    std::vector<std::set<models::ChannelInstance>> groups;
    for (std::set<models::ChannelInstance> group : sets) {
      std::vector<std::set<models::ChannelInstance>> others;
      for (const std::set<models::ChannelInstance>& other : groups) {
        const bool shares = std::ranges::any_of(other, [&](const auto& key) { return group.contains(key); });
        if (shares) {
          group.insert(other.begin(), other.end());
        } else {
          others.push_back(other);
        }
      }
      if (!group.empty()) others.push_back(std::move(group));
      groups = std::move(others);
    }
    return groups;
  }

  Placed dearest(const std::vector<models::Expression>& concurrent) {
    Placed all;
    std::vector<std::set<models::ChannelInstance>> used;
    std::map<int, std::vector<std::set<models::ChannelInstance>>> used_of_channel;
    for (const models::Expression& part : concurrent) {
      std::map<int, std::set<models::ChannelInstance>> instances;
      std::set<models::ChannelInstance>& keys = used.emplace_back();
      for (const auto& [channel, intervals] : placed(part)) {
        all[channel].insert(all[channel].end(), intervals.begin(), intervals.end());
        keys.insert(channel);
        instances[channel.channel].insert(channel);
      }
      for (const auto& [channel, of_channel] : instances) used_of_channel[channel].push_back(of_channel);
    }
    std::vector<Placed> groups;
    for (const std::set<models::ChannelInstance>& group : apart(used)) {
      Placed& together = groups.emplace_back();
      for (const auto& [channel, sets] : used_of_channel) {
        std::vector<Placed> alike;
        for (const std::set<models::ChannelInstance>& instances : apart(sets)) {
          if (!group.contains(*instances.begin())) continue;
          Placed& one = alike.emplace_back();
          for (const models::ChannelInstance& instance : instances) one[instance] = all.at(instance);
        }
        together.merge(dearest_of(alike));
      }
    }
    return dearest_of(groups);
  }

  Placed dearest_of(std::vector<Placed>& groups) {
    Placed best;
    double best_s = -1.0;
    for (Placed& group : groups) {
      const double group_s = seconds(group);
      if (best_s >= 0.0 && std::abs(group_s - best_s) <= 1e-9 * best_s) has_ties_ = true;
      if (group_s > best_s) {
        best_s = group_s;
        best = std::move(group);
      }
    }
    return best;
  }

  const models::TauLop* model_;
  double bytes_per_unit_;
  bool has_ties_ = false;
};

}  // namespace steelyard::tests
