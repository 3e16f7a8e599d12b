#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "models/communication/tau_lop/tau_lop.hpp"
#include "tests/models/random_expressions.hpp"

namespace steelyard::tests {

/// Equal but for the order of the terms and rounding: terms smaller than `tolerance` of the largest do not count.
inline bool similar(models::ReducedForm a, models::ReducedForm b, double tolerance = 1e-9) {
  double largest = 0.0;
  for (const models::Term& term : a) largest = std::max(largest, term.size);
  for (models::ReducedForm* form : {&a, &b}) {
    std::erase_if(*form, [&](const models::Term& term) { return term.size <= tolerance * largest; });
    std::ranges::sort(*form, {},
                      [](const models::Term& term) { return std::tuple(term.channel, term.multiplicity, term.size); });
  }
  return std::ranges::equal(a, b, [&](const models::Term& left, const models::Term& right) {
    return left.channel == right.channel && left.multiplicity == right.multiplicity &&
           std::abs(left.size - right.size) <= tolerance * std::max(left.size, right.size) + 1e-13 * largest;
  });
}

/// The channel with the highest multiplicity first, then the lower number; inside a channel by falling multiplicity.
inline bool ordered_as_in_the_paper(const models::ReducedForm& form) {
  std::map<models::ChannelInstance, std::int64_t> highest;
  for (const models::Term& term : form) {
    highest[term.channel] = std::max(highest[term.channel], term.multiplicity);
  }
  return std::ranges::is_sorted(form, [&](const models::Term& left, const models::Term& right) {
    return std::tuple(-highest[left.channel], left.channel, -left.multiplicity) <
           std::tuple(-highest[right.channel], right.channel, -right.multiplicity);
  });
}

/// The same expression with neighbours of a sequence that go through one channel merged by A1, where both are of at
/// least the size `merge_from`. What stands between them in writing only is left out: parentheses, empty messages, n
/// times the same instead of n ||.
inline models::Expression merged_neighbours(models::Expression expression, double merge_from = 0.0) {
  using enum models::Expression::Kind;
  if (expression.kind == transmission) return expression.size > 0.0 ? expression : models::Expression{};
  std::vector<models::Expression> parts;
  const auto add = [&](models::Expression part) {
    if (expression.kind == sequence && !parts.empty() && part.kind == transmission &&
        parts.back().kind == transmission && part.channel == parts.back().channel &&
        part.multiplicity == parts.back().multiplicity && part.size >= merge_from && parts.back().size >= merge_from) {
      parts.back().size += part.size;
      return;
    }
    for (models::Expression& known : parts) {
      if (expression.kind != concurrent) break;
      const auto copies = std::exchange(part.multiplicity, known.multiplicity);
      if (to_string(part) == to_string(known)) {
        known.multiplicity += copies;
        return;
      }
      part.multiplicity = copies;
    }
    parts.push_back(std::move(part));
  };
  for (models::Expression& part : expression.parts) {
    models::Expression merged = merged_neighbours(std::move(part), merge_from);
    const bool one_by_one = merged.kind == expression.kind && (merged.kind == concurrent || merged.multiplicity == 1);
    if (merged.kind != transmission && merged.parts.empty()) continue;
    if (!one_by_one) {
      add(std::move(merged));
      continue;
    }
    for (models::Expression& inner : merged.parts) {
      inner.multiplicity *= merged.multiplicity;
      add(std::move(inner));
    }
  }
  if (parts.size() == 1) {
    parts.front().multiplicity *= expression.multiplicity;
    return std::move(parts.front());
  }
  expression.parts = std::move(parts);
  return expression;
}

/// What aligned_form() does, every transmission on its own: each one takes an interval of its channel, a sequence puts
/// intervals behind each other and concurrent parts put them over each other. Where k intervals overlap on a length m,
/// there is k || T^c(m), terms of one k brought together.
class NaiveAlignedEvaluation {
 public:
  NaiveAlignedEvaluation(const models::TauLop& model, double bytes_per_unit = 1.0)
      : model_(&model), bytes_per_unit_(bytes_per_unit) {}

  models::ReducedForm form(const models::Expression& expression) {
    return terms(placed(merged_neighbours(expression)));
  }

  /// Parts that share no channel cost the same, and each of them is right.
  bool has_ties() const { return has_ties_; }

 private:
  using Interval = std::pair<double, double>;
  using Placed = std::map<models::ChannelInstance, std::vector<Interval>>;
  using Keys = std::set<models::ChannelInstance>;
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
    if (expression.kind == Kind::concurrent) {
      std::vector<Placed> parts;
      for (models::Expression part : expression.parts) {
        part.multiplicity *= expression.multiplicity;
        parts.push_back(placed(part));
      }
      return dearest(parts);
    }
    if (expression.kind == Kind::transmission) result[expression.channel].push_back({0.0, expression.size});
    for (const models::Expression& part : expression.parts) {
      for (const auto& [channel, intervals] : placed(part)) {
        auto& all = result[channel];
        const double from = length(all);
        for (const auto& [begin, end] : intervals) all.push_back({from + begin, from + end});
      }
    }
    for (auto& [channel, intervals] : result) {
      const std::vector<Interval> one = intervals;
      for (auto copy = expression.multiplicity; copy > 1; --copy) {
        intervals.insert(intervals.end(), one.begin(), one.end());
      }
    }
    return result;
  }

  /// Sets that have something in common, directly or through others, as one.
  static std::vector<Keys> apart(const std::vector<Keys>& sets) {
    std::vector<Keys> groups;
    for (Keys group : sets) {
      std::vector<Keys> others;
      for (const Keys& other : groups) {
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

  Placed dearest(const std::vector<Placed>& parts) {
    Placed all;
    std::vector<Keys> used;
    std::map<int, std::vector<Keys>> used_of_channel;
    for (const Placed& part : parts) {
      std::map<int, Keys> instances;
      Keys& keys = used.emplace_back();
      for (const auto& [channel, intervals] : part) {
        all[channel].insert(all[channel].end(), intervals.begin(), intervals.end());
        keys.insert(channel);
        instances[channel.channel].insert(channel);
      }
      for (const auto& [channel, of_channel] : instances) used_of_channel[channel].push_back(of_channel);
    }
    std::vector<Placed> groups;
    for (const Keys& group : apart(used)) {
      Placed& together = groups.emplace_back();
      for (const auto& [channel, sets] : used_of_channel) {
        std::vector<Placed> alike;
        for (const Keys& instances : apart(sets)) {
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

/// What event_form() does, every transmission on its own.
class NaiveEventEvaluation {
 public:
  NaiveEventEvaluation(const models::Expression& expression, const models::TauLop& model,
                       models::Evaluation evaluation = {})
      : root_(node_of(expanded(merged_neighbours(expression, evaluation.merge_from)))),
        model_(&model),
        evaluation_(evaluation) {
    begin_stages(nobody);
    while (!lines_.empty()) step();
    follow_back();
  }

  /// The chain, terms of one channel and multiplicity brought together.
  const models::ReducedForm& form() const { return form_; }
  double end_s() const { return now_s_; }
  /// Stages of two channels ended at about the same time, and either of two chains is right.
  bool has_ties() const { return has_ties_; }

 private:
  static constexpr int nobody = -1;
  static constexpr double same = 1e-12, near = 1e-9;
  using Kind = models::Expression::Kind;
  struct Node {
    Kind kind;
    models::ChannelInstance channel;
    double size, left;
    std::vector<Node> parts;
  };
  struct Stage {
    models::Term term;
    int before;
  };
  /// What a channel is doing.
  struct Line {
    std::vector<Node*> flows;
    double begin_s = 0.0, duration_s = 0.0, least = 0.0;
    int stage = nobody;  ///< the last one that ended
    double end_s() const { return begin_s + duration_s; }
  };
  using Active = std::map<models::ChannelInstance, std::vector<Node*>>;

  static Node node_of(const models::Expression& expression) {
    Node node{expression.kind, expression.channel, expression.size, expression.size, {}};
    for (const models::Expression& part : expression.parts) node.parts.push_back(node_of(part));
    return node;
  }

  static bool is_through(const Node& node) {
    return node.kind == Kind::transmission ? node.left <= 0.0 : std::ranges::all_of(node.parts, is_through);
  }

  static void find_active(Node& node, Active& active) {
    if (node.kind == Kind::transmission) active[node.channel].push_back(&node);
    for (Node& part : node.parts) {
      if (is_through(part)) continue;
      find_active(part, active);
      if (node.kind == Kind::sequence) return;
    }
  }

  void end_stage(models::ChannelInstance channel, Line& line, double done) {
    for (Node* flow : line.flows) flow->left -= done;
    stages_.push_back({{static_cast<std::int64_t>(line.flows.size()), channel, done}, line.stage});
    line.stage = static_cast<int>(stages_.size()) - 1;
  }

  void step() {
    now_s_ = std::numeric_limits<double>::infinity();
    for (const auto& [channel, line] : lines_) now_s_ = std::min(now_s_, line.end_s());
    int ended = nobody;
    for (auto& [channel, line] : lines_) {
      const double later_s = line.end_s() - now_s_;
      if (later_s <= near * now_s_ && ended != nobody) has_ties_ = true;
      if (later_s > same * now_s_) {
        has_ties_ = has_ties_ || later_s <= near * now_s_;
        continue;
      }
      end_stage(channel, line, line.least);
      for (Node* flow : line.flows) flow->left = flow->left <= same * flow->size ? 0.0 : flow->left;
      line.flows.clear();
      ended = line.stage;
    }
    begin_stages(ended);
  }

  /// Ends stages that others join, and begins those of all channels where anything changes.
  void begin_stages(int released_by) {
    Active active;
    if (!is_through(root_)) find_active(root_, active);
    std::erase_if(lines_, [&](const auto& entry) { return !active.contains(entry.first); });
    for (auto& [channel, flows] : active) {
      const bool was_idle = !lines_.contains(channel);
      Line& line = lines_[channel];
      if (line.flows == flows) continue;
      if (was_idle) line.stage = released_by;
      if (!line.flows.empty()) end_stage(channel, line, (now_s_ - line.begin_s) / line.duration_s * line.least);
      line.flows = std::move(flows);
      line.least = (*std::ranges::min_element(line.flows, {}, &Node::left))->left;
      line.begin_s = now_s_;
      line.duration_s = model_->transmission_s(channel.channel, line.least * evaluation_.bytes_per_unit,
                                               static_cast<std::int64_t>(line.flows.size()));
    }
  }

  void follow_back() {
    std::map<std::pair<models::ChannelInstance, std::int64_t>, double> sizes;
    for (int at = static_cast<int>(stages_.size()) - 1; at != nobody;) {
      const Stage& stage = stages_[static_cast<std::size_t>(at)];
      if (stage.term.size >= evaluation_.merge_from) {
        sizes[{stage.term.channel, stage.term.multiplicity}] += stage.term.size;
      } else {
        form_.push_back(stage.term);
      }
      at = stage.before;
    }
    for (const auto& [key, size] : sizes) form_.push_back({key.second, key.first, size});
  }

  Node root_;
  const models::TauLop* model_;
  models::Evaluation evaluation_;
  double now_s_ = 0.0;
  bool has_ties_ = false;
  std::map<models::ChannelInstance, Line> lines_;
  std::vector<Stage> stages_;
  models::ReducedForm form_;
};

}  // namespace steelyard::tests
