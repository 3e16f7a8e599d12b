#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "models/communication/tau_lop/tau_lop.hpp"
#include "tests/models/fork_join.hpp"
#include "tests/models/merged_neighbours.hpp"

namespace steelyard::tests {

/// What models/communication/tau_lop/event_evaluation.hpp says, word by word, every transmission on its own.
class NaiveEventEvaluation {
 public:
  NaiveEventEvaluation(const models::Expression& expression, const models::TauLop& model,
                       models::Evaluation evaluation = {})
      : order_(merged_neighbours(expression, evaluation.merge_from)), model_(&model), evaluation_(evaluation) {
    join(order_.start());
    while (!lines_.empty()) step();
    follow_back();
  }

  /// The chain, terms of one channel and multiplicity brought together.
  const models::ReducedForm& form() const { return form_; }
  double end_s() const { return now_s_; }
  /// Two things happened at the same time, and either of two chains is right.
  bool has_ties() const { return has_ties_ || order_.has_ties(); }
  /// Two things happened at about the same time, and rounding decides whether one is a stage before the other.
  bool has_near_ties() const { return has_near_ties_; }

 private:
  static constexpr int nobody = ForkJoin::nobody;
  static constexpr double same = 1e-12, near = 1e-8;
  struct Flow {
    std::size_t node;
    double size, left;
  };
  struct Stage {
    models::Term term;
    double end_s;
    int before;
  };
  struct Line {  // what a channel is doing
    std::vector<Flow> flows;
    double begin_s = 0.0, duration_s = 0.0, least = 0.0;
    int before = nobody;
    double end_s() const { return begin_s + duration_s; }
  };
  using Joining = std::map<models::ChannelInstance, std::vector<ForkJoin::Started>>;

  void begin_stage(models::ChannelInstance channel, Line& line) {
    line.least = std::ranges::min_element(line.flows, {}, &Flow::left)->left;
    line.begin_s = now_s_;
    line.duration_s = model_->transmission_s(channel.channel, line.least * evaluation_.bytes_per_unit,
                                             static_cast<std::int64_t>(line.flows.size()));
  }

  void record(models::ChannelInstance channel, Line& line, double done) {
    for (Flow& flow : line.flows) {
      flow.left -= done;
      if (flow.left > same * flow.size && flow.left < near * flow.size) has_near_ties_ = true;
    }
    stages_.push_back({{static_cast<std::int64_t>(line.flows.size()), channel, done}, now_s_, line.before});
    line.before = static_cast<int>(stages_.size()) - 1;
  }

  bool at_now(double time_s) {
    if (time_s != now_s_ && time_s - now_s_ <= near * now_s_) has_near_ties_ = true;
    return time_s - now_s_ <= same * now_s_;
  }

  void step() {
    now_s_ = std::numeric_limits<double>::infinity();
    for (const auto& [channel, line] : lines_) now_s_ = std::min(now_s_, line.end_s());
    std::vector<std::pair<Flow, int>> through;
    std::map<models::ChannelInstance, int> emptied;
    for (auto& [channel, line] : lines_) {
      if (!at_now(line.end_s())) continue;
      record(channel, line, line.least);
      std::erase_if(line.flows, [&, &line = line](const Flow& flow) {
        const bool ends = flow.left <= same * flow.size;
        if (ends) through.emplace_back(flow, line.before);
        return ends;
      });
      if (line.flows.empty()) {
        emptied[channel] = line.before;
      } else {
        begin_stage(channel, line);
      }
    }
    for (const auto& [channel, by] : emptied) lines_.erase(channel);
    std::vector<ForkJoin::Started> started;
    for (const auto& [flow, by] : through) {
      for (const ForkJoin::Started& one : order_.finish(flow.node, now_s_, by)) started.push_back(one);
    }
    for (const ForkJoin::Started& one : started) {
      const auto previous = emptied.find(one.channel);
      if (previous != emptied.end() && previous->second != one.by) has_ties_ = true;
    }
    join(started);
  }

  void join(const std::vector<ForkJoin::Started>& started) {
    Joining joining;
    for (const ForkJoin::Started& one : started) joining[one.channel].push_back(one);
    for (const auto& [channel, flows] : joining) {
      const bool was_idle = !lines_.contains(channel);
      Line& line = lines_[channel];
      if (was_idle) {
        line.before = flows.front().by;
        for (const ForkJoin::Started& one : flows) has_ties_ = has_ties_ || one.by != line.before;
      } else if (line.begin_s < now_s_) {
        record(channel, line, (now_s_ - line.begin_s) / line.duration_s * line.least);
      }
      for (const ForkJoin::Started& one : flows) line.flows.push_back({one.node, one.size, one.size});
      begin_stage(channel, line);
    }
  }

  void follow_back() {
    if (stages_.empty()) return;
    const auto last = std::ranges::max_element(stages_, {}, &Stage::end_s);
    for (auto stage = stages_.begin(); stage != stages_.end(); ++stage) {
      if (stage != last && last->end_s - stage->end_s <= near * last->end_s) has_ties_ = true;
    }
    std::map<std::pair<models::ChannelInstance, std::int64_t>, double> sizes;
    for (int at = static_cast<int>(last - stages_.begin()); at != nobody;) {
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

  ForkJoin order_;
  const models::TauLop* model_;
  models::Evaluation evaluation_;
  double now_s_ = 0.0;
  bool has_ties_ = false, has_near_ties_ = false;
  std::map<models::ChannelInstance, Line> lines_;
  std::vector<Stage> stages_;
  models::ReducedForm form_;
};

}  // namespace steelyard::tests
