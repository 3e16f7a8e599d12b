#include "miniapps/cavity/output/checkpoint.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "core/base/text_file.hpp"
#include "miniapps/cavity/flow_state.hpp"

namespace steelyard::cavity {
namespace {

static_assert(std::endian::native == std::endian::little && std::numeric_limits<double>::is_iec559,
              "checkpoints hold doubles as this machine has them in memory");

constexpr std::string_view schema = "steelyard.cavity_checkpoint/1";
constexpr std::int64_t longest_header = 1 << 16;

using Field = std::vector<double> FlowState::*;
constexpr std::array<std::pair<const char*, Field>, 5> fields = {{{"u", &FlowState::u},
                                                                  {"v", &FlowState::v},
                                                                  {"p", &FlowState::p},
                                                                  {"u_before", &FlowState::u_before},
                                                                  {"v_before", &FlowState::v_before}}};

/// FNV-1a, over words of 8 bytes in place of single bytes: of the data, and of the data and the header's numbers.
struct Checksums {
  std::string data, all;

  Checksums(const FlowState& state, double time_step) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    const auto add = [&](double value) { hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001b3U; };
    for (const auto& [name, field] : fields) {
      for (const double value : state.*field) add(value);
    }
    data = fmt::format("{:016x}", hash);
    for (const double value : {time_step, static_cast<double>(state.steps), state.time}) add(value);
    all = fmt::format("{:016x}", hash);
  }
};

/// Message about a field's wrong values: the first that is not finite, or not 0 on the wall that the field has; "" if
/// none.
std::string wrong_value(const FlowState& state, std::string_view name, std::span<const double> values) {
  for (std::int64_t j = 0; j < state.rows; ++j) {
    for (std::int64_t i = 0; i < state.columns; ++i) {
      const double value = values[state.index(j, i)];
      const bool wall = (name.starts_with('u') && i == 0) || (name.starts_with('v') && j == 0);
      if (std::isfinite(value) && (!wall || value == 0.0)) continue;
      return fmt::format("is {} in row {}, column {} (expected {})", value, j, i,
                         wall ? "0 on the wall" : "a finite number");
    }
  }
  return "";
}

/// The file's first line.
nlohmann::ordered_json header_of(const Problem& problem, const FlowState& state) {
  nlohmann::ordered_json header = {{"schema", schema},
                                   {"byte_order", "little"},
                                   {"element", "float64"},
                                   {"rows", problem.rows},
                                   {"columns", problem.columns},
                                   {"height", problem.height},
                                   {"reynolds", problem.reynolds},
                                   {"scheme", problem.scheme == TimeScheme::euler ? "euler" : "crank_nicolson"},
                                   {"time_step", problem.time_step},
                                   {"steps", state.steps},
                                   {"time", state.time},
                                   {"checksum", Checksums(state, problem.time_step).all},
                                   {"arrays", nlohmann::ordered_json::array()}};
  for (std::size_t k = 0; k < fields.size(); ++k) {
    header["arrays"].push_back({{"name", fields[k].first}, {"offset", k * sizeof(double) * state.u.size()}});
  }
  return header;
}

nlohmann::json read_header(const std::string& path, std::ifstream& file) {
  std::string line(longest_header, '\0');
  file.read(line.data(), longest_header);
  line.resize(static_cast<std::size_t>(file.gcount()));
  const std::size_t end = line.find('\n');
  const auto fail = [&](const std::string& problem) {
    throw FileFormatError(path, "line 1", fmt::format("{} (expected the JSON object of a {})", problem, schema));
  };
  if (end == std::string::npos) fail("has no end");
  nlohmann::json header = nlohmann::json::parse(line.substr(0, end), nullptr, false);
  if (!header.is_object()) fail("is something else");
  file.clear();
  file.seekg(static_cast<std::streamoff>(end) + 1);
  return header;
}

/// @throws FileFormatError for another cavity than the run's, or data in another order
void require_same_cavity(const JsonReader& header, const nlohmann::json& expected) {
  header.require_schema(std::string(schema));
  for (const char* key : {"byte_order", "element", "rows", "columns", "height", "reynolds", "scheme", "arrays"}) {
    const auto found = header.value().find(key);
    if (found == header.value().end()) header.fail(key, "is missing");
    if (*found != expected[key]) {
      header.fail(key, fmt::format("is {} (expected {})", found->dump(), expected[key].dump()));
    }
  }
}

}  // namespace

std::string Checkpoint::note(const Problem& problem) const {
  if (time_step == problem.time_step) return "";
  const char* effect = problem.scheme == TimeScheme::crank_nicolson
                           ? "; the first step's convecting velocity is extrapolated as if steps were equal"
                           : "";
  return fmt::format("the checkpoint was reached with time steps of {}, this run goes on with {}{}", time_step,
                     problem.time_step, effect);
}

void write_checkpoint(const std::filesystem::path& path, const Problem& problem, const FlowState& state) {
  require_flow_of(problem, state);
  for (const auto& [name, field] : fields) {
    const std::string wrong = wrong_value(state, name, state.*field);
    if (!wrong.empty()) throw InvalidArgument(fmt::format("{}: {} {}", path.string(), name, wrong));
  }
  NewFile file(path);
  file.write(header_of(problem, state).dump() + "\n");
  for (const auto& [name, field] : fields) {
    file.write({reinterpret_cast<const char*>((state.*field).data()), sizeof(double) * state.u.size()});
  }
  file.finish();
}

Checkpoint read_checkpoint(const std::filesystem::path& path, const Problem& problem) {
  std::ifstream file = open_binary_file(path, "checkpoint");
  const nlohmann::json first_line = read_header(path.string(), file);
  const JsonReader header(path.string(), first_line);
  Checkpoint checkpoint{FlowState::at_rest(problem), 0.0};
  FlowState& state = checkpoint.state;
  require_same_cavity(header, header_of(problem, state));
  checkpoint.time_step = header.number("time_step");
  const double steps = header.number("steps");
  if (!(steps >= 0.0 && steps < 9e15 && steps == std::floor(steps))) {
    header.fail("steps", fmt::format("is {} (expected a whole number >= 0)", steps));
  }
  state.steps = static_cast<std::int64_t>(steps);
  state.time = header.number("time");
  const auto bytes_each = static_cast<std::int64_t>(sizeof(double) * state.u.size());
  const auto data = static_cast<std::int64_t>(file.tellg());
  std::error_code ignored;
  const auto found = static_cast<std::int64_t>(std::filesystem::file_size(path, ignored)) - data;
  const std::int64_t expected = static_cast<std::int64_t>(fields.size()) * bytes_each;
  if (found != expected) {
    throw FileFormatError(path.string(), "data",
                          fmt::format("{} bytes (expected {} for {} x {} cells: {})", found, expected, problem.rows,
                                      problem.columns, found < expected ? "truncated" : "something follows"));
  }
  for (const auto& [name, field] : fields) {
    file.read(reinterpret_cast<char*>((state.*field).data()), bytes_each);
    if (!file) throw FileFormatError(path.string(), name, "cannot be read to its end");
    const std::string wrong = wrong_value(state, name, state.*field);
    if (!wrong.empty()) throw FileFormatError(path.string(), name, wrong);
  }
  const Checksums sums(state, checkpoint.time_step);
  // Earlier versions summed up the data alone.
  if (const std::string kept = header.text("checksum"); kept != sums.all && kept != sums.data) {
    header.fail("checksum",
                fmt::format("is \"{}\" (expected \"{}\", that of the data, time_step, steps and time: damaged)", kept,
                            sums.all));
  }
  return checkpoint;
}

}  // namespace steelyard::cavity
