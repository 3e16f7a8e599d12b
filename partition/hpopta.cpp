#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/time_table.hpp"

namespace steelyard::partition {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// One run of the algorithm; names follow the paper: c is the level, that is the processing unit.
class Search {
 public:
  Search(std::int64_t total, TimeTables tables, std::int64_t most_nodes)
      : tables_(tables), levels_(tables.size()), total_(total), most_nodes_(most_nodes), divisor_(total) {
    for (const TimeTable& table : tables) {
      std::vector<TimeTable::Entry>& choices = by_time_.emplace_back(table.entries);
      choices.insert(choices.begin(), TimeTable::Entry{});
      // Ties in order of size, as in figure 5.
      std::ranges::stable_sort(choices, {}, &TimeTable::Entry::time_s);
      std::vector<std::int64_t>& largest = largest_.emplace_back();
      for (const TimeTable::Entry& choice : choices) {
        largest.push_back(std::max(largest.empty() ? 0 : largest.back(), choice.units));
        divisor_ = std::gcd(divisor_, choice.units);
      }
    }
  }

  HpoptaResult run() {
    start_with_load_equal();
    if (levels_ > 2) {
      memory_.resize((levels_ - 2) * static_cast<std::size_t>(total_ / std::max<std::int64_t>(divisor_, 1) + 1));
    }
    current_.assign(levels_, 0);
    index_.assign(levels_, 0);
    if (total_ > 0) kernel(total_, 0);
    result_.complete = !out_of_nodes_;
    if (best_.empty()) {
      if (out_of_nodes_) {
        throw RuntimeFailure(fmt::format("HPOPTA found no split of {} in {} nodes", total_, result_.nodes));
      }
      throw no_split(total_, tables_);
    }
    result_.distribution = predict(best_, tables_);
    return std::move(result_);
  }

 private:
  static constexpr int nowhere = -1;

  /// Memory about a node: how the workload is shared by processing units c, …, p - 1.
  struct Memory {
    std::size_t last_examined = 0;  ///< place of what processing unit c gets among its choices
    double time_s = 0.0;            ///< parallel time
    bool is_final = false;          ///< nothing faster is left to be found
    bool holds_solution = false;
  };

  /// Algorithm 1, lines 3-6.
  void start_with_load_equal() {
    const std::vector<std::int64_t> equal = even_slices(total_, levels_);
    tau_ = predict(equal, tables_).makespan_s();
    if (tau_ < infinity) best_ = equal;
    update_size_thresholds();
  }

  /// Level of the longest time, of several the nearest to the root.
  std::size_t slowest_level(const std::vector<std::int64_t>& units) const {
    std::size_t slowest = 0;
    double longest_s = 0.0;
    for (std::size_t c = 0; c < levels_; ++c) {
      const double time_s = tables_[c].time_s(units[c]);
      if (time_s > longest_s) slowest = c;
      longest_s = std::max(longest_s, time_s);
    }
    return slowest;
  }

  /// sigma_c: the most that processing units c, …, p - 1 can do in less than tau.
  void update_size_thresholds() {
    sigma_.resize(levels_);
    std::int64_t sum = 0;
    for (std::size_t c = levels_; c-- > 0;) {
      const auto& choices = by_time_[c];
      const auto end = std::ranges::lower_bound(choices, tau_, {}, &TimeTable::Entry::time_s);
      const std::int64_t most =
          end == choices.begin() ? 0 : largest_[c][static_cast<std::size_t>(end - choices.begin() - 1)];
      // Saturates: beyond any workload the exact threshold no longer matters to Cut.
      sum += std::min(most, std::numeric_limits<std::int64_t>::max() - sum);
      sigma_[c] = sum;
    }
  }

  bool is_remembered(std::size_t c) const { return c >= 1 && c + 2 <= levels_; }

  Memory& cell(std::size_t c, std::int64_t workload) {
    const auto row = static_cast<std::size_t>(total_ / divisor_ + 1);
    return memory_[(c - 1) * row + static_cast<std::size_t>(workload / divisor_)];
  }

  /// Fills levels c, …, p - 1 of the current distribution from memory.
  void recall(std::int64_t workload, std::size_t c) {
    for (; c < levels_; ++c) {
      // The last level takes what is left; all levels after a finished workload nothing.
      index_[c] = is_remembered(c) && workload > 0 ? cell(c, workload).last_examined : 0;
      current_[c] = is_remembered(c) ? by_time_[c][index_[c]].units : workload;
      workload -= current_[c];
    }
  }

  /// Function ProcessSolution: the current distribution is faster than tau. Levels from `from_memory` on are saved
  /// already.
  void process_solution(std::size_t from_memory) {
    const std::size_t slowest = slowest_level(current_);
    const double longest_s = tables_[slowest].time_s(current_[slowest]);
    backtrack_to_ = static_cast<int>(slowest);
    if (!(longest_s < tau_)) return;
    tau_ = longest_s;
    best_ = current_;
    update_size_thresholds();
    save(from_memory);
  }

  /// Operation Save.
  void save(std::size_t from_memory) {
    std::int64_t workload = 0;
    double longest_s = 0.0;
    for (std::size_t c = levels_; c-- > 1;) {
      workload += current_[c];
      longest_s = std::max(longest_s, tables_[c].time_s(current_[c]));
      if (c < from_memory && is_remembered(c) && workload > 0) cell(c, workload) = {index_[c], longest_s, false, true};
    }
  }

  /// Operation Backtrack: whether level c is to be left after what was found below it.
  bool backtrack(std::int64_t workload, std::size_t c) {
    if (backtrack_to_ == nowhere) return false;
    const int target = backtrack_to_;
    if (target > static_cast<int>(c)) {
      backtrack_to_ = nowhere;  // a level below was the slowest and has been left
      return false;
    }
    if (target == static_cast<int>(c)) {
      // Later entries of this level take no less time than the one that is the slowest now.
      finalise(workload, c);
      backtrack_to_ = nowhere;
    }
    return true;
  }

  void finalise(std::int64_t workload, std::size_t c) {
    if (is_remembered(c)) cell(c, workload).is_final = true;
  }

  /// Operation ReadMemory with what algorithm 2 does on its answer (lines 13-27). Returns false when the node is done,
  /// else `index` is where its examination begins.
  bool read_memory(std::int64_t workload, std::size_t c, std::size_t& index) {
    const Memory memory = cell(c, workload);
    const bool is_usable = memory.holds_solution && memory.time_s < tau_;
    if (is_usable) {
      recall(workload, c);
      process_solution(c);
    }
    if (memory.is_final || (is_usable && backtrack(workload, c))) return false;
    if (memory.holds_solution) index = memory.last_examined;
    return true;
  }

  /// Algorithm 2.
  void kernel(std::int64_t workload, std::size_t c) {
    if (most_nodes_ > 0 && result_.nodes >= most_nodes_) {
      out_of_nodes_ = true;
      return;
    }
    ++result_.nodes;
    if (workload > sigma_[c]) return;  // operation Cut
    if (c + 1 == levels_) {
      if (tables_[c].time_s(workload) < tau_) {
        current_[c] = workload;
        process_solution(levels_);
      }
      return;
    }
    std::size_t index = 0;
    if (is_remembered(c) && !read_memory(workload, c, index)) return;
    const auto& choices = by_time_[c];
    for (; index < choices.size() && choices[index].time_s < tau_; ++index) {
      const std::int64_t units = choices[index].units;
      current_[c] = units;
      index_[c] = index;
      if (units == workload) {
        std::fill(current_.begin() + static_cast<std::ptrdiff_t>(c) + 1, current_.end(), 0);
        process_solution(levels_);
      } else if (units < workload) {
        kernel(workload - units, c + 1);
        if (out_of_nodes_) return;
      }
      if (backtrack(workload, c)) return;
    }
    finalise(workload, c);
  }

  TimeTables tables_;
  std::size_t levels_;
  std::int64_t total_;
  std::int64_t most_nodes_;
  std::int64_t divisor_;
  bool out_of_nodes_ = false;
  std::vector<std::vector<TimeTable::Entry>> by_time_;  ///< choices of each level, nothing among them
  /// Largest size up to each choice, so that a new tau costs a binary search and not a scan.
  std::vector<std::vector<std::int64_t>> largest_;
  double tau_ = infinity;
  std::vector<std::int64_t> sigma_;
  std::vector<Memory> memory_;
  std::vector<std::int64_t> current_;
  std::vector<std::size_t> index_;
  std::vector<std::int64_t> best_;
  int backtrack_to_ = nowhere;
  HpoptaResult result_;
};

}  // namespace

HpoptaResult hpopta(std::int64_t total, TimeTables tables, std::int64_t most_nodes) {
  require_feasible(total, tables);
  return Search(total, tables, most_nodes).run();
}

}  // namespace steelyard::partition
