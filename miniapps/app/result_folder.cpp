#include "miniapps/app/result_folder.hpp"

#include <fmt/format.h>

#include "comm/collective.hpp"
#include "core/base/text_file.hpp"

namespace steelyard {

void require_outputs(const Session& session, const RunOptions& options) {
  on_root(session.comm(), [&] {
    if (!options.output.empty()) require_writable(options.output);
    if (!options.result.empty()) require_writable(options.result / "run.json");
  });
}

void write_result_folder(const Session& session, const std::filesystem::path& folder, const RunRecord& record,
                         const std::vector<Slot>& slots, const std::vector<KeptModels>& models) {
  if (folder.empty()) return;
  std::string replaced;
  on_root(session.comm(), [&] {
    const std::filesystem::path run = folder / "run.json";
    if (std::filesystem::exists(run)) replaced = ", in place of an earlier run's";
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
