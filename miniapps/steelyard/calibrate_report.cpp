#include "miniapps/steelyard/calibrate_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/base/table.hpp"

namespace steelyard::tool {
namespace {

std::string hockney_text(const models::Channel& channel) {
  std::string text;
  for (const models::HockneySegment& segment : channel.hockney) {
    text += fmt::format("{}{} + {}/s{}", text.empty() ? "" : "; ", format_seconds(segment.hockney.latency_s),
                        format_bytes(segment.hockney.bandwidth_bytes_per_s),
                        std::isinf(segment.up_to_bytes) ? "" : " up to " + format_bytes(segment.up_to_bytes));
  }
  return text;
}

}  // namespace

std::string calibrate_header(const Nodes& nodes, const std::vector<NodeFacts>& facts, const CalibrationPlan& plan,
                             const CalibrationDepth& depth, int rounds) {
  std::string text;
  for (int node = 0; node < nodes.count(); ++node) {
    const NodeFacts& fact = facts[static_cast<std::size_t>(node)];
    const auto ranks = std::count(nodes.node_of_rank.begin(), nodes.node_of_rank.end(), node);
    text += fmt::format("node       {}: {}; {} rank{} on {} core{}\n", nodes.hosts[static_cast<std::size_t>(node)],
                        fact.kind, ranks, ranks == 1 ? "" : "s", fact.cores, fact.cores == 1 ? "" : "s");
  }
  const std::string footprint =
      depth.footprint_bytes > 0
          ? fmt::format(" after {} of other memory", format_bytes(static_cast<double>(depth.footprint_bytes)))
          : "";
  text += fmt::format("messages   {} to {}{}, {} round{}\n", format_bytes(depth.smallest_bytes),
                      format_bytes(depth.largest_bytes), footprint, rounds, rounds == 1 ? "" : "s");
  for (const std::string& reason : plan.refused) text += fmt::format("refused    {}\n", reason);
  return text;
}

std::string channel_text(const models::Channel& channel, const MeasuredChannel& measured) {
  const models::ChannelTimes& times = measured.times;
  const MeasuringQuality& quality = measured.quality;
  std::string text =
      fmt::format("\nchannel {}  {}, path [{}]\n", channel.id, channel.name, fmt::join(channel.path, ", "));
  text += fmt::format(
      "measured   {} repetitions, {} outliers; 95 % confidence within {:.1f} % (median), {:.1f} % (worst)\n",
      quality.repetitions, quality.outliers, 100.0 * quality.typical_error, 100.0 * quality.largest_error);
  text +=
      fmt::format("protocol   eager up to {:.0f} bytes; empty message {}, with an answer {}\n", times.eager_limit_bytes,
                  format_seconds(times.empty_s), format_seconds(times.empty_synchronous_s));
  text += fmt::format("Hockney    {}\n", hockney_text(channel));
  text += fmt::format("LogGP      L {}, o_s {}, o_r {}, g {}, 1/G {}/s\n", format_seconds(channel.loggp->latency_s),
                      format_seconds(channel.loggp->send_overhead_s), format_seconds(channel.loggp->receive_overhead_s),
                      format_seconds(channel.loggp->gap_s), format_bytes(1.0 / channel.loggp->gap_per_byte_s));
  std::vector<std::string> headings{"bytes", "T(m,1)"};
  for (const auto& [tau, ring] : times.rings) headings.push_back(fmt::format("T(m,{})", tau));
  headings.insert(headings.end(), {"o(m)", "L(m,1)"});
  for (const auto& [tau, ring] : times.rings) headings.push_back(fmt::format("L(m,{})", tau));
  Table table(std::move(headings));
  const models::TauLopTables& tau_lop = *channel.tau_lop;
  for (std::size_t i = 0; i < times.one_way.size(); ++i) {
    const double bytes = times.one_way[i].bytes;
    std::vector<std::string> row{fmt::format("{:.0f}", bytes), format_seconds(times.one_way[i].time_s)};
    for (const auto& [tau, ring] : times.rings) row.push_back(format_seconds(ring[i].time_s));
    row.push_back(format_seconds(tau_lop.overhead.time_s(bytes)));
    row.push_back(format_seconds(tau_lop.transfer.time_s(bytes, 1)));
    for (const auto& [tau, ring] : times.rings) row.push_back(format_seconds(tau_lop.transfer.time_s(bytes, tau)));
    table.add_row(std::move(row));
  }
  text += table.text();
  const double adjustment = tau_lop.transfer.largest_adjustment();
  if (adjustment > 0.0) {
    text += fmt::format("L(m,1) <= L(m,A) <= A L(m,1) moved measured transfer times by up to {:.1f} %\n",
                        100.0 * adjustment);
  }
  return text;
}

std::string copies_text(const models::Channel& channel, const std::vector<models::MessageTime>& times) {
  std::string text = fmt::format("\nchannel {}  {}\nHockney    {}\n", channel.id, channel.name, hockney_text(channel));
  Table table({"bytes", "time", "bytes/s"});
  for (const models::MessageTime& copy : times) {
    table.add_row(
        {fmt::format("{:.0f}", copy.bytes), format_seconds(copy.time_s), format_bytes(copy.bytes / copy.time_s)});
  }
  return text + table.text();
}

}  // namespace steelyard::tool
