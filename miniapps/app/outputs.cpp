#include "miniapps/app/outputs.hpp"

#include <fmt/format.h>

#include <complex>

#include "comm/collective.hpp"
#include "core/base/npy.hpp"
#include "core/base/text_file.hpp"

namespace steelyard {

void require_outputs(const Session& session, const RunOptions& options) {
  on_root(session.comm(), [&] {
    if (!options.output.empty()) require_writable(options.output);
    if (!options.result.empty()) require_writable(options.result / "run.json");
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

void write_result_folder(const Session& session, const std::filesystem::path& folder, const RunRecord& record,
                         const std::vector<Slot>& slots, const std::vector<KeptModels>& models) {
  if (folder.empty()) return;
  std::string replaced;
  on_root(session.comm(), [&] {
    if (std::filesystem::exists(folder / "run.json")) replaced = ", in place of an earlier run's";
    for (const KeptModels& kept : models) {
      for (std::size_t i = 0; i < kept.files.size(); ++i) {
        const char* kind = slots[i].kind == ProcessingUnit::Kind::host ? "host" : "device";
        models::write_fpm_file(
            folder / "models" / fmt::format("rank{}-{}{}.fpm.json", slots[i].rank, kind, kept.suffix), kept.files[i]);
      }
    }
    write_run_record(folder, record);
  });
  session.print(fmt::format("result     {}{}\n", folder.string(), replaced));
}

}  // namespace steelyard
