#include "models/communication/loggp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"

namespace steelyard::models {

namespace {

/// Bytes that follow the first.
double bytes_behind(double bytes) {
  if (!(bytes >= 0.0)) throw InvalidArgument(fmt::format("message of {} bytes (expected a number >= 0)", bytes));
  return std::max(bytes - 1.0, 0.0);
}

double require_overhead(double overhead_s, const char* which) {
  if (!(overhead_s >= 0.0 && overhead_s < std::numeric_limits<double>::infinity())) {
    throw InvalidArgument(fmt::format("{} overhead of {} s (expected a number >= 0)", which, overhead_s));
  }
  return overhead_s;
}

/// Median time of the smallest size.
MessageTime shortest(std::span<const MessageTime> messages) {
  double bytes = std::numeric_limits<double>::infinity();
  std::vector<double> times_s;
  for (const MessageTime& message : messages) {
    if (!(message.time_s > 0.0 && message.time_s < std::numeric_limits<double>::infinity() && message.bytes >= 0.0)) {
      throw InvalidArgument(fmt::format("message of {} bytes took {} s (expected sizes >= 0 and times > 0)",
                                        message.bytes, message.time_s));
    }
    if (message.bytes > bytes) continue;
    if (message.bytes < bytes) times_s.clear();
    bytes = message.bytes;
    times_s.push_back(message.time_s);
  }
  if (times_s.empty()) throw InvalidArgument("no one-way message time (expected at least one)");
  return {bytes, median(times_s)};
}

}  // namespace

double LogGP::time_s(double bytes) const {
  return send_overhead_s + bytes_behind(bytes) * gap_per_byte_s + latency_s + receive_overhead_s;
}

double LogGP::train_s(std::int64_t messages, double bytes) const {
  if (messages < 0) throw InvalidArgument(fmt::format("train of {} messages (expected a number >= 0)", messages));
  const double period_s = std::max({gap_s + bytes_behind(bytes) * gap_per_byte_s, send_overhead_s, receive_overhead_s});
  return messages == 0 ? 0.0 : time_s(bytes) + static_cast<double>(messages - 1) * period_s;
}

LogGP fit_loggp(const LogGPTimes& times) {
  LogGP model;
  model.send_overhead_s = require_overhead(times.send_overhead_s, "send");
  model.receive_overhead_s = require_overhead(times.receive_overhead_s, "receive");
  const MessageTime message = shortest(times.one_way);
  model.gap_per_byte_s = 1.0 / fit_hockney(times.trains).bandwidth_bytes_per_s;
  const MessageTime train = shortest(times.trains);
  model.gap_s = std::max(0.0, train.time_s - bytes_behind(train.bytes) * model.gap_per_byte_s);
  model.latency_s = std::max(0.0, message.time_s - model.time_s(message.bytes));
  return model;
}

namespace {

constexpr double never_s = std::numeric_limits<double>::infinity();

bool is_time(double time_s) { return time_s >= 0.0 && time_s < never_s; }

std::size_t index(int value, std::size_t count, const char* what) {
  const auto place = static_cast<std::size_t>(value);
  if (value < 0 || place >= count) throw InvalidArgument(fmt::format("{} {} (there are {})", what, value, count));
  return place;
}

/// Returns the link's parameters. @throws InvalidArgument naming the link, for one that is negative or not a number
LogGP require_link(const LogGP& link, int from, int to) {
  if (is_time(link.latency_s) && is_time(link.send_overhead_s) && is_time(link.receive_overhead_s) &&
      is_time(link.gap_s) && is_time(link.gap_per_byte_s)) {
    return link;
  }
  throw InvalidArgument(
      fmt::format("link from {} to {}: L {} s, o_s {} s, o_r {} s, g {} s, G {} s (expected numbers >= 0)", from, to,
                  link.latency_s, link.send_overhead_s, link.receive_overhead_s, link.gap_s, link.gap_per_byte_s));
}

}  // namespace

HLogGP::HLogGP(std::vector<Process> processes, std::vector<Link> links)
    : processes_(std::move(processes)), links_(std::move(links)) {
  const std::size_t count = processes_.size();
  if (count == 0 || links_.size() != count * count) {
    throw InvalidArgument(
        fmt::format("{} processes with {} links (expected P > 0 processes with P x P links)", count, links_.size()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Process& process = processes_[i];
    if (!(is_time(process.send_overhead_s) && is_time(process.receive_overhead_s) && is_time(process.gap_s))) {
      throw InvalidArgument(fmt::format("process {}: o_s {} s, o_r {} s, g {} s (expected numbers >= 0)", i,
                                        process.send_overhead_s, process.receive_overhead_s, process.gap_s));
    }
    for (std::size_t j = 0; j < count; ++j) {
      const Link& link = links_[i * count + j];
      if (i == j || (is_time(link.latency_s) && is_time(link.gap_per_byte_s))) continue;
      throw InvalidArgument(fmt::format("link from {} to {}: L {} s, G {} s (expected numbers >= 0)", i, j,
                                        link.latency_s, link.gap_per_byte_s));
    }
  }
}

HLogGP HLogGP::from_links(int processes, const std::function<LogGP(int from, int to)>& link) {
  if (processes < 1) throw InvalidArgument(fmt::format("{} processes (expected >= 1)", processes));
  const auto count = static_cast<std::size_t>(processes);
  std::vector<LogGP> given(count * count);
  std::vector<Process> ends(count, processes == 1 ? Process{} : Process{never_s, never_s, never_s});
  for (int i = 0; i < processes; ++i) {
    for (int j = 0; j < processes; ++j) {
      if (i == j) continue;
      const auto from = static_cast<std::size_t>(i), to = static_cast<std::size_t>(j);
      const LogGP& pair = given[from * count + to] = require_link(link(i, j), i, j);
      ends[from].send_overhead_s = std::min(ends[from].send_overhead_s, pair.send_overhead_s);
      ends[to].receive_overhead_s = std::min(ends[to].receive_overhead_s, pair.receive_overhead_s);
      ends[from].gap_s = std::min(ends[from].gap_s, pair.gap_s);
      ends[to].gap_s = std::min(ends[to].gap_s, pair.gap_s);
    }
  }
  std::vector<Link> links(count * count);
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = 0; to < count; ++to) {
      const LogGP& pair = given[from * count + to];
      if (from == to) continue;
      links[from * count + to] = {pair.latency_s + (pair.send_overhead_s - ends[from].send_overhead_s) +
                                      (pair.receive_overhead_s - ends[to].receive_overhead_s),
                                  pair.gap_per_byte_s};
    }
  }
  return {std::move(ends), std::move(links)};
}

LogGP HLogGP::link(int from, int to) const {
  const std::size_t i = index(from, processes_.size(), "process"), j = index(to, processes_.size(), "process");
  if (i == j) throw InvalidArgument(fmt::format("message from process {} to itself (expected another process)", from));
  const Link& link = links_[i * processes_.size() + j];
  return {link.latency_s, processes_[i].send_overhead_s, processes_[j].receive_overhead_s,
          std::max(processes_[i].gap_s, processes_[j].gap_s), link.gap_per_byte_s};
}

double HLogGP::time_s(int from, int to, double bytes) const { return link(from, to).time_s(bytes); }

}  // namespace steelyard::models
