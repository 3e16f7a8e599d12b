#pragma once

#include <string>

#include "core/options.hpp"

namespace steelyard {

/// What `--distribution` says as the name of a partition, `shares:A:B:...`: numbers with colons between them, or those
/// of a file, which is a run's `run.json` or what `steelyard partition --format json` prints. The numbers of a
/// distribution of as many computation units as there are to share out are kept exactly.
/// @throws InvalidArgument, FileFormatError
std::string partition_of(const std::string& distribution);

/// Puts `--distribution` in the place of `--partition`, and checks `--kind`. @throws InvalidArgument, FileFormatError
void resolve_partition(RunOptions& options);

}  // namespace steelyard
