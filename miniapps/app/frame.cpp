#include "miniapps/app/frame.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <semaphore.h>
#include <sys/resource.h>

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "comm/measurement/calibration.hpp"
#include "comm/mpi_check.hpp"
#include "comm/unit_exchange.hpp"
#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/memory/unit_memory.hpp"
#include "core/spaces.hpp"
#include "core/timing.hpp"
#include "partition/algorithms.hpp"

namespace steelyard {
namespace {

CalibrationDepth depth_for(const MessageFacts& message) {
  constexpr double least = 1 << 16, most = 1 << 24;
  CalibrationDepth depth;
  depth.largest_bytes =
      static_cast<int>(std::exp2(std::ceil(std::log2(std::clamp(message.largest_bytes, least, most)))));
  // Some sizes more, or no model can tell latency from bandwidth.
  const double smallest = std::clamp(message.smallest_bytes, 8.0, static_cast<double>(depth.largest_bytes) / 64.0);
  depth.smallest_bytes = static_cast<int>(std::exp2(std::floor(std::log2(smallest))));
  depth.time_s = 0.003;
  // More than today's caches hold for a core.
  constexpr double most_footprint = 1 << 26;
  depth.footprint_bytes = static_cast<std::size_t>(std::min(message.footprint_bytes, most_footprint));
  return depth;
}

/// @throws CollectiveError where no or only some channels can be measured, which would predict only some messages, and
/// where noise of the short measurement looks like nothing that a channel does
models::Platform measure_channels(const Session& session, const MessageFacts& message) {
  const std::vector<NodeFacts> facts = gather_node_facts(session);
  CalibrationPlan plan;
  collectively(session.comm(), [&] {
    plan = plan_calibration(session.nodes(), facts);
    if (!plan.refused.empty()) throw InvalidArgument(fmt::format("{}", fmt::join(plan.refused, "; ")));
  });
  ChannelMeasurement measurement(session.comm(), plan.channels, depth_for(message));
  for (int round = 0; round < 3; ++round) measurement.round();
  const std::vector<MeasuredChannel> measured = measurement.result();
  models::Platform platform;
  collectively(session.comm(), [&] {
    for (std::size_t i = 0; i < measured.size(); ++i) add_channel(platform, plan.channels[i], measured[i].times);
  });
  return platform;
}

}  // namespace

double timed_region(const Session& session, const std::string& name, const std::function<void()>& work) {
  STEELYARD_MPI(MPI_Barrier(session.comm()));
  const double start_s = now_s();
  {
    const Kokkos::Profiling::ScopedRegion region(name);
    work();
  }
  return all_max(session.comm(), now_s() - start_s);
}

Frame::Frame(const Session& session, const RunOptions& options, const RankUnits& units, const std::string& app)
    : Resources(options),
      session_(session),
      units_(units),
      co_execution_(session.machine(), units),
      record_(describe_run(session, app, options, units)) {
  node_of_rank_ = session.nodes().node_of_rank;
  hosts_ = session.nodes().hosts;
  slots_ = gather_slots(session, units);
  for (const UnitRecord& unit : record_.units) slowdowns_.push_back(unit.slowdown);
  if (options.check == CheckLevel::none) record_.check.against = "--check none";
  if (!options.platform.empty()) collectively([&] { platform_ = models::read_platform_file(options.platform); });
}

double Frame::trial_s(const MeasurableKernel& kernel, const std::vector<std::int64_t>& units) {
  const Precision precision{.repetitions_min = 2, .repetitions_max = 5, .warmups = 0, .time_limit_s = 0.3};
  const GroupPoint point = KernelMeasurement(comm(), co_execution_, kernel, precision).together(own_share(units));
  return max(std::max(point.host.time_s, point.companion.time_s));
}

Plan Frame::even_plan(std::int64_t total) const {
  Plan plan;
  plan.distribution = partition::even_slices(total, slots().size());
  plan.unit_s.assign(slots().size(), 0.0);
  return plan;
}

StepBalancer Frame::balancer(const std::vector<std::int64_t>& units, partition::LoadBalancerOptions options) const {
  const partition::Algorithm algorithm = this->algorithm(is_dynamic() ? "geometric" : partition());
  options.start = units;
  const std::int64_t total = std::accumulate(units.begin(), units.end(), std::int64_t{0});
  return {*this, partition::LoadBalancer(total, units.size(), algorithm, std::move(options))};
}

std::optional<Channels> Frame::channels(const MessageFacts& message) {
  models::Platform platform = platform_;
  if (!options().platform.empty()) {
    if (!platform.note.empty()) doubt(platform.note);
  } else if (ranks() == 1) {
    return Channels{{}, models::Placement({}, {0}, {})};
  } else {
    const double start_s = now_s();
    try {
      platform = measure_channels(session_, message);
    } catch (const CollectiveError& error) {
      note(fmt::format("note: communication is not predicted: {}\n", error.what()));
      return std::nullopt;
    }
    record_.figures["channel_time_s"] = max(now_s() - start_s);
    note(fmt::format("channels measured in {}\n", format_seconds(record_.figures["channel_time_s"])));
  }
  channel_error_ = platform.error();
  std::vector<std::string> kinds;
  for (const NodeFacts& node : gather_node_facts(session_)) kinds.push_back(node.kind);
  std::optional<models::Placement> placement;
  collectively([&] { placement.emplace(platform, node_of_rank_, kinds); });
  return Channels{std::move(platform), *std::move(placement)};
}

double Frame::memory_bytes_per_s(const std::vector<std::int64_t>& slot_bytes) {
  if (!options().platform.empty()) return channels({})->platform.memory_bytes_per_s() * session_.nodes().count();
  return MemoryBound(*this, slot_bytes).measure();
}

double Frame::start_s() {
  if (!options().models.empty()) return 0.0;
  constexpr int batches = 20, per_batch = 50;
  const CoExecution::Work nothing = [] {};
  std::vector<double> seconds;
  for (int batch = 0; batch < batches; ++batch) {
    const double start_s = now_s();
    for (int i = 0; i < per_batch; ++i) co_execution_.run(nothing, nothing);
    seconds.push_back((now_s() - start_s) / per_batch);
  }
  return max(median(seconds));
}

UnitSizes Frame::own_share(std::span<const std::int64_t> units) const {
  UnitSizes share;
  for (std::size_t i = 0; i < slots().size(); ++i) {
    if (slots()[i].rank == session_.rank()) share[slots()[i].kind] = units[i];
  }
  return share;
}

std::vector<double> Frame::gather_seconds(const UnitSeconds& own) const {
  const std::vector<double> all = all_gather(comm(), {own.host_s, own.companion_s});
  std::vector<double> seconds;
  for (const Slot& slot : slots()) {
    seconds.push_back(all[2 * static_cast<std::size_t>(slot.rank) + unit_index(slot.kind)]);
  }
  return seconds;
}

bool Frame::is_interrupted() const { return max(Interruption::happened() ? 1.0 : 0.0) > 0.0; }

bool Frame::checkpoint(std::int64_t steps, std::int64_t before, const std::function<void()>& writer) {
  if (options().checkpoint.empty()) return true;
  const std::int64_t every = options().checkpoint_every;
  const bool ends = is_interrupted(), is_due = every > 0 && steps / every > before / every;
  if (ends || is_due) write(writer);
  if (ends) session_.print(fmt::format("checkpoint {} after {} steps\n", options().checkpoint.string(), steps));
  return !ends;
}

void Frame::write(const std::function<void()>& writer) {
  try {
    writer();
  } catch (const CollectiveError& error) {
    // One that is written again and again fails again and again.
    if (std::find(failures_.begin(), failures_.end(), error.what()) == failures_.end()) {
      failures_.emplace_back(error.what());
    }
  }
}

void Frame::require_success(const std::string& failure) const {
  std::vector<std::string> all = failures_;
  if (!failure.empty()) all.push_back(failure);
  if (!all.empty()) throw CollectiveError(fmt::format("{}", fmt::join(all, "; ")), ExitCode::failed, 0);
}

void Frame::require_memory(const std::string& what, double bytes) const {
  const double most = rank_memory_bytes(session_.machine(), session_.nodes().ranks_on_node);
  if (bytes <= most) return;
  throw InvalidArgument(fmt::format("{} take {} (expected at most {}, its share of the node's memory)", what,
                                    format_bytes(bytes), format_bytes(most)));
}

bool StepBalancer::record(const UnitSeconds& own_s, double steps_left) {
  std::vector<double> slot_s = frame_.gather_seconds(own_s);
  for (double& seconds : slot_s) seconds = std::max(seconds, 1e-9);
  partition::BalancingDecision decision = partition::BalancingDecision::measuring;
  frame_.collectively([&] { decision = balancer_.record(slot_s, steps_left); });
  return decision == partition::BalancingDecision::repartitioned;
}

void StepBalancer::sum_up(Outcome& outcome, Plan& plan) const {
  outcome.figures["repartitions"] = repartitions();
  plan.distribution = units();
}

std::vector<double> Medians::values() const {
  std::vector<double> medians, column;
  for (std::size_t i = 0; rows_.empty() || i < rows_.front().size(); ++i) {
    column.clear();
    for (const std::vector<double>& row : rows_) column.push_back(row[i]);
    medians.push_back(median(column));
  }
  return medians;
}

MemoryBound::MemoryBound(Frame& frame, const std::vector<std::int64_t>& slot_bytes)
    : frame_(frame),
      bandwidth_(frame.comm(), frame.co_execution(), frame.own_share(slot_bytes).host / 8,
                 frame.own_share(slot_bytes).companion / 8) {}

double MemoryBound::measure() { return bytes_per_s_.emplace_back(bandwidth_.measure_bytes_per_s()); }

double MemoryBound::bytes_per_s() const { return median(bytes_per_s_); }

std::string MemoryBound::sum_up(Outcome& outcome, double share, const std::string& bound) const {
  Machine::Cache last;
  for (const Machine::Cache& cache : frame_.session().machine().caches()) {
    if (cache.level > last.level) last = cache;
  }
  const double cache_bytes = static_cast<double>(last.bytes) * last.count;
  const double node_bytes = bandwidth_.array_bytes() * frame_.session().nodes().ranks_on_node;
  const bool in_memory = frame_.max(companion_is_device || node_bytes > cache_bytes ? 1.0 : 0.0) > 0.0;
  outcome.figures["bound_bytes_per_s"] = bytes_per_s();
  outcome.figures["share_of_bound"] = share;
  return fmt::format("share      {:.0f} % of the {} bound{} ({:.1f} GB/s)\n", 100.0 * share,
                     in_memory ? "memory" : "cache", bound, bytes_per_s() / 1e9);
}

bool Frame::sends_from_device(double bytes) const {
  return mpi_takes_device_memory() && platform_.is_faster_direct(bytes).value_or(true);
}

void Frame::doubt(const std::string& why) {
  if (std::ranges::find(record_.notes, why) != record_.notes.end()) return;
  record_.notes.push_back(why);
  note(fmt::format("note: {}\n", why));
}

OtherWork::OtherWork(const Session& session) : session_(session), start_(now()) {}

OtherWork::Seconds OtherWork::now() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {busy_core_seconds(), seconds(usage.ru_utime) + seconds(usage.ru_stime), now_s()};
}

double OtherWork::cores() const {
  const Seconds end = now();
  const std::vector<double> own = all_gather(session_.comm(), {end.own - start_.own});
  const std::vector<int>& node = session_.nodes().node_of_rank;
  double others = end.all - start_.all;
  for (std::size_t rank = 0; rank < own.size(); ++rank) {
    if (node[rank] == node[static_cast<std::size_t>(session_.rank())]) others -= own[rank];
  }
  return all_max(session_.comm(), std::max(0.0, others / (end.clock - start_.clock)));
}

std::string OtherWork::doubt(double cores) const {
  const auto all = static_cast<double>(session_.machine().cores().size());
  if (!(cores >= std::max(0.25, 0.05 * all))) return "";
  return fmt::format("{:.1f} of {:.0f} cores were busy with other work; times mean little", cores, all);
}

namespace {

constexpr std::array signals{SIGINT, SIGTERM};
std::array<struct sigaction, signals.size()> handlers_before;  ///< what they did

std::atomic<int> caught{0};  ///< the signal; 0 until then
static_assert(std::atomic<int>::is_always_lock_free);
sem_t wake;  ///< of the thread that waits for the signal, or for the end of the program's work

/// All that a signal handler may do.
void take_signal(int signal) {
  caught = signal;
  sem_post(&wake);
}

}  // namespace

Interruption::Interruption(std::function<void()> leave, std::function<void()> save)
    : leave_(std::move(leave)), save_(std::move(save)), start_s_(now_s()), next_save_s_(start_s_ + 1.0) {
  caught = 0;
  sem_init(&wake, 0, 0);
  struct sigaction action = {};
  action.sa_handler = take_signal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], &action, &handlers_before[i]);
    // As shells start what runs in the background.
    if (handlers_before[i].sa_handler == SIG_IGN) sigaction(signals[i], &handlers_before[i], nullptr);
  }
  watch_ = std::thread([this] { wait(); });
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &handlers_before[i], nullptr);
  sem_post(&wake);
  watch_.join();
  sem_destroy(&wake);
}

void Interruption::wait() {
  while (sem_wait(&wake) != 0) {
  }
  if (caught == 0 || !leave_) return;
  const std::scoped_lock lock(leaving_);
  try {
    leave_();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(exit_code()));
}

void Interruption::update(const std::function<void()>& change) {
  const std::scoped_lock lock(leaving_);
  change();
  const double now = now_s();
  if (!save_ || now < next_save_s_) return;
  try {
    save_();
  } catch (const Error&) {
    // The next time, or at the end.
  }
  next_save_s_ = now_s() + std::max(std::min(10.0, now - start_s_), 20.0 * (now_s() - now));
}

bool Interruption::happened() { return caught != 0; }

ExitCode Interruption::exit_code() { return caught == SIGTERM ? ExitCode::terminated : ExitCode::interrupted; }

}  // namespace steelyard
