#pragma once

#include <CLI/CLI.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/npy.hpp"
#include "core/options.hpp"
#include "tests/base/temporary_folder.hpp"

namespace steelyard::tests {

/// The parser of gemm or summa, and what it fills in.
template <class Options>
struct Parsed {
  using Words = std::vector<std::string>;

  Options options;
  std::optional<std::string> text;

  explicit Parsed(const Words& words) {
    CLI::App parser("Multiplies", "program");
    add_standard_options(parser);
    const AppOptions parsers(parser, Verb::run);
    add_run_options(parsers, options.run, {.seed = true, .type = true, .barrier = true, .input = true, .output = true});
    add_options(parsers, options);
    std::vector<const char*> arguments{"program"};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    text = parse_command_line(parser, static_cast<int>(arguments.size()), arguments.data());
  }

  static auto problem_of(const Words& words) { return make_problem(Parsed(words).options); }

  /// Words that make no problem; the message has all of `parts`.
  template <class Refusal = InvalidArgument>
  static void check_refused(const Words& words, const Words& parts) {
    std::string typed;
    for (const std::string& word : words) typed += word + " ";
    CAPTURE(typed);
    for (const std::string& part : parts) {
      CHECK_THROWS_MATCHES(problem_of(words), Refusal,
                           Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring(part)));
    }
  }
};

/// A matrix file, of zeros.
template <class Element = double>
std::string matrix_file(const TemporaryFolder& folder, const std::string& name, std::int64_t rows,
                        std::int64_t columns) {
  const auto path = folder / name;
  const auto file = NpyMatrixFile::create<Element>(path, rows, columns);
  const std::vector<Element> elements(static_cast<std::size_t>(rows * columns));
  file.template write_rows<Element>(0, elements);
  file.finish();
  return std::filesystem::path(path).string();
}

inline std::vector<std::string> input(std::vector<std::string> files, const std::vector<std::string>& others = {}) {
  files.insert(files.begin(), "--input");
  files.insert(files.end(), others.begin(), others.end());
  return files;
}

}  // namespace steelyard::tests
