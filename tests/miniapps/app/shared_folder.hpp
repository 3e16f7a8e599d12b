#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "comm/collective.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::tests {

/// An empty folder that all ranks see, removed once all are done with it. Making and removing it is collective.
class SharedFolder {
 public:
  SharedFolder() {
    if (session().is_root()) mine_.emplace();
    path_ = broadcast_text(session().comm(), mine_ ? mine_->path().string() : "");
  }
  ~SharedFolder() { MPI_Barrier(session().comm()); }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  /// Files and folders in it, at any depth, once all ranks have got here.
  int entries() const {
    MPI_Barrier(session().comm());
    int found = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) found += entry.exists() ? 1 : 0;
    MPI_Barrier(session().comm());
    return found;
  }

 private:
  std::optional<TemporaryFolder> mine_;
  std::filesystem::path path_;
};

}  // namespace steelyard::tests
