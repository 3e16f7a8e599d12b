#pragma once

#include <filesystem>

#include "core/measurable_kernel.hpp"
#include "models/fpm_file.hpp"

namespace steelyard {

/// A speed model has to be of this kernel: app, element type and every parameter, where the file says.
/// @throws FileFormatError naming what differs
void require_same_kernel(const std::filesystem::path& path, const models::FpmFile& file, const KernelFacts& facts);

/// Files in another order than units, as from `models/*.fpm.json`, would give a host the speed of a device.
/// @throws FileFormatError where the file says that it is of the other kind
void require_same_kind(const std::filesystem::path& path, const models::FpmFile& file, ProcessingUnit::Kind kind);

}  // namespace steelyard
