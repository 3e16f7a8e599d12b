#include "miniapps/app/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <type_traits>
#include <vector>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"

namespace steelyard {
namespace {

const char* const schema = "steelyard.checkpoint/1";

/// SplitMix64 of an element's bits and place.
template <class Element>
std::uint64_t hash(std::int64_t place, Element element) {
  using Bits = std::conditional_t<sizeof(Element) == 8, std::uint64_t, std::uint32_t>;
  std::uint64_t bits = std::bit_cast<Bits>(element) + static_cast<std::uint64_t>(place) * 0x9E3779B97F4A7C15ULL;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBULL;
  return bits ^ (bits >> 31);
}

template <class Element>
std::uint64_t checksum(std::int64_t matrix_columns, std::int64_t row, std::int64_t column, std::int64_t columns,
                       std::span<const Element> block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::int64_t in_block = static_cast<std::int64_t>(i);
    sum += hash((row + in_block / columns) * matrix_columns + column + in_block % columns, block[i]);
  }
  return sum;
}

}  // namespace

template <class Element>
void write_checkpoint(const Session& session, const std::filesystem::path& path, const Checkpoint& checkpoint,
                      const MatrixStore<Element>& store) {
  std::uint64_t own = 0;
  const MatrixStore<Element> summed = [&](const BlockSink<Element>& sink) {
    store([&](std::int64_t row, std::int64_t column, std::int64_t columns, std::span<const Element> block) {
      own += checksum(checkpoint.columns, row, column, columns, block);
      sink(row, column, columns, block);
    });
  };
  write_matrix<Element>(session, path, checkpoint.rows, checkpoint.columns, summed, [&] {
    std::uint64_t sum = 0;
    STEELYARD_MPI(MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, session.comm()));
    const nlohmann::ordered_json facts{{"schema", schema},
                                       {"problem", checkpoint.problem},
                                       {"steps", checkpoint.steps},
                                       {"checksum", fmt::format("{:016x}", sum)}};
    return facts.dump() + "\n";
  });
}

template <class Element>
Checkpoint read_checkpoint(const std::filesystem::path& path, const Checkpoint& expected) {
  const NpyHeader header = read_npy_matrix_header<Element>(path);
  if (header.shape != std::vector{expected.rows, expected.columns}) {
    throw FileFormatError(path.string(), "shape",
                          fmt::format("is {} x {} (expected {} x {})", header.shape[0], header.shape[1], expected.rows,
                                      expected.columns));
  }
  const std::int64_t bytes = expected.rows * expected.columns * static_cast<std::int64_t>(sizeof(Element));
  std::ifstream file = open_binary_file(path, "checkpoint");
  file.seekg(header.data_offset + bytes);
  std::string line;
  std::getline(file, line);
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    throw FileFormatError(path.string(), "end",
                          "has no facts of a checkpoint (expected what --checkpoint has written)");
  }
  const JsonReader reader(path.string(), json);
  reader.require_schema(schema);
  const JsonReader problem = reader.object("problem");
  for (const auto& [key, value] : expected.problem.items()) {
    const auto found = problem.value().find(key);
    if (found == problem.value().end() || *found != nlohmann::json(value)) {
      problem.fail(key, fmt::format("is {} (expected {})", found == problem.value().end() ? "missing" : excerpt(*found),
                                    excerpt(nlohmann::json(value))));
    }
  }
  Checkpoint checkpoint = expected;
  const double steps = reader.number("steps");
  if (!(steps >= 0.0 && steps <= 1e15)) reader.fail("steps", fmt::format("is {} (expected a number >= 0)", steps));
  checkpoint.steps = static_cast<std::int64_t>(steps);
  std::uint64_t sum = 0;
  std::vector<Element> row(static_cast<std::size_t>(expected.columns));
  for (std::int64_t i = 0; i < expected.rows; ++i) {
    read_npy_block<Element>(path, header, i, 0, 1, expected.columns, row);
    sum += checksum<Element>(expected.columns, i, 0, expected.columns, row);
  }
  if (reader.text("checksum") != fmt::format("{:016x}", sum))
    reader.fail("checksum", "is not that of the data: damaged");
  return checkpoint;
}

#define STEELYARD_CHECKPOINT(Element)                                                             \
  template void write_checkpoint(const Session&, const std::filesystem::path&, const Checkpoint&, \
                                 const MatrixStore<Element>&);                                    \
  template Checkpoint read_checkpoint<Element>(const std::filesystem::path&, const Checkpoint&);
STEELYARD_CHECKPOINT(double)
STEELYARD_CHECKPOINT(float)
#undef STEELYARD_CHECKPOINT

}  // namespace steelyard
