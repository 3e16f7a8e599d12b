#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
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

}  // namespace steelyard::test_npy
