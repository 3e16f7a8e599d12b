#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "models/communication/tau_lop/tau_lop.hpp"

namespace steelyard::models {
namespace {

/// A number of transmissions at once for a stretch of their size.
struct Stretch {
  std::int64_t concurrency = 1;
  double size = 0.0;
};

/// Stretches that each channel carries, one after the other.
using Profile = std::map<ChannelInstance, std::vector<Stretch>>;

/// Ends of transmissions that are as close as this, relative to the longest, are one.
constexpr double same_end = 1e-12;

/// Transmissions that start together and end one after the other (A2): where one ends, a stretch ends.
class Overlay {
 public:
  void add(const std::vector<Stretch>& stretches, std::int64_t multiplicity) {
    double end = 0.0;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      end += stretches[i].size;
      const std::int64_t after = i + 1 < stretches.size() ? stretches[i + 1].concurrency : 0;
      ends_.emplace_back(end, multiplicity * (stretches[i].concurrency - after));
    }
    if (!stretches.empty()) concurrency_ += multiplicity * stretches.front().concurrency;
    if (end == 0.0 && stretches.size() > empty_.size()) empty_ = stretches;
  }

  std::vector<Stretch> stretches() {
    std::ranges::sort(ends_);
    for (Stretch& stretch : empty_) stretch.concurrency = concurrency_;
    std::vector<Stretch> result;
    double position = 0.0;
    for (const auto& [end, leaving] : ends_) {
      if (end - position > same_end * end) {
        result.push_back({concurrency_, end - position});
        position = end;
      }
      concurrency_ -= leaving;
    }
    return result.empty() ? empty_ : result;
  }

 private:
  std::int64_t concurrency_ = 0;
  std::vector<std::pair<double, std::int64_t>> ends_;
  std::vector<Stretch> empty_;  ///< those of most empty transmissions in sequence
};

/// Which channel instances belong together.
class Groups {
 public:
  void join(const ChannelInstance& a, const ChannelInstance& b) {
    const ChannelInstance one = first(a), other = first(b);
    leader_[std::max(one, other)] = std::min(one, other);
  }
  /// The smallest instance of the group.
  ChannelInstance first(const ChannelInstance& instance) {
    ChannelInstance least = instance;
    while (leader_.emplace(least, least).first->second != least) least = leader_.at(least);
    // Next time the way is shorter.
    for (ChannelInstance step = instance; step != least;) step = std::exchange(leader_.at(step), least);
    return least;
  }

 private:
  std::map<ChannelInstance, ChannelInstance> leader_;
};

class Aligned {
 public:
  Aligned(const NormalizedExpression& expression, const TauLop& model, const Evaluation& evaluation)
      : expression_(expression), model_(model), evaluation_(evaluation), profiles_(expression.nodes.size()) {}

  ReducedForm form() {
    if (expression_.root.node < 0) return {};
    Profile profile;
    append(profile, expression_.root);
    return collected(terms(profile), evaluation_.merge_from);
  }

 private:
  using Node = NormalizedExpression::Node;
  using Part = NormalizedExpression::Part;

  const Profile& profile(int index) {
    std::optional<Profile>& profile = profiles_[static_cast<std::size_t>(index)];
    if (!profile) profile = make_profile(expression_.nodes[static_cast<std::size_t>(index)]);
    return *profile;
  }

  Profile make_profile(const Node& node) {
    if (node.kind == Expression::Kind::transmission) return {{node.channel, {{1, node.size}}}};
    if (node.kind == Expression::Kind::concurrent) return concurrent(node);
    Profile result;
    for (const Part& part : node.parts) append(result, part);
    return result;
  }

  /// Appends a part of a sequence behind what its channels carried before; equal stretches merge (A1).
  void append(Profile& to, const Part& part) {
    for (const auto& [channel, stretches] : profile(part.node)) {
      std::vector<Stretch>& carried = to[channel];
      for (const Stretch& stretch : stretches) {
        const std::int64_t concurrency = part.multiplicity * stretch.concurrency;
        const bool merges = !carried.empty() && carried.back().concurrency == concurrency &&
                            std::min(carried.back().size, stretch.size) >= evaluation_.merge_from;
        if (merges) {
          carried.back().size += stretch.size;
        } else {
          carried.push_back({concurrency, stretch.size});
        }
      }
    }
  }

  Profile concurrent(const Node& node) {
    std::map<ChannelInstance, Profile> groups;
    for (const auto& [first, parts] : sharing(node.parts)) {
      std::map<ChannelInstance, Overlay> overlays;
      Groups users;  // instances of a channel that one part uses one after the other
      for (const Part& part : parts) {
        const ChannelInstance* last = nullptr;
        // A profile is in the order of channels, instance by instance.
        for (const auto& [channel, stretches] : profile(part.node)) {
          overlays[channel].add(stretches, part.multiplicity);
          if (last != nullptr && last->channel == channel.channel) users.join(*last, channel);
          last = &channel;
        }
      }
      std::map<int, std::map<ChannelInstance, Profile>> channels;
      for (auto& [channel, overlay] : overlays) {
        channels[channel.channel][users.first(channel)][channel] = overlay.stretches();
      }
      for (auto& [unused, instances] : channels) groups[first].merge(dearest(instances));
    }
    return dearest(groups);
  }

  /// The parts in groups that have no channel in common (A3), by the first channel of each.
  std::map<ChannelInstance, std::vector<Part>> sharing(const std::vector<Part>& parts) {
    Groups channels;
    for (const Part& part : parts) {
      const Profile& used = profile(part.node);
      for (const auto& [channel, unused] : used) channels.join(used.begin()->first, channel);
    }
    std::map<ChannelInstance, std::vector<Part>> groups;
    for (const Part& part : parts) groups[channels.first(profile(part.node).begin()->first)].push_back(part);
    return groups;
  }

  Profile dearest(std::map<ChannelInstance, Profile>& groups) const {
    Profile* best = &groups.begin()->second;
    if (groups.size() == 1) return std::move(*best);
    double most_s = -1.0;
    for (auto& [unused, group] : groups) {
      const double seconds = cost_s(collected(terms(group), evaluation_.merge_from), model_, evaluation_);
      // Of equal ones the first channel's, whatever the order in which they were written.
      const bool tie = seconds == most_s && group.begin()->first < best->begin()->first;
      if (seconds > most_s || tie) {
        most_s = seconds;
        best = &group;
      }
    }
    return std::move(*best);
  }

  static ReducedForm terms(const Profile& profile) {
    ReducedForm form;
    for (const auto& [channel, stretches] : profile) {
      for (const Stretch& stretch : stretches) form.push_back({stretch.concurrency, channel, stretch.size});
    }
    return form;
  }

  const NormalizedExpression& expression_;
  const TauLop& model_;
  const Evaluation& evaluation_;
  std::vector<std::optional<Profile>> profiles_;
};

}  // namespace

ReducedForm aligned_form(const Expression& expression, const TauLop& model, const Evaluation& evaluation) {
  const NormalizedExpression normal = normalized(expression, evaluation.merge_from);
  return Aligned(normal, model, evaluation).form();
}

}  // namespace steelyard::models
