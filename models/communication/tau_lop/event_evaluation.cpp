#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "models/communication/tau_lop/tau_lop.hpp"

namespace steelyard::models {
namespace {

/// Times and sizes that differ by less, relatively, are equal.
constexpr double rounding = 1e-12;

/// A part of the expression that has started.
struct Activity {
  NormalizedExpression::Part part;  ///< with the multiplicity of all that it is in
  int parent = -1;
  std::size_t next = 0;     ///< of a sequence: the part that starts next
  std::size_t waiting = 0;  ///< of a concurrent node: parts under way
};

/// Carrier of transmissions: an instance of a channel, or nothing shared where they are empty.
struct Carrier {
  ChannelInstance channel;
  int empty = -1;  ///< activity that is an empty transmission
  bool operator<(const Carrier& other) const { return std::tie(channel, empty) < std::tie(other.channel, other.empty); }
};

/// k || T^c(m) of a channel, in time.
struct Stage {
  Term term;
  int before = -1;  ///< the stage in the chain that it follows
  bool is_empty = false;
};

/// A carrier and what is on it. All its transmissions progress at the same rate.
struct Line {
  double progress = 0.0;    ///< size that each transmission would have moved since the carrier was last idle
  std::int64_t active = 0;  ///< transmissions under way
  /// Progress at which a transmission is through, and its activity.
  std::priority_queue<std::pair<double, int>, std::vector<std::pair<double, int>>, std::greater<>> targets;
  bool is_running = false;  ///< a stage is under way
  double start_s = 0.0;
  double end_s = 0.0;
  int stage = -1;           ///< the stage under way or the last one
  double stopped_s = -1.0;  ///< when the last one ended
  int version = 0;          ///< of the stage under way, to tell outdated entries of the agenda
};

class Simulation {
 public:
  Simulation(const NormalizedExpression& expression, const TauLop& model, const Evaluation& evaluation)
      : expression_(expression), model_(model), evaluation_(evaluation) {}

  ReducedForm form() {
    if (expression_.root.node < 0) return {};
    start(expression_.root, -1, -1);
    begin_stages();
    while (!agenda_.empty()) advance();
    ReducedForm chain;
    for (int stage = last_; stage >= 0; stage = stages_[static_cast<std::size_t>(stage)].before) {
      const Stage& done = stages_[static_cast<std::size_t>(stage)];
      // A stage that was cut as it began did nothing.
      if (done.term.size > 0.0 || done.is_empty) chain.push_back(done.term);
    }
    return collected(chain, evaluation_.merge_from);
  }

 private:
  using Node = NormalizedExpression::Node;
  using Part = NormalizedExpression::Part;
  struct Appointment {
    double end_s = 0.0;
    Carrier carrier;
    int version = 0;
    bool operator>(const Appointment& other) const {
      return std::tie(other.end_s, other.carrier, other.version) < std::tie(end_s, carrier, version);
    }
  };
  struct Arrival {
    Carrier carrier;
    int activity = -1;
    int released_by = -1;  ///< stage whose end let it start
  };

  const Node& node(const Activity& activity) const {
    return expression_.nodes[static_cast<std::size_t>(activity.part.node)];
  }

  /// Starts a part, of a sequence the first. `part` has the multiplicity of all that it is in.
  void start(Part part, int parent, int released_by) {
    const int index = static_cast<int>(activities_.size());
    activities_.push_back({part, parent, 0, 0});
    const Node& started = node(activities_.back());
    if (started.kind == Expression::Kind::transmission) {
      arrivals_.push_back({{started.channel, started.size > 0.0 ? -1 : index}, index, released_by});
    } else if (started.kind == Expression::Kind::sequence) {
      start_next(index, released_by);
    } else {
      activities_.back().waiting = started.parts.size();
      for (const Part& inner : started.parts) {
        start({inner.node, part.multiplicity * inner.multiplicity}, index, released_by);
      }
    }
  }

  void start_next(int sequence, int released_by) {
    Activity& activity = activities_[static_cast<std::size_t>(sequence)];
    const Part& next = node(activity).parts[activity.next++];
    start({next.node, activity.part.multiplicity * next.multiplicity}, sequence, released_by);
  }

  /// Ends an activity and what ends with it.
  void finish(int activity, int by_stage) {
    for (int parent = activities_[static_cast<std::size_t>(activity)].parent; parent >= 0;
         parent = activities_[static_cast<std::size_t>(parent)].parent) {
      Activity& container = activities_[static_cast<std::size_t>(parent)];
      if (node(container).kind == Expression::Kind::sequence) {
        if (container.next < node(container).parts.size()) return start_next(parent, by_stage);
      } else if (--container.waiting > 0) {
        return;
      }
    }
    last_ = by_stage;
  }

  /// Goes to the next end of a stage, and on to what starts then.
  void advance() {
    std::vector<std::pair<int, int>> through;
    // What ends together must be over before anything starts, or it would be cut just before its end.
    while (!agenda_.empty() && (through.empty() || agenda_.top().end_s <= now_s_ * (1.0 + rounding))) {
      const Appointment next = agenda_.top();
      agenda_.pop();
      const Line& line = lines_.at(next.carrier);
      if (!line.is_running || line.version != next.version) continue;
      if (through.empty()) now_s_ = next.end_s;
      end_stage(next.carrier, through);
    }
    for (const auto& [activity, stage] : through) finish(activity, stage);
    begin_stages();
  }

  void end_stage(const Carrier& carrier, std::vector<std::pair<int, int>>& through) {
    Line& line = lines_.at(carrier);
    line.progress = line.targets.top().first;
    stop(line);
    while (!line.targets.empty() && line.targets.top().first <= line.progress * (1.0 + rounding)) {
      const int activity = line.targets.top().second;
      line.targets.pop();
      line.active -= activities_[static_cast<std::size_t>(activity)].part.multiplicity;
      through.emplace_back(activity, line.stage);
    }
    if (line.targets.empty()) line.progress = 0.0;
    changed_.push_back(carrier);
  }

  void stop(Line& line) {
    line.is_running = false;
    line.stopped_s = now_s_;
  }

  /// The transmissions under way have come so far as the time that passed allows.
  void cut_stage(Line& line) {
    Stage& stage = stages_[static_cast<std::size_t>(line.stage)];
    const double duration_s = line.end_s - line.start_s;
    if (duration_s > 0.0) stage.term.size *= (now_s_ - line.start_s) / duration_s;
    line.progress += stage.term.size;
    stop(line);
  }

  void begin_stages() {
    std::map<Carrier, int> released_by;
    for (const Arrival& arrival : arrivals_) {
      Line& line = lines_[arrival.carrier];
      if (line.is_running) cut_stage(line);
      const Activity& activity = activities_[static_cast<std::size_t>(arrival.activity)];
      line.targets.emplace(line.progress + node(activity).size, arrival.activity);
      line.active += activity.part.multiplicity;
      released_by.emplace(arrival.carrier, arrival.released_by);
    }
    for (const Carrier& carrier : changed_) released_by.emplace(carrier, -1);
    arrivals_.clear();
    changed_.clear();
    for (const auto& [carrier, releasing_stage] : released_by) {
      if (lines_.at(carrier).active > 0) begin_stage(carrier, releasing_stage);
    }
  }

  void begin_stage(const Carrier& carrier, int released_by) {
    Line& line = lines_.at(carrier);
    const double size = line.targets.top().first - line.progress;
    const bool continues = line.stage >= 0 && line.stopped_s == now_s_;
    stages_.push_back({{line.active, carrier.channel, size}, continues ? line.stage : released_by, carrier.empty >= 0});
    line.stage = static_cast<int>(stages_.size()) - 1;
    line.is_running = true;
    line.start_s = now_s_;
    line.end_s =
        now_s_ + model_.transmission_s(carrier.channel.channel, size * evaluation_.bytes_per_unit, line.active);
    agenda_.push({line.end_s, carrier, ++line.version});
  }

  const NormalizedExpression& expression_;
  const TauLop& model_;
  const Evaluation& evaluation_;
  double now_s_ = 0.0;
  std::vector<Activity> activities_;
  std::vector<Stage> stages_;
  std::map<Carrier, Line> lines_;
  std::priority_queue<Appointment, std::vector<Appointment>, std::greater<>> agenda_;
  std::vector<Arrival> arrivals_;  ///< transmissions that start now
  std::vector<Carrier> changed_;   ///< where a stage ended now
  int last_ = -1;                  ///< stage that ended last
};

}  // namespace

ReducedForm event_form(const Expression& expression, const TauLop& model, const Evaluation& evaluation) {
  return Simulation(normalized(expression, evaluation.merge_from), model, evaluation).form();
}

}  // namespace steelyard::models
