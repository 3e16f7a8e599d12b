// Arrays in files of NumPy's and of VTK's.
#include <sys/stat.h>

#include <complex>
#include <span>

#include "core/base/npy.hpp"
#include "core/base/vti_file.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/base/vti_parts.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_array_files {

using tests::numbers;
using tests::parse_vti;
using tests::TemporaryFolder;
using tests::VtiParts;

namespace {

using Complex = std::complex<double>;
using ComplexFloat = std::complex<float>;
using Sizes = std::vector<std::pair<std::int64_t, std::int64_t>>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Elements of any bits, not-a-numbers too.
template <class Element>
std::vector<Element> random_elements(std::int64_t count, std::mt19937_64& random) {
  std::vector<Element> elements(static_cast<std::size_t>(count));
  auto* const bytes = reinterpret_cast<unsigned char*>(elements.data());
  for (std::size_t i = 0; i < elements.size() * sizeof(Element); ++i) bytes[i] = static_cast<unsigned char>(random());
  return elements;
}

template <class Element>
std::string bytes_of(const std::vector<Element>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Element)};
}

/// Part of a matrix.
struct Block {
  std::int64_t row, column, rows, columns;

  std::size_t size() const { return static_cast<std::size_t>(rows * columns); }
};

/// A matrix cut at that many random rows and columns, in random order; some parts are empty.
std::vector<Block> cut(std::int64_t rows, std::int64_t columns, int times, std::mt19937_64& random) {
  const auto bounds = [&](std::int64_t extent) {
    std::vector<std::int64_t> all{0, extent};
    for (int i = 0; i < times; ++i) all.push_back(std::uniform_int_distribution<std::int64_t>(0, extent)(random));
    std::sort(all.begin(), all.end());
    return all;
  };
  const std::vector<std::int64_t> down = bounds(rows), along = bounds(columns);
  std::vector<Block> parts;
  for (std::size_t i = 0; i + 1 < down.size(); ++i) {
    for (std::size_t j = 0; j + 1 < along.size(); ++j) {
      parts.push_back({down[i], along[j], down[i + 1] - down[i], along[j + 1] - along[j]});
    }
  }
  std::shuffle(parts.begin(), parts.end(), random);
  return parts;
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

std::string dictionary_of(const std::string& shape, const std::string& descr = "<f8") {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
}

const std::string good_dictionary = dictionary_of("(2, 3)");
const std::vector<double> six = {0.5, 1.5, 2.5, 3.5, 4.5, 5.5};

}  // namespace

TEMPLATE_TEST_CASE("blocks written in any order and by other processes are read back bit for bit, in any blocks", "",
                   double, float, Complex, ComplexFloat) {
  const TemporaryFolder folder;
  std::mt19937_64 random(5);
  const auto path = folder / "a.npy";
  for (const auto& [rows, columns] : Sizes{{1, 1}, {1, 29}, {29, 1}, {31, 17}, {0, 5}, {5, 0}, {0, 0}, {12345, 7}}) {
    for (int round = 0; round < 5; ++round) {
      CAPTURE(rows, columns, round);
      const auto elements = random_elements<TestType>(rows * columns, random);
      const auto file = NpyMatrixFile::create<TestType>(path, rows, columns);
      const NpyMatrixFile other(path, file.part(), file.data_offset(), rows, columns);
      const std::vector<Block> blocks = cut(rows, columns, round, random);
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        const Block& block = blocks[i];
        const auto part = elements_of(block, elements, columns);
        const NpyMatrixFile& writer = i % 2 == 0 ? file : other;
        writer.template write_block<TestType>(block.row, block.column, block.columns, part);
      }
      file.finish();
      // As NumPy lays it out: C order, behind a header that ends at a multiple of 64 bytes.
      const NpyHeader header = read_npy_matrix_header<TestType>(path);
      const std::string bytes = folder.read("a.npy");
      const auto offset = static_cast<std::size_t>(header.data_offset);
      REQUIRE(header.shape == std::vector<std::int64_t>{rows, columns});
      REQUIRE(header.data_offset == file.data_offset());
      REQUIRE(offset % 64 == 0);
      REQUIRE(bytes.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
      REQUIRE(bytes[offset - 1] == '\n');
      const bool same = bytes.substr(offset) == bytes_of(elements);
      REQUIRE(same);
      REQUIRE(folder.entries() == 1);
      for (const Block& block : cut(rows, columns, 2, random)) {
        std::vector<TestType> found(block.size());
        read_npy_block<TestType>(path, header, block.row, block.column, block.rows, block.columns, found);
        const bool right = bytes_of(found) == bytes_of(elements_of(block, elements, columns));
        REQUIRE(right);
      }
    }
  }
}

TEST_CASE("blocks that are not inside the matrix are refused, and nothing is written") {
  const TemporaryFolder folder;
  const auto whole = folder.write("a.npy", numpy_header(dictionary_of("(4, 5)")) + std::string(160, '\0'));
  const NpyHeader header = read_npy_matrix_header<double>(whole);
  const auto file = NpyMatrixFile::create<double>(folder / "b.npy", 4, 5);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const Block& bad :
       {Block{-1, 0, 1, 1}, Block{0, -1, 1, 1}, Block{3, 0, 2, 5}, Block{3, 0, 2, 2}, Block{0, 4, 1, 2},
        Block{0, 3, 2, 3}, Block{5, 0, 1, 1}, Block{0, 6, 1, 1}, Block{most, 0, 1, 1}, Block{0, most, 1, 1}}) {
    CAPTURE(bad.row, bad.column, bad.rows, bad.columns);
    std::vector<double> elements(bad.size(), 7.0);
    CHECK_THROWS_MATCHES(read_npy_block<double>(whole, header, bad.row, bad.column, bad.rows, bad.columns, elements),
                         FileFormatError, MessageMatches(ContainsSubstring("4 x 5")));
    CHECK_THROWS_MATCHES(file.write_block<double>(bad.row, bad.column, bad.columns, elements), InvalidArgument,
                         MessageMatches(ContainsSubstring("4 x 5")));
  }
  for (const auto& [rows, columns] : Sizes{{-1, 1}, {1, -1}, {-1, -1}, {most, most}}) {
    CHECK_THROWS_AS(read_npy_block<double>(whole, header, 0, 0, rows, columns, std::span<double>()), FileFormatError);
  }
  std::vector<double> three(3);
  CHECK_THROWS_AS(read_npy_block<double>(whole, header, 0, 0, 2, 2, three), InvalidArgument);
  CHECK_NOTHROW(read_npy_block<double>(whole, header, 4, 0, 0, 5, std::span<double>()));
  for (const std::int64_t columns : {5, 2, 0, -3}) {
    CHECK_THROWS_AS(file.write_block<double>(0, 0, columns, three), InvalidArgument);
  }
  file.finish();
  const NpyHeader written = read_npy_matrix_header<double>(folder / "b.npy");
  std::vector<double> all(20, 1.0);
  read_npy_block<double>(folder / "b.npy", written, 0, 0, 4, 5, all);
  CHECK(all == std::vector<double>(20, 0.0));
  CHECK_THROWS_AS(read_npy_block<double>(folder / "none.npy", header, 0, 0, 1, 3, three), FileFormatError);
}

TEST_CASE("an array has its name once it is finished; one that is discarded or cannot be leaves nothing") {
  const TemporaryFolder folder;
  folder.write("a.npy", "before");
  std::filesystem::create_directories(folder.path() / "taken" / "inner");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const auto says = [&](const std::string& name) {
    return MessageMatches(ContainsSubstring((folder / name).string()));
  };
  const auto file = NpyMatrixFile::create<double>(folder / "a.npy", 2, 2);
  const auto left = NpyMatrixFile::create<double>(folder / "b.npy", 10, 10);
  CHECK(folder.read("a.npy") == "before");
  file.finish();
  CHECK(read_npy_header(folder / "a.npy").shape == std::vector<std::int64_t>{2, 2});
  left.discard();
  CHECK_THROWS_MATCHES(left.write_block<double>(0, 0, 10, std::vector<double>(10)), RuntimeFailure, says("b.npy"));
  CHECK_THROWS_AS(left.finish(), RuntimeFailure);
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  CHECK_THROWS_MATCHES(NpyMatrixFile::create<double>(folder / "a.npy/b.npy", 2, 2), RuntimeFailure, says("a.npy"));
  CHECK_THROWS_MATCHES(NpyMatrixFile::create<double>(folder / "b.npy", huge, huge), RuntimeFailure, says("b.npy"));
  CHECK_THROWS_MATCHES(NpyMatrixFile::create<double>(folder / "pipe", 1, 2), RuntimeFailure, says("pipe"));
  CHECK_THROWS_AS(NpyMatrixFile::create<double>(folder / "b.npy", -1, 2), InvalidArgument);
  CHECK_THROWS_AS(NpyMatrixFile::create<double>(folder / "b.npy", -2, -3), InvalidArgument);
  const auto folder_in_its_place = NpyMatrixFile::create<double>(folder / "taken", 2, 2);
  CHECK_THROWS_AS(folder_in_its_place.finish(), RuntimeFailure);
  folder_in_its_place.discard();
  for (const char* const name : {"pipe", "none", "taken"}) {
    CHECK_THROWS_MATCHES(read_npy_header(folder / name), FileFormatError, says(name));
  }
  CHECK(folder.entries() == 4);
}

TEST_CASE("files are read as NumPy writes them, of all versions, spellings and numbers of indices") {
  const TemporaryFolder folder;
  const auto shape_of = [&](const std::string& dictionary, int version) {
    return read_npy_header(folder.write("a.npy", numpy_header(dictionary, version) + bytes_of(six))).shape;
  };
  using Shape = std::vector<std::int64_t>;
  for (const std::string& dictionary :
       {good_dictionary, std::string("{'shape': (2, 3), 'fortran_order': False, 'descr': '<f8'}"),
        std::string("{'descr':'<f8','fortran_order':False,'shape':(2,3)}"), dictionary_of("( 2 , 3 , )"),
        dictionary_of("(2L, 3L)"), good_dictionary + std::string(60000, ' ')}) {
    for (const int version : {1, 2, 3}) {
      REQUIRE(shape_of(dictionary, version) == Shape{2, 3});
      std::vector<double> last_row(3);
      read_npy_block<double>(folder / "a.npy", read_npy_matrix_header<double>(folder / "a.npy"), 1, 0, 1, 3, last_row);
      REQUIRE(last_row == std::vector<double>{3.5, 4.5, 5.5});
    }
  }
  CHECK(shape_of(good_dictionary + std::string(70000, ' '), 2) == Shape{2, 3});
  CHECK(shape_of(dictionary_of("()"), 1).empty());
  CHECK(shape_of(dictionary_of("(6,)"), 1) == Shape{6});
  CHECK(shape_of(dictionary_of("(1, 2, 3)"), 1) == Shape{1, 2, 3});
  CHECK(shape_of(dictionary_of("(0, 123456789)"), 1) == Shape{0, 123456789});
}

TEST_CASE("a file cut anywhere, of another format or with a length that makes no sense is refused") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& bytes, const std::string& words) {
    REQUIRE_THROWS_MATCHES(read_npy_header(folder.write("a.npy", bytes)), FileFormatError,
                           MessageMatches(ContainsSubstring("a.npy: " + words)));
  };
  for (const int version : {1, 2}) {
    const std::string whole = numpy_header(good_dictionary, version) + bytes_of(six);
    for (std::size_t size = 0; size < whole.size(); ++size) refused(whole.substr(0, size), "");
    for (const char other : {'\0', '\x04', '\xff'}) {
      std::string bytes = whole;
      bytes[6] = other;
      refused(bytes, "byte 6");
    }
    std::string bytes = whole;
    bytes[0] = 'x';
    refused(bytes, "first bytes:");
  }
  std::string bytes = numpy_header(good_dictionary, 2);
  for (std::size_t i = 8; i < 12; ++i) bytes[i] = '\xff';
  refused(bytes, "header");
}

TEST_CASE("a header that the suite cannot use, or not as the matrix asked for, is refused with the key that is wrong") {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& dictionary) {
    return folder.write("a.npy", numpy_header(dictionary) + bytes_of(six));
  };
  const auto says = [](const std::string& key) { return MessageMatches(ContainsSubstring("a.npy: " + key)); };
  const auto refused = [&](const std::string& dictionary, const std::string& key) {
    CAPTURE(dictionary);
    CHECK_THROWS_MATCHES(read_npy_header(write(dictionary)), FileFormatError, says(key));
  };
  for (const char* descr : {">f8", "<i8", "<c32", "|O"}) refused(dictionary_of("(2, 3)", descr), "descr");
  for (const char* shape :
       {"(-2, -3)", "(2.5, 3)", "6", "[2, 3]", "(99999999999999999999, 1)", "(4611686018427387904, 4)", "(6)"}) {
    refused(dictionary_of(shape), "shape");
  }
  for (const char* shape : {"(a, b)", "(2 3)", "(2,, 3)", "(, 2, 3)", "(+2, 3)"})
    refused(dictionary_of(shape), "header");
  const std::string most = "{'descr': '<f8', 'fortran_order': False", rest = "'fortran_order': False, 'shape': (2, 3)}";
  refused("{'descr': [('a', '<f8', (2,))], " + rest, "descr: is a structured type");
  refused("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", "fortran_order");
  for (const std::string& dictionary :
       std::vector<std::string>{most + "}", most + ", 'shape': (2, 3", most + ", 'descr': '<f8'}",
                                most + ", 'shape': (2, 3), 'more': 1}", "{" + rest, "{'descr': '<f8', 'shape': (2, 3)}",
                                "{'descr': x<f8x, " + rest, "{'descr': '<f8, " + rest, "{xdescrx: '<f8', " + rest,
                                "{'descr': '<f8' " + rest, good_dictionary + " more", good_dictionary.substr(1)}) {
    refused(dictionary, "header");
  }
  CHECK_NOTHROW(read_npy_matrix_header<Complex>(write(dictionary_of("(1, 3)", "<c16"))));
  CHECK_THROWS_MATCHES(read_npy_matrix_header<double>(write(dictionary_of("(2, 3)", "<f4"))), FileFormatError,
                       says("descr"));
  for (const char* shape : {"(6,)", "(1, 2, 3)"}) {
    CHECK_THROWS_MATCHES(read_npy_matrix_header<double>(write(dictionary_of(shape))), FileFormatError, says("shape"));
  }
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
      const std::string letter(1, alphabet[below(alphabet.size())]);
      header.replace(below(header.size()), below(2), letter, 0, below(2));
    }
    try {
      const NpyHeader found = read_npy_header(folder.write("a.npy", header + bytes_of(six)));
      ++read;
      std::int64_t elements = 1;
      for (const std::int64_t extent : found.shape) elements *= extent;
      REQUIRE((elements >= 0 && elements <= 12));
      REQUIRE(header.find(found.element) != std::string::npos);
    } catch (const FileFormatError& error) {
      REQUIRE(std::string(error.what()).size() < 400);
    }
  }
  CHECK(read > 100);
}

TEMPLATE_TEST_CASE("a VTK file tells where its points lie, and has its fields bit for bit behind their lengths", "",
                   double, float) {
  const TemporaryFolder folder;
  std::mt19937_64 random(7);
  for (const auto& [rows, columns] : Sizes{{1, 1}, {1, 17}, {17, 1}, {3, 5}, {101, 13}, {2, 100000}}) {
    CAPTURE(rows, columns);
    const auto two = random_elements<TestType>(2 * rows * columns, random);
    const auto one = random_elements<TestType>(rows * columns, random);
    const auto three = random_elements<TestType>(3 * rows * columns, random);
    write_vti_file<TestType>(folder / "a.vti", {rows, columns, {1.0 / 3.0, 1e-300}, {-0.1, 12345678.9}},
                             {{"two", 2, two}, {"a<b & \"c\"", 1, one}, {"v", 3, three}, {"two", 1, one}});
    const VtiParts parsed = parse_vti(folder.read("a.vti"));
    REQUIRE(parsed.arrays.size() == 4);
    for (const VtiParts::Array& array : parsed.arrays) {
      REQUIRE(array.attributes.at("type") == (sizeof(TestType) == 8 ? "Float64" : "Float32"));
      REQUIRE(array.attributes.at("format") == "appended");
    }
    const bool same = parsed.arrays[0].data == bytes_of(two) && parsed.arrays[1].data == bytes_of(one) &&
                      parsed.arrays[2].data == bytes_of(three) && parsed.arrays[3].data == bytes_of(one);
    REQUIRE(same);
    REQUIRE(parsed.arrays[0].attributes.at("NumberOfComponents") == "2");
    REQUIRE(parsed.arrays[1].attributes.count("NumberOfComponents") == 0);
    REQUIRE(parsed.arrays[2].attributes.at("NumberOfComponents") == "3");
    REQUIRE(parsed.arrays[1].attributes.at("Name") == "a&lt;b &amp; &quot;c&quot;");
    const auto& attributes = parsed.attributes;
    REQUIRE(attributes.at("PointData.Scalars") == parsed.arrays[1].attributes.at("Name"));
    REQUIRE(attributes.at("PointData.Vectors") == "v");
    const std::string extent = "0 " + std::to_string(columns - 1) + " 0 " + std::to_string(rows - 1) + " 0 0";
    REQUIRE(attributes.at("ImageData.WholeExtent") == extent);
    REQUIRE(attributes.at("Piece.Extent") == extent);
    REQUIRE(numbers(attributes.at("ImageData.Spacing")) == std::vector<double>{1.0 / 3.0, 1e-300, 1.0});
    REQUIRE(numbers(attributes.at("ImageData.Origin")) == std::vector<double>{-0.1, 12345678.9, 0.0});
    REQUIRE(attributes.at("VTKFile.type") == "ImageData");
    REQUIRE(attributes.at("VTKFile.version") == "1.0");
    REQUIRE(attributes.at("VTKFile.byte_order") == "LittleEndian");
    REQUIRE(attributes.at("VTKFile.header_type") == "UInt64");
    REQUIRE(attributes.at("AppendedData.encoding") == "raw");
    REQUIRE(folder.entries() == 1);
  }
}

TEST_CASE("grids and arrays that VTK cannot show are refused with their values before anything is made") {
  const TemporaryFolder folder;
  constexpr std::int64_t huge = std::int64_t{1} << 31;
  const std::vector<double> four(4);
  const struct {
    std::vector<VtiArray<double>> arrays;
    VtiGrid grid;
    std::string words;
  } cases[] = {{{}, {2, 2}, "no values"},
               {{{"u", 0, {}}}, {2, 2}, "0 components of 2 x 2"},
               {{{"w", 3, four}}, {2, 2}, "4 values of w"},
               {{{"u", 1, four}, {"v", 1, {}}}, {2, 2}, "0 values of v"},
               {{{"", 1, four}}, {2, 2}, "without a name"},
               {{{"u", 1, {}}}, {0, 3}, "0 x 3"},
               {{{"u", 1, {}}}, {3, 0}, "3 x 0"},
               {{{"u", 1, four}}, {-2, -2}, "-2 x -2"},
               {{{"u", 1, four}}, {huge, huge}, std::to_string(huge)},
               {{{"u", 1, four}}, {2, 2, {0.0, 1.0}}, "spacing 0"},
               {{{"u", 1, four}}, {2, 2, {infinity, 1.0}}, "spacing inf"},
               {{{"u", 1, four}}, {2, 2, {1.0, not_a_number}}, "spacing nan"},
               {{{"u", 1, four}}, {2, 2, {1.0, 1.0}, {0.0, infinity}}, "origin inf"},
               {{{"u", 1, four}}, {2, 2, {1.0, 1.0}, {not_a_number, 0.0}}, "origin nan"}};
  for (const auto& [arrays, grid, words] : cases) {
    CHECK_THROWS_MATCHES(write_vti_file(folder / "a.vti", grid, arrays), InvalidArgument,
                         MessageMatches(ContainsSubstring("a.vti: ") && ContainsSubstring(words)));
  }
  CHECK(folder.entries() == 0);
}

}  // namespace steelyard::test_array_files
