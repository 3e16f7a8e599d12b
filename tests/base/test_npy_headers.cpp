// Which files are read as arrays, and which are refused.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <complex>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/npy.hpp"
#include "tests/base/temporary_folder.hpp"

namespace steelyard::test_npy_headers {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using tests::TemporaryFolder;

namespace {

/// A header as numpy.lib.format writes it: versions 2 and 3 have four bytes of length, all are padded to 64 bytes.
std::string numpy_header(const std::string& dictionary, int version = 1) {
  const std::size_t fixed = version == 1 ? 10 : 12;
  std::string padded = dictionary;
  padded.append((64 - (fixed + dictionary.size() + 1) % 64) % 64, ' ');
  padded += '\n';
  std::string bytes("\x93NUMPY", 6);
  bytes += {static_cast<char>(version), '\0'};
  for (std::size_t i = 0; i < fixed - 8; ++i) bytes += static_cast<char>((padded.size() >> (8 * i)) & 0xff);
  return bytes + padded;
}

std::string bytes_of(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

const std::string good_dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
const std::vector<double> six = {0.5, 1.5, 2.5, 3.5, 4.5, 5.5};

}  // namespace

TEST_CASE("files of format versions 1 to 3 are read as NumPy wrote them") {
  const TemporaryFolder folder;
  const int version = GENERATE(1, 2, 3);
  const auto path = folder.write("a.npy", numpy_header(good_dictionary, version) + bytes_of(six));
  const NpyHeader header = read_npy_matrix_header<double>(path);
  CHECK(header.shape == std::vector<std::int64_t>{2, 3});
  CHECK(header.data_offset == 128);
  std::vector<double> last_row(3);
  read_npy_rows<double>(path, header, 1, last_row);
  CHECK(last_row == std::vector<double>{3.5, 4.5, 5.5});
}

TEST_CASE("a header longer than 64 KiB is read in format version 2") {
  const TemporaryFolder folder;
  const auto path = folder.write("a.npy", numpy_header(good_dictionary + std::string(70000, ' '), 2) + bytes_of(six));
  const NpyHeader header = read_npy_matrix_header<double>(path);
  CHECK(header.data_offset > 70000);
  std::vector<double> all(6);
  read_npy_rows<double>(path, header, 0, all);
  CHECK(all == six);
}

TEST_CASE("the dictionary may be spaced and ordered in any way that Python allows") {
  const TemporaryFolder folder;
  const std::string dictionary = GENERATE("{'shape': (2, 3), 'fortran_order': False, 'descr': '<f8'}",
                                          "{'descr':'<f8','fortran_order':False,'shape':(2,3)}",
                                          "{'descr': '<f8', 'fortran_order': False, 'shape': ( 2 , 3 , ), }");
  const auto path = folder.write("a.npy", numpy_header(dictionary) + bytes_of(six));
  CHECK(read_npy_matrix_header<double>(path).shape == std::vector<std::int64_t>{2, 3});
}

TEST_CASE("arrays of any number of indices have a readable header") {
  const TemporaryFolder folder;
  const auto shape_of = [&](const std::string& tuple) {
    const std::string dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': " + tuple + ", }";
    return read_npy_header(folder.write("a.npy", numpy_header(dictionary) + bytes_of(six))).shape;
  };
  CHECK(shape_of("()") == std::vector<std::int64_t>{});
  CHECK(shape_of("(6,)") == std::vector<std::int64_t>{6});
  CHECK(shape_of("(1, 2, 3)") == std::vector<std::int64_t>{1, 2, 3});
  CHECK(shape_of("(0, 123456789)") == std::vector<std::int64_t>{0, 123456789});
}

TEST_CASE("only a matrix of the asked type is read as a matrix") {
  const TemporaryFolder folder;
  const auto with = [&](const std::string& descr, const std::string& tuple) {
    const std::string dictionary = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + tuple + ", }";
    return folder.write("a.npy", numpy_header(dictionary) + bytes_of(six));
  };
  CHECK_NOTHROW(read_npy_matrix_header<std::complex<double>>(with("<c16", "(1, 3)")));
  CHECK_NOTHROW(read_npy_matrix_header<float>(with("<f4", "(3, 4)")));
  CHECK_THROWS_MATCHES(
      read_npy_matrix_header<double>(with("<f4", "(2, 3)")), FileFormatError,
      MessageMatches(ContainsSubstring("a.npy: descr:") && ContainsSubstring("'<f4'") && ContainsSubstring("'<f8'")));
  CHECK_THROWS_AS(read_npy_matrix_header<float>(with("<f8", "(2, 3)")), FileFormatError);
  CHECK_THROWS_MATCHES(read_npy_matrix_header<double>(with("<f8", "(6,)")), FileFormatError,
                       MessageMatches(ContainsSubstring("a.npy: shape: has 1 indices")));
  CHECK_THROWS_MATCHES(read_npy_matrix_header<double>(with("<f8", "(1, 2, 3)")), FileFormatError,
                       MessageMatches(ContainsSubstring("a.npy: shape: has 3 indices")));
}

TEST_CASE("a file cut anywhere is refused") {
  const TemporaryFolder folder;
  const int version = GENERATE(1, 2);
  const std::string whole = numpy_header(good_dictionary, version) + bytes_of(six);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto path = folder.write("a.npy", whole.substr(0, size));
    REQUIRE_THROWS_MATCHES(read_npy_header(path), FileFormatError,
                           MessageMatches(ContainsSubstring(path.string() + ": ")));
  }
  CHECK_NOTHROW(read_npy_header(folder.write("a.npy", whole)));
  CHECK_THROWS_MATCHES(read_npy_header(folder.write("a.npy", whole.substr(0, whole.size() - 1))), FileFormatError,
                       MessageMatches(ContainsSubstring("data: 47 bytes (expected 48")));
}

TEST_CASE("a header that the suite cannot use is refused with the key that is wrong") {
  const TemporaryFolder folder;
  struct Bad {
    const char* dictionary;
    const char* key;
  };
  const auto bad =
      GENERATE(Bad{"{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3), }", "descr"},
               Bad{"{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }", "descr"},
               Bad{"{'descr': '<c32', 'fortran_order': False, 'shape': (2, 3), }", "descr"},
               Bad{"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }", "descr"},
               Bad{"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2, 3), }", "descr"},
               Bad{"{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", "fortran_order"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': (-2, -3), }", "shape"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': (2.5, 3), }", "shape"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': (a, b), }", "shape"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': 6, }", "shape"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': 66, }", "shape"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': 6666, }", "shape"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': [2, 3], }", "shape"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 1), }", "shape"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", "shape"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3", "shape"},
               Bad{"{'descr': '<f8', 'fortran_order': False}", "shape"},
               Bad{"{'descr': '<f8', 'shape': (2, 3)}", "fortran_order"},
               Bad{"{'fortran_order': False, 'shape': (2, 3)}", "descr"}, Bad{"{'descr'", "descr"}, Bad{"", "descr"},
               Bad{"{'descr': x<f8x, 'fortran_order': False, 'shape': (2, 3), }", "descr"},
               Bad{"{'descr': '<f8, 'fortran_order': False, 'shape': (2, 3), }", "descr"},
               Bad{"{xdescrx: '<f8', 'fortran_order': False, 'shape': (2, 3), }", "descr"},
               Bad{"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", "descr"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'more': 1}", "descr"},
               Bad{"{'descr': '<f8' 'fortran_order': False, 'shape': (2, 3), }", "descr"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), } more", "descr"},
               Bad{"'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", "descr"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': (2 3), }", "shape"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': (2,, 3), }", "shape"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': (, 2, 3), }", "shape"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': (6), }", "shape"},
               Bad{"{'descr': '<f8', 'fortran_order': False, 'shape': (+2, 3), }", "shape"});
  INFO(bad.dictionary);
  const auto path = folder.write("a.npy", numpy_header(bad.dictionary) + bytes_of(six));
  CHECK_THROWS_MATCHES(read_npy_header(path), FileFormatError,
                       MessageMatches(ContainsSubstring(path.string()) && ContainsSubstring(bad.key)));
}

TEST_CASE("a header with any of its bytes changed, taken out or put in is read as what it says or refused") {
  const TemporaryFolder folder;
  std::mt19937 random(7);
  const std::string whole = numpy_header(good_dictionary);
  const std::string alphabet = " ,:'\"(){}[]+-x0123456789<f8cFalseTrudscrpotn_h\n\0\xff";
  const auto below = [&](std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random); };
  int read = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    std::string header = whole;
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
      const std::size_t at = below(header.size());
      const std::string letter(1, alphabet[below(alphabet.size())]);
      header.replace(at, below(2), letter, 0, below(2));
    }
    const auto path = folder.write("a.npy", header + bytes_of(six));
    try {
      const NpyHeader found = read_npy_header(path);
      ++read;
      std::int64_t elements = 1;
      for (const std::int64_t extent : found.shape) elements *= extent;
      REQUIRE(elements >= 0);
      REQUIRE(elements <= 12);
      REQUIRE(header.find(found.element) != std::string::npos);
    } catch (const FileFormatError& error) {
      REQUIRE(std::string(error.what()).size() < 400);
    }
  }
  CHECK(read > 100);
}

TEST_CASE("first bytes of another format or version are refused") {
  const TemporaryFolder folder;
  std::string other = numpy_header(good_dictionary) + bytes_of(six);
  other[0] = 'x';
  CHECK_THROWS_MATCHES(read_npy_header(folder.write("a.npy", other)), FileFormatError,
                       MessageMatches(ContainsSubstring("a.npy: first bytes:")));
  CHECK_THROWS_AS(read_npy_header(folder.write("a.npy", "PK\x03\x04 an archive of arrays")), FileFormatError);
  for (const char version : {'\0', '\x04', '\xff'}) {
    std::string bytes = numpy_header(good_dictionary) + bytes_of(six);
    bytes[6] = version;
    CHECK_THROWS_MATCHES(read_npy_header(folder.write("a.npy", bytes)), FileFormatError,
                         MessageMatches(ContainsSubstring("format version")));
  }
}

TEST_CASE("a header length that makes no sense is refused before it is allocated") {
  const TemporaryFolder folder;
  std::string bytes = numpy_header(good_dictionary, 2);
  for (std::size_t i = 8; i < 12; ++i) bytes[i] = '\xff';
  CHECK_THROWS_MATCHES(read_npy_header(folder.write("a.npy", bytes)), FileFormatError,
                       MessageMatches(ContainsSubstring("header")));
}

TEST_CASE("a missing array file or a folder is refused with its name") {
  const TemporaryFolder folder;
  CHECK_THROWS_MATCHES(read_npy_header(folder / "none.npy"), FileFormatError,
                       MessageMatches(ContainsSubstring((folder / "none.npy").string())));
  CHECK_THROWS_MATCHES(read_npy_header(folder.path()), FileFormatError,
                       MessageMatches(ContainsSubstring(folder.path().string()) && ContainsSubstring("is a folder")));
}

TEST_CASE("rows beyond the end or before the start are refused") {
  const TemporaryFolder folder;
  const auto path = folder.write("a.npy", numpy_header(good_dictionary) + bytes_of(six));
  const NpyHeader header = read_npy_matrix_header<double>(path);
  std::vector<double> two_rows(6);
  CHECK_THROWS_MATCHES(read_npy_rows<double>(path, header, 1, two_rows), FileFormatError,
                       MessageMatches(ContainsSubstring(path.string()) && ContainsSubstring("row 1")));
  CHECK_THROWS_AS(read_npy_rows<double>(path, header, 1000, two_rows), FileFormatError);
  CHECK_THROWS_AS(read_npy_rows<double>(path, header, -1, two_rows), FileFormatError);
  CHECK_THROWS_AS(read_npy_rows<double>(folder / "none.npy", header, 0, two_rows), FileFormatError);
  CHECK_NOTHROW(read_npy_rows<double>(path, header, 2, std::span<double>()));
  const auto longer = folder.write("b.npy", numpy_header(good_dictionary) + bytes_of(six) + bytes_of(six));
  CHECK_THROWS_AS(read_npy_rows<double>(longer, header, 1, two_rows), FileFormatError);
  const auto file = NpyMatrixFile::create<double>(folder / "c.npy", 2, 3);
  CHECK_THROWS_AS(file.write_rows<double>(-1, two_rows), InvalidArgument);
}

}  // namespace steelyard::test_npy_headers
