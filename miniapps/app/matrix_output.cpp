#include "miniapps/app/matrix_output.hpp"

#include <fmt/format.h>

#include <complex>
#include <optional>

#include "comm/collective.hpp"
#include "core/base/npy.hpp"

namespace steelyard {

template <class Element>
void write_matrix(const Session& session, const std::filesystem::path& path, std::int64_t rows, std::int64_t columns,
                  const std::function<void(const BlockSink<Element>& sink)>& store) {
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

template void write_matrix<double>(const Session&, const std::filesystem::path&, std::int64_t, std::int64_t,
                                   const std::function<void(const BlockSink<double>&)>&);
template void write_matrix<float>(const Session&, const std::filesystem::path&, std::int64_t, std::int64_t,
                                  const std::function<void(const BlockSink<float>&)>&);
template void write_matrix<std::complex<double>>(const Session&, const std::filesystem::path&, std::int64_t,
                                                 std::int64_t,
                                                 const std::function<void(const BlockSink<std::complex<double>>&)>&);
template void write_matrix<std::complex<float>>(const Session&, const std::filesystem::path&, std::int64_t,
                                                std::int64_t,
                                                const std::function<void(const BlockSink<std::complex<float>>&)>&);

}  // namespace steelyard
