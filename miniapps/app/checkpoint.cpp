#include "miniapps/app/checkpoint.hpp"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <vector>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "core/splitmix64.hpp"

namespace steelyard {
namespace {

const char* const schema = "steelyard.checkpoint/2";

/// Sum of a hash of each element's bits and place.
template <class Element>
std::uint64_t checksum(std::int64_t matrix_columns, std::int64_t row, std::int64_t column, std::int64_t columns,
                       std::span<const Element> block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::int64_t in_block = static_cast<std::int64_t>(i);
    const std::int64_t place = (row + in_block / columns) * matrix_columns + column + in_block % columns;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &block[i], sizeof(Element));
    sum += splitmix64(bits, static_cast<std::uint64_t>(place));
  }
  return sum;
}

/// The checksum of a file. @param facts but for it
std::string checksum_text(const nlohmann::json& facts, std::uint64_t sum_of_elements) {
  const std::string text = facts.dump();
  const auto length = static_cast<std::int64_t>(text.size());
  return fmt::format("{:016x}", sum_of_elements + checksum<char>(length, 0, 0, length, text));
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
    nlohmann::json facts{{"schema", schema}, {"problem", checkpoint.problem}, {"steps", checkpoint.steps}};
    facts["checksum"] = checksum_text(facts, sum);
    return facts.dump() + "\n";
  });
}

template <class Element>
Checkpoint read_checkpoint(const std::filesystem::path& path, const Checkpoint& expected) {
  const NpyHeader header = read_npy_matrix_header<Element>(path);
  const std::int64_t rows = header.shape[0], columns = header.shape[1];
  std::ifstream file = open_binary_file(path, "checkpoint");
  file.seekg(header.data_offset + rows * columns * static_cast<std::int64_t>(sizeof(Element)));
  nlohmann::json facts = nlohmann::json::parse(file, nullptr, false);
  if (!facts.is_object()) {
    throw FileFormatError(path.string(), "end",
                          "has no facts of a checkpoint (expected what --checkpoint has written)");
  }
  const JsonReader reader(path.string(), facts);
  reader.require_schema(schema);
  const JsonReader problem = reader.object("problem");
  for (const auto& [key, value] : expected.problem.items()) {
    const auto found = problem.value().find(key);
    if (found == problem.value().end() || *found != value) {
      problem.fail(key, fmt::format("is {} (expected {})", found == problem.value().end() ? "missing" : excerpt(*found),
                                    excerpt(value)));
    }
  }
  if (rows != expected.rows || columns != expected.columns) {
    reader.fail("shape", fmt::format("is {} x {} (expected {} x {})", rows, columns, expected.rows, expected.columns));
  }
  const double steps = reader.number("steps");
  if (!(steps >= 0.0 && steps <= 1e15)) reader.fail("steps", fmt::format("is {} (expected a number >= 0)", steps));
  const std::string kept = reader.text("checksum");
  std::uint64_t sum = 0;
  std::vector<Element> row(static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    read_npy_block<Element>(path, header, i, 0, 1, columns, row);
    sum += checksum<Element>(columns, i, 0, columns, row);
  }
  facts.erase("checksum");
  const std::string found = checksum_text(facts, sum);
  if (kept != found) {
    reader.fail("checksum",
                fmt::format("is \"{}\" (expected \"{}\", that of the data and facts: damaged)", excerpt(kept), found));
  }
  return {rows, columns, problem.value(), static_cast<std::int64_t>(steps)};
}

#define STEELYARD_CHECKPOINT(Element)                                                             \
  template void write_checkpoint(const Session&, const std::filesystem::path&, const Checkpoint&, \
                                 const MatrixStore<Element>&);                                    \
  template Checkpoint read_checkpoint<Element>(const std::filesystem::path&, const Checkpoint&);
STEELYARD_CHECKPOINT(double)
STEELYARD_CHECKPOINT(float)
#undef STEELYARD_CHECKPOINT

}  // namespace steelyard
