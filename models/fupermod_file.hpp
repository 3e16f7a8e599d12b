#pragma once

#include <filesystem>

#include "models/fpm_file.hpp"

namespace steelyard::models {

/// Reads the points of a text file (`.fpm`) of Fupermod's builder: one point a line, in columns d (computation units),
/// t (seconds), reps and ci (half width of the confidence interval, seconds), of which only the first two have to be
/// there; more columns count for nothing. A comment line (`#`) with the words d and t names the columns in another
/// order; other comments are skipped. Source: 000, sections 6.1.2 (fupermod_point) and 6.3 (builder).
/// @throws FileFormatError naming file and line for fewer columns, words that are no numbers, sizes that do not
/// increase, or times that are not positive; for a file without points
FpmFile read_fupermod_file(const std::filesystem::path& path);

}  // namespace steelyard::models
