#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/npy.hpp"
#include "tests/base/special_files.hpp"
#include "tests/base/temporary_folder.hpp"

namespace steelyard::test_npy {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using tests::make_null_device;
using tests::NamedPipe;
using tests::TemporaryFolder;

namespace {

using Complex = std::complex<double>;
using ComplexFloat = std::complex<float>;

template <class Element>
std::vector<Element> random_elements(std::int64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Element> elements(static_cast<std::size_t>(count));
  for (Element& element : elements) {
    if constexpr (std::is_same_v<Element, Complex> || std::is_same_v<Element, ComplexFloat>) {
      using Part = typename Element::value_type;
      element = {static_cast<Part>(normal(random)), static_cast<Part>(normal(random))};
    } else {
      element = static_cast<Element>(normal(random));
    }
  }
  return elements;
}

/// Writes a whole matrix at once.
template <class Element>
void write_matrix(const std::filesystem::path& path, std::int64_t rows, std::int64_t columns,
                  const std::vector<Element>& elements) {
  const auto file = NpyMatrixFile::create<Element>(path, rows, columns);
  file.template write_rows<Element>(0, elements);
  file.finish();
}

template <class Element>
std::vector<Element> read_matrix(const std::filesystem::path& path) {
  const NpyHeader header = read_npy_matrix_header<Element>(path);
  std::vector<Element> elements(static_cast<std::size_t>(header.shape[0] * header.shape[1]));
  read_npy_rows<Element>(path, header, 0, elements);
  return elements;
}

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

TEMPLATE_TEST_CASE("matrices of any shape are read back bit for bit", "", double, float, Complex, ComplexFloat) {
  const TemporaryFolder folder;
  for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {1, 17}, {17, 1}, {3, 5}, {64, 64}, {0, 4}, {4, 0}, {0, 0}, {1000, 7}}) {
    INFO(rows << " x " << columns);
    const auto elements = random_elements<TestType>(rows * columns, 7);
    write_matrix<TestType>(folder / "a.npy", rows, columns, elements);
    const NpyHeader header = read_npy_header(folder / "a.npy");
    REQUIRE(header.shape == std::vector<std::int64_t>{rows, columns});
    REQUIRE(header.element == npy_element<TestType>());
    REQUIRE(read_matrix<TestType>(folder / "a.npy") == elements);
    REQUIRE(folder.entries() == 1);
  }
}

TEST_CASE("values that are not ordinary numbers are kept") {
  const TemporaryFolder folder;
  const std::vector<double> odd = {std::numeric_limits<double>::infinity(), -0.0,
                                   std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::quiet_NaN()};
  write_matrix<double>(folder / "a.npy", 2, 2, odd);
  const auto back = read_matrix<double>(folder / "a.npy");
  CHECK(std::memcmp(back.data(), odd.data(), sizeof(double) * odd.size()) == 0);
}

TEST_CASE("data start at a multiple of 64 bytes behind a header that ends in a line feed") {
  const TemporaryFolder folder;
  for (const std::int64_t rows : {1, 12, 123, 1234, 12345}) {
    for (const std::int64_t columns : {1, 22, 333, 4444}) {
      const auto file = NpyMatrixFile::create<float>(folder / "a.npy", rows, columns);
      file.finish();
      const NpyHeader header = read_npy_header(folder / "a.npy");
      REQUIRE(header.data_offset % 64 == 0);
      REQUIRE(header.data_offset == file.data_offset());
      std::ifstream stream(folder / "a.npy", std::ios::binary);
      std::string start(static_cast<std::size_t>(header.data_offset), '\0');
      stream.read(start.data(), header.data_offset);
      REQUIRE(start.back() == '\n');
      REQUIRE(start.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
      const auto size = static_cast<std::int64_t>(std::filesystem::file_size(folder / "a.npy"));
      REQUIRE(size == header.data_offset + rows * columns * 4);
    }
  }
}

TEST_CASE("rows lie one after the other in C order") {
  const TemporaryFolder folder;
  write_matrix<double>(folder / "a.npy", 2, 3, {0, 1, 2, 10, 11, 12});
  const std::string bytes = folder.read("a.npy");
  const auto offset = static_cast<std::size_t>(read_npy_header(folder / "a.npy").data_offset);
  double value = 0.0;
  std::memcpy(&value, bytes.data() + offset + 4 * sizeof(double), sizeof(double));
  CHECK(value == 11.0);
}

TEMPLATE_TEST_CASE("rows written out of order and by other processes read like rows written at once", "", double,
                   Complex) {
  const TemporaryFolder folder;
  constexpr std::int64_t rows = 101, columns = 13;
  const auto elements = random_elements<TestType>(rows * columns, 3);
  const std::span<const TestType> all(elements);
  struct Part {
    std::int64_t first, count;
  };
  std::vector<Part> parts;
  std::mt19937_64 random(4);
  for (std::int64_t first = 0; first < rows;) {
    const std::int64_t count = std::min<std::int64_t>(rows - first, std::uniform_int_distribution<int>(0, 9)(random));
    parts.push_back({first, count});
    first += count;
  }
  std::shuffle(parts.begin(), parts.end(), random);
  const auto row_span = [&](const Part& part) {
    return all.subspan(static_cast<std::size_t>(part.first * columns), static_cast<std::size_t>(part.count * columns));
  };

  const auto file = NpyMatrixFile::create<TestType>(folder / "a.npy", rows, columns);
  const NpyMatrixFile other(folder / "a.npy", file.part(), file.data_offset(), rows, columns);
  bool mine = false;
  for (const Part& part : parts) {
    mine = !mine;
    (mine ? file : other).template write_rows<TestType>(part.first, row_span(part));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "a.npy"));
  file.finish();
  CHECK(read_matrix<TestType>(folder / "a.npy") == elements);

  const NpyHeader header = read_npy_matrix_header<TestType>(folder / "a.npy");
  std::vector<TestType> in_parts(elements.size());
  for (const Part& part : parts) {
    read_npy_rows<TestType>(folder / "a.npy", header, part.first,
                            std::span(in_parts).subspan(static_cast<std::size_t>(part.first * columns),
                                                        static_cast<std::size_t>(part.count * columns)));
  }
  CHECK(in_parts == elements);
}

namespace {

/// Part of a matrix.
struct Block {
  std::int64_t row, column, rows, columns;

  std::size_t size() const { return static_cast<std::size_t>(rows * columns); }
};

/// A block cut in two again and again, anywhere, so that some parts are empty.
void cut(const Block& block, int times, std::mt19937_64& random, std::vector<Block>& parts) {
  if (times == 0) {
    parts.push_back(block);
    return;
  }
  const bool rows = random() % 2 == 0;
  const auto extent = static_cast<std::uint64_t>(rows ? block.rows : block.columns);
  const auto at = static_cast<std::int64_t>(random() % (extent + 1));
  Block first = block, second = block;
  (rows ? first.rows : first.columns) = at;
  (rows ? second.rows : second.columns) -= at;
  (rows ? second.row : second.column) += at;
  cut(first, times - 1, random, parts);
  cut(second, times - 1, random, parts);
}

template <class Element>
std::vector<Element> elements_of(const Block& block, const std::vector<Element>& matrix, std::int64_t columns) {
  std::vector<Element> elements;
  for (std::int64_t i = 0; i < block.rows; ++i) {
    for (std::int64_t j = 0; j < block.columns; ++j) {
      elements.push_back(matrix[static_cast<std::size_t>((block.row + i) * columns + block.column + j)]);
    }
  }
  return elements;
}

}  // namespace

TEMPLATE_TEST_CASE("a tiling written in any order and by other processes reads like rows written at once", "", double,
                   float, Complex) {
  const TemporaryFolder folder;
  std::mt19937_64 random(5);
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {1, 29}, {29, 1}, {31, 17}, {0, 5}, {5, 0}}) {
    for (int round = 0; round < 5; ++round) {
      CAPTURE(rows, columns, round);
      const auto elements = random_elements<TestType>(rows * columns, static_cast<unsigned>(round));
      std::vector<Block> blocks;
      cut({0, 0, rows, columns}, round, random, blocks);
      std::shuffle(blocks.begin(), blocks.end(), random);
      const auto file = NpyMatrixFile::create<TestType>(folder / "a.npy", rows, columns);
      const NpyMatrixFile other(folder / "a.npy", file.part(), file.data_offset(), rows, columns);
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        const Block& block = blocks[i];
        (i % 2 == 0 ? file : other)
            .template write_block<TestType>(block.row, block.column, block.columns,
                                            elements_of(block, elements, columns));
      }
      file.finish();
      REQUIRE(read_matrix<TestType>(folder / "a.npy") == elements);

      cut({0, 0, rows, columns}, 4, random, blocks);
      const NpyHeader header = read_npy_matrix_header<TestType>(folder / "a.npy");
      for (const Block& block : blocks) {
        std::vector<TestType> found(block.size());
        read_npy_block<TestType>(folder / "a.npy", header, block.row, block.column, block.rows, block.columns, found);
        REQUIRE(found == elements_of(block, elements, columns));
      }
    }
  }
}

TEST_CASE("a block changes no element beside it") {
  const TemporaryFolder folder;
  const auto file = NpyMatrixFile::create<double>(folder / "a.npy", 4, 4);
  file.write_rows<double>(0, std::vector<double>(16, 1.0));
  file.write_block<double>(1, 2, 1, std::vector<double>{5.0, 6.0});
  file.finish();
  CHECK(read_matrix<double>(folder / "a.npy") == std::vector<double>{1, 1, 1, 1, 1, 1, 5, 1, 1, 1, 6, 1, 1, 1, 1, 1});
}

TEST_CASE("blocks that are not inside the matrix are refused with their place, and nothing is written") {
  const TemporaryFolder folder;
  write_matrix<double>(folder / "a.npy", 4, 5, random_elements<double>(20, 1));
  const NpyHeader header = read_npy_matrix_header<double>(folder / "a.npy");
  const auto file = NpyMatrixFile::create<double>(folder / "b.npy", 4, 5);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const Block& bad :
       {Block{-1, 0, 1, 1}, Block{0, -1, 1, 1}, Block{3, 0, 2, 5}, Block{3, 0, 2, 2}, Block{0, 4, 1, 2},
        Block{0, 3, 2, 3}, Block{5, 0, 1, 1}, Block{0, 6, 1, 1}, Block{most, 0, 1, 1}, Block{0, most, 1, 1}}) {
    CAPTURE(bad.row, bad.column, bad.rows, bad.columns);
    std::vector<double> elements(bad.size(), 7.0);
    CHECK_THROWS_MATCHES(
        read_npy_block<double>(folder / "a.npy", header, bad.row, bad.column, bad.rows, bad.columns, elements),
        FileFormatError,
        MessageMatches(ContainsSubstring((folder / "a.npy").string()) &&
                       ContainsSubstring("from row " + std::to_string(bad.row) + ", column " +
                                         std::to_string(bad.column) + ": are not in the array of 4 x 5")));
    CHECK_THROWS_MATCHES(file.write_block<double>(bad.row, bad.column, bad.columns, elements), InvalidArgument,
                         MessageMatches(ContainsSubstring((folder / "b.npy").string()) &&
                                        ContainsSubstring("from row " + std::to_string(bad.row) + ", column " +
                                                          std::to_string(bad.column)) &&
                                        ContainsSubstring("4 x 5")));
  }
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{-1, 1}, {1, -1}, {-1, -1}, {most, most}}) {
    CHECK_THROWS_AS(read_npy_block<double>(folder / "a.npy", header, 0, 0, rows, columns, std::span<double>()),
                    FileFormatError);
  }
  std::vector<double> three(3);
  CHECK_THROWS_MATCHES(read_npy_block<double>(folder / "a.npy", header, 0, 0, 2, 2, three), InvalidArgument,
                       MessageMatches(ContainsSubstring("2 x 2 elements") && ContainsSubstring("room for 3")));
  CHECK_THROWS_AS(read_npy_rows<double>(folder / "a.npy", header, 0, std::span<double>(three)), FileFormatError);
  CHECK_THROWS_AS(file.write_block<double>(0, 0, 2, three), InvalidArgument);
  CHECK_THROWS_AS(file.write_block<double>(0, 0, 0, three), InvalidArgument);
  CHECK_THROWS_AS(file.write_block<double>(0, 0, -3, three), InvalidArgument);
  CHECK_THROWS_AS(file.write_rows<double>(0, three), InvalidArgument);
  CHECK_THROWS_AS(file.write_rows<double>(4, std::vector<double>(5)), InvalidArgument);
  file.finish();
  CHECK(read_matrix<double>(folder / "b.npy") == std::vector<double>(20, 0.0));
  CHECK_THROWS_AS(read_npy_block<double>(folder / "none.npy", header, 0, 0, 1, 3, three), FileFormatError);
  file.discard();
  CHECK_THROWS_AS(file.write_block<double>(0, 0, 3, three), RuntimeFailure);
}

TEST_CASE("rows that nobody wrote are zero") {
  const TemporaryFolder folder;
  const auto file = NpyMatrixFile::create<double>(folder / "a.npy", 3, 2);
  file.write_rows<double>(1, std::vector<double>{5.0, 6.0});
  file.finish();
  CHECK(read_matrix<double>(folder / "a.npy") == std::vector<double>{0, 0, 5, 6, 0, 0});
}

TEST_CASE("an array appears under its name only when it is finished") {
  const TemporaryFolder folder;
  folder.write("a.npy", "what was there before");
  const auto file = NpyMatrixFile::create<double>(folder / "a.npy", 2, 2);
  file.write_rows<double>(0, std::vector<double>(4, 1.0));
  CHECK(folder.read("a.npy") == "what was there before");
  CHECK(std::filesystem::exists(file.part()));
  file.finish();
  CHECK_FALSE(std::filesystem::exists(file.part()));
  CHECK(read_matrix<double>(folder / "a.npy") == std::vector<double>(4, 1.0));
}

TEST_CASE("discard leaves nothing and may be called twice") {
  const TemporaryFolder folder;
  const auto file = NpyMatrixFile::create<double>(folder / "a.npy", 10, 10);
  file.discard();
  CHECK(folder.entries() == 0);
  CHECK_NOTHROW(file.discard());
  CHECK_THROWS_MATCHES(file.write_rows<double>(0, std::vector<double>(10)), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "a.npy").string())));
  CHECK_THROWS_MATCHES(file.finish(), RuntimeFailure, MessageMatches(ContainsSubstring((folder / "a.npy").string())));
  CHECK(folder.entries() == 0);
}

TEST_CASE("an array that cannot be made fails while running and leaves nothing") {
  const TemporaryFolder folder;
  folder.write("file", "text");
  CHECK_THROWS_MATCHES(NpyMatrixFile::create<double>(folder.path() / "file" / "a.npy", 2, 2), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "file").string())));
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  CHECK_THROWS_MATCHES(NpyMatrixFile::create<double>(folder / "a.npy", huge, huge), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "a.npy").string())));
  CHECK_THROWS_AS(NpyMatrixFile::create<double>(folder / "a.npy", -1, 2), InvalidArgument);
  CHECK_THROWS_AS(NpyMatrixFile::create<double>(folder / "a.npy", -2, -3), InvalidArgument);
  CHECK(folder.entries() == 1);
}

TEST_CASE("a name taken by a folder cannot be finished but can be discarded") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "a.npy" / "inner");
  const auto file = NpyMatrixFile::create<double>(folder / "a.npy", 2, 2);
  CHECK_THROWS_AS(file.finish(), RuntimeFailure);
  file.discard();
  CHECK(folder.entries() == 2);
}

TEST_CASE("an array behind a symbolic link replaces what the link leads to; a device takes it and stays") {
  const TemporaryFolder folder;
  folder.write("old.npy", "before");
  std::filesystem::create_symlink("old.npy", folder / "link.npy");
  const auto write = [&](const char* name) {
    const auto file = NpyMatrixFile::create<double>(folder / name, 1, 2);
    file.write_rows<double>(0, std::vector<double>{1.0, 2.0});
    file.finish();
  };
  write("link.npy");
  CHECK(std::filesystem::is_symlink(folder / "link.npy"));
  CHECK(read_npy_header(folder / "old.npy").shape == std::vector<std::int64_t>{1, 2});
  CHECK(folder.entries() == 2);
  if (!make_null_device(folder / "null")) SKIP("this user may make no device");
  write("null");
  NpyMatrixFile::create<double>(folder / "null", 1, 2).discard();
  CHECK(std::filesystem::is_character_file(folder / "null"));
  CHECK(folder.entries() == 3);
}

TEST_CASE("pipes and devices are refused as arrays, at once") {
  const TemporaryFolder folder;
  const NamedPipe pipe(folder / "pipe");
  CHECK_THROWS_MATCHES(read_npy_header(folder / "pipe"), FileFormatError,
                       MessageMatches(ContainsSubstring("pipe: is a pipe")));
  CHECK_THROWS_MATCHES(NpyMatrixFile::create<double>(folder / "pipe", 1, 2), RuntimeFailure,
                       MessageMatches(ContainsSubstring("pipe: cannot be written: is a pipe")));
  CHECK(std::filesystem::is_fifo(folder / "pipe"));
  CHECK(folder.entries() == 1);
}

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

}  // namespace steelyard::test_npy
