#include "miniapps/app/outputs.hpp"

#include <fmt/format.h>

#include <complex>

#include "comm/collective.hpp"
#include "core/base/errors.hpp"
#include "core/base/npy.hpp"
#include "core/base/text_file.hpp"

namespace steelyard {

void require_outputs(const Session& session, const RunOptions& options) {
  on_root(session.comm(), [&] {
    if (!options.output.empty()) require_writable(options.output);
    if (options.result.empty()) return;
    if (options.result.lexically_normal() == options.output.lexically_normal()) {
      throw InvalidArgument(
          fmt::format("--output and --result both name {} (expected a file and a folder)", options.result.string()));
    }
    require_writable(options.result / "run.json");
    if (options.dry_run || !std::filesystem::exists(options.result / "run.json")) return;
    fmt::print(stderr, "note: {} has the result of an earlier run, which this one's will replace\n",
               options.result.string());
  });
}

template <class Element>
void write_matrix(const Session& session, const std::filesystem::path& path, std::int64_t rows, std::int64_t columns,
                  const MatrixStore<Element>& store) {
  if (path.empty()) return;
  std::string made;
  on_root(session.comm(), [&] {
    const NpyMatrixFile file = NpyMatrixFile::create<Element>(path, rows, columns);
    made = fmt::format("{} {}", file.data_offset(), file.part().string());
  });
  made = broadcast_text(session.comm(), made);
  const std::size_t blank = made.find(' ');
  const NpyMatrixFile mine(path, made.substr(blank + 1), std::stoll(made.substr(0, blank)), rows, columns);
  try {
    collectively(session.comm(), [&] {
      store([&](std::int64_t row, std::int64_t column, std::int64_t block_columns, std::span<const Element> block) {
        mine.write_block(row, column, block_columns, block);
      });
    });
    on_root(session.comm(), [&] { mine.finish(); });
  } catch (...) {
    if (session.is_root()) mine.discard();
    throw;
  }
}

template void write_matrix(const Session&, const std::filesystem::path&, std::int64_t, std::int64_t,
                           const MatrixStore<double>&);
template void write_matrix(const Session&, const std::filesystem::path&, std::int64_t, std::int64_t,
                           const MatrixStore<float>&);
template void write_matrix(const Session&, const std::filesystem::path&, std::int64_t, std::int64_t,
                           const MatrixStore<std::complex<double>>&);
template void write_matrix(const Session&, const std::filesystem::path&, std::int64_t, std::int64_t,
                           const MatrixStore<std::complex<float>>&);

std::string write_result(const std::filesystem::path& folder, const RunRecord& record, const std::vector<Slot>& slots,
                         const std::vector<KeptModels>& models) {
  if (folder.empty()) return "";
  const bool replaces = std::filesystem::exists(folder / "run.json");
  // The numbers first, should there be no room for all.
  write_run_record(folder, record);
  for (const KeptModels& kept : models) {
    for (std::size_t i = 0; i < kept.files.size(); ++i) {
      const char* kind = slots[i].kind == ProcessingUnit::Kind::host ? "host" : "device";
      models::write_fpm_file(folder / "models" / fmt::format("rank{}-{}{}.fpm.json", slots[i].rank, kind, kept.suffix),
                             kept.files[i]);
    }
  }
  return fmt::format("result     {}{}\n", folder.string(), replaces ? ", in place of an earlier run's" : "");
}

void write_result_folder(const Session& session, const std::filesystem::path& folder, const RunRecord& record,
                         const std::vector<Slot>& slots, const std::vector<KeptModels>& models) {
  std::string line;
  on_root(session.comm(), [&] { line = write_result(folder, record, slots, models); });
  session.print(line);
}

}  // namespace steelyard
