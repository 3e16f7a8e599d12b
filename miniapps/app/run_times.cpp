#include "miniapps/app/run_times.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/accuracy.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"

namespace steelyard {
namespace {

constexpr const char* time_metric = "time_s";

std::ptrdiff_t repetitions(const RunRecord& record) {
  return std::count_if(record.samples.begin(), record.samples.end(),
                       [](const Sample& sample) { return sample.metric == time_metric; });
}

}  // namespace

void record_times(RunRecord& record, std::span<const double> times_s, std::optional<double> predicted) {
  const double predicted_s = predicted.value_or(0.0);
  record.median_time_s = median(times_s);
  record.predicted_time_s = predicted;
  record.figures["confidence_s"] = times_s.size() > 1 ? confidence_half_width(times_s, 0.95) : 0.0;
  record.figures["coefficient_of_variation"] = coefficient_of_variation(times_s);
  if (predicted_s > 0.0 && record.median_time_s > 0.0) {
    record.figures["percentage_difference"] = percentage_difference(predicted_s, record.median_time_s);
    record.figures["proportional_error"] = proportional_error(record.median_time_s, predicted_s);
  }
  for (std::size_t i = 0; i < times_s.size(); ++i) {
    Sample sample;
    sample.params = record.params;
    sample.params["repetition"] = static_cast<double>(i);
    sample.metric = time_metric;
    sample.value = times_s[i];
    sample.keys = record.settings;
    record.samples.push_back(sample);
  }
}

std::string time_line(const RunRecord& record, const std::string& of_what) {
  const std::ptrdiff_t count = repetitions(record);
  const std::string spread = count > 1
                                 ? fmt::format("median of {}, 95 % interval +- {}, coefficient of variation {:.1f} %",
                                               count, format_seconds(record.figures.at("confidence_s")),
                                               100.0 * record.figures.at("coefficient_of_variation"))
                                 : "measured once";
  return fmt::format("time       {}{}{} ({})\n", format_seconds(record.median_time_s), of_what.empty() ? "" : " ",
                     of_what, spread);
}

std::string predicted_line(const RunRecord& record) {
  if (!record.predicted_time_s) return "";
  const double predicted_s = *record.predicted_time_s;
  const bool comparable = record.figures.contains("proportional_error");
  return fmt::format("predicted  {}{}\n", format_seconds(predicted_s),
                     comparable ? ", " + accuracy_text(record.median_time_s, predicted_s) : "");
}

}  // namespace steelyard
