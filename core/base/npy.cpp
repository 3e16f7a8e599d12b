#include "core/base/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <complex>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "core/base/text_file.hpp"

namespace steelyard {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr std::int64_t longest_header = 1 << 20;

constexpr std::array element_names = {"<f8", "<f4", "<c16", "<c8"};

/// The Python dictionary that a header is; discarded for what is none.
nlohmann::json parse_dictionary(const std::string& header) {
  std::string text;
  for (const char c : header) {
    if (c == ')' || c == ']' || c == '}') {
      // JSON has no comma there.
      text.erase(text.find_last_not_of(" \t\r\n") + 1);
      if (text.ends_with(',')) text.pop_back();
    }
    const bool ends_long = c == 'L' && !text.empty() && std::isdigit(static_cast<unsigned char>(text.back())) != 0;
    if (!ends_long) text += c == '\'' ? '"' : c == '(' ? '[' : c == ')' ? ']' : c;
  }
  for (const auto& [word, letter] : {std::pair{"False", 'f'}, {"True", 't'}}) {
    if (const std::size_t at = text.find(word); at != std::string::npos) text[at] = letter;
  }
  return nlohmann::json::parse(text, nullptr, false);
}

/// Whether these are sizes and were written as a tuple: `()`, `(5,)`, `(5, 6)`, …; to Python (5) is a number.
bool is_shape(const nlohmann::json& sizes, const std::string& header) {
  const std::size_t open = header.find('('), close = header.find(')', open), comma = header.find(',', open);
  const auto is_size = [](const nlohmann::json& size) {
    return size.is_number_unsigned() && size.get<std::int64_t>() >= 0;
  };
  return open != std::string::npos && sizes.is_array() && (sizes.size() != 1 || comma < close) &&
         std::ranges::all_of(sizes, is_size);
}

std::int64_t bytes_of_shape(const std::filesystem::path& path, const NpyHeader& header) {
  std::int64_t bytes = std::stoi(header.element.substr(2));
  for (const std::int64_t extent : header.shape) {
    if (extent > 0 && bytes > std::numeric_limits<std::int64_t>::max() / extent) {
      throw FileFormatError(path.string(), "shape", "asks for more than 2^63 bytes");
    }
    bytes *= extent;
  }
  return bytes;
}

/// Part of a matrix.
struct Block {
  std::int64_t row, column, rows, columns;

  std::string text() const {
    return fmt::format("{} x {} elements from row {}, column {}", rows, columns, row, column);
  }
};

bool lies_inside(const Block& block, std::int64_t rows, std::int64_t columns) {
  const auto fits = [](std::int64_t first, std::int64_t count, std::int64_t extent) {
    return first >= 0 && first <= extent && count >= 0 && count <= extent - first;
  };
  return fits(block.row, block.rows, rows) && fits(block.column, block.columns, columns);
}

/// Calls visit(element of the matrix, element of the block, how many) for every piece of a block without gaps in it.
template <class Visit>
void for_pieces(const Block& block, std::int64_t row_length, const Visit& visit) {
  const bool whole_rows = block.columns == row_length;
  const std::int64_t pieces = whole_rows ? 1 : block.rows;
  const std::int64_t length = whole_rows ? block.rows * block.columns : block.columns;
  for (std::int64_t i = 0; i < pieces; ++i) {
    visit((block.row + i) * row_length + block.column, static_cast<std::size_t>(i * length),
          static_cast<std::size_t>(length));
  }
}

}  // namespace

NpyHeader read_npy_header(const std::filesystem::path& path) {
  const auto fail = [&](const char* where, const std::string& problem) {
    throw FileFormatError(path.string(), where, problem);
  };
  std::ifstream file = open_binary_file(path, "NumPy .npy file");
  std::array<unsigned char, 12> start{};
  file.read(reinterpret_cast<char*>(start.data()), 10);
  if (!file || std::memcmp(start.data(), magic.data(), magic.size()) != 0) {
    fail("first bytes", "are not those of a NumPy .npy file");
  }
  const int version = start[6];
  if (version < 1 || version > 3) fail("byte 6", fmt::format("format version {} (expected 1 to 3)", version));
  std::int64_t length = start[8] + 256 * start[9];
  NpyHeader header;
  header.data_offset = 10;
  if (version > 1) {
    file.read(reinterpret_cast<char*>(start.data()) + 10, 2);
    length += 65536LL * (start[10] + 256LL * start[11]);
    header.data_offset = 12;
  }
  if (!file || length > longest_header) fail("header", fmt::format("of {} bytes (truncated or damaged)", length));
  std::string dictionary(static_cast<std::size_t>(length), '\0');
  file.read(dictionary.data(), length);
  if (!file) fail("header", "is truncated");
  header.data_offset += length;

  const nlohmann::json values = parse_dictionary(dictionary);
  if (!values.is_object() || values.size() != 3 || !values.contains("descr") || !values.contains("fortran_order") ||
      !values.contains("shape")) {
    fail("header", "is not {'descr': …, 'fortran_order': …, 'shape': …}");
  }
  const nlohmann::json& element = values["descr"];
  if (std::ranges::none_of(element_names, [&](const char* name) { return element == name; })) {
    fail("descr", fmt::format("is {} (expected \"<f8\", \"<f4\", \"<c16\" or \"<c8\")",
                              element.is_array() ? "a structured type" : excerpt(element)));
  }
  header.element = element.get<std::string>();
  if (values["fortran_order"] != false) {
    fail("fortran_order", "is not False (expected C order, as numpy.ascontiguousarray() makes it)");
  }
  if (!is_shape(values["shape"], dictionary)) {
    fail("shape", fmt::format("{} is not a tuple of sizes", excerpt(values["shape"])));
  }
  header.shape = values["shape"].get<std::vector<std::int64_t>>();
  const auto found = static_cast<std::int64_t>(std::filesystem::file_size(path)) - header.data_offset;
  const std::int64_t expected = bytes_of_shape(path, header);
  if (found < expected) fail("data", fmt::format("{} bytes (expected {} for the shape: truncated)", found, expected));
  return header;
}

template <class Element>
NpyHeader read_npy_matrix_header(const std::filesystem::path& path) {
  NpyHeader header = read_npy_header(path);
  if (header.element != npy_element<Element>()) {
    throw FileFormatError(path.string(), "descr",
                          fmt::format("is '{}' (expected '{}')", header.element, npy_element<Element>()));
  }
  if (header.shape.size() != 2) {
    throw FileFormatError(path.string(), "shape", fmt::format("has {} indices (expected 2)", header.shape.size()));
  }
  return header;
}

template <class Element>
void read_npy_block(const std::filesystem::path& path, const NpyHeader& header, std::int64_t first_row,
                    std::int64_t first_column, std::int64_t rows, std::int64_t columns, std::span<Element> block) {
  const Block place{first_row, first_column, rows, columns};
  const std::int64_t row_length = header.shape[1];
  if (!lies_inside(place, header.shape[0], row_length)) {
    throw FileFormatError(path.string(), place.text(),
                          fmt::format("are not in the array of {} x {}", header.shape[0], row_length));
  }
  if (static_cast<std::int64_t>(block.size()) != rows * columns) {
    throw InvalidArgument(fmt::format("{}: {}: room for {}", path.string(), place.text(), block.size()));
  }
  std::ifstream file(path, std::ios::binary);
  for_pieces(place, row_length, [&](std::int64_t in_matrix, std::size_t in_block, std::size_t count) {
    const std::span<Element> piece = block.subspan(in_block, count);
    file.seekg(header.data_offset + in_matrix * static_cast<std::int64_t>(sizeof(Element)));
    file.read(reinterpret_cast<char*>(piece.data()), static_cast<std::streamsize>(piece.size_bytes()));
  });
  if (!file) throw FileFormatError(path.string(), place.text(), "cannot be read");
}

NpyMatrixFile::NpyMatrixFile(const std::filesystem::path& path, const std::filesystem::path& part,
                             std::int64_t data_offset, std::int64_t rows, std::int64_t columns)
    : destination_(path), data_offset_(data_offset), rows_(rows), columns_(columns) {
  destination_.part = part;
}

template <class Element>
NpyMatrixFile NpyMatrixFile::create(const std::filesystem::path& path, std::int64_t rows, std::int64_t columns) {
  const std::string name = path.string(), extents = fmt::format("{} x {} elements", rows, columns);
  if (rows < 0 || columns < 0)
    throw InvalidArgument(fmt::format("{}: matrix of {} (expected sizes >= 0)", name, extents));
  const auto fail = [&](const std::string& problem) { throw RuntimeFailure(fmt::format("{}: {}", name, problem)); };
  constexpr auto most_elements =
      std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(2 * sizeof(Element));
  if (columns > 0 && rows > most_elements / columns) fail("no room for " + extents);
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                                       npy_element<Element>(), rows, columns);
  // The format asks for data aligned to 64 bytes and a header that ends in a line feed.
  const std::size_t unpadded = magic.size() + 4 + dictionary.size() + 1;
  dictionary.append((64 - unpadded % 64) % 64, ' ').push_back('\n');
  std::string start(magic);
  start += {'\x01', '\x00', static_cast<char>(dictionary.size() % 256), static_cast<char>(dictionary.size() / 256)};
  start += dictionary;
  const Destination destination(path);
  std::error_code error;
  if (std::filesystem::is_fifo(destination.path, error) || std::filesystem::is_socket(destination.path, error)) {
    fail("cannot be written: is a pipe (expected a file: ranks write their rows in any order)");
  }
  const std::filesystem::path& part = destination.part;
  write_text_file(part, start);
  const auto offset = static_cast<std::int64_t>(start.size());
  if (destination.is_special) return {path, part, offset, rows, columns};
  std::filesystem::resize_file(
      part, static_cast<std::uintmax_t>(offset) + static_cast<std::uintmax_t>(rows * columns) * sizeof(Element), error);
  if (error) {
    destination.discard();
    fail("no room for " + extents);
  }
  return {path, part, offset, rows, columns};
}

template <class Element>
void NpyMatrixFile::write_block(std::int64_t first_row, std::int64_t first_column, std::int64_t columns,
                                std::span<const Element> block) const {
  const auto elements = static_cast<std::int64_t>(block.size());
  const Block place{first_row, first_column, columns > 0 ? elements / columns : 0, columns};
  if (place.rows * columns != elements || !lies_inside(place, rows_, columns_)) {
    throw InvalidArgument(
        fmt::format("{}: {} elements in rows of {} from row {}, column {} (expected whole rows inside the {} x {} of "
                    "the matrix)",
                    destination_.path.string(), block.size(), columns, first_row, first_column, rows_, columns_));
  }
  std::fstream file(destination_.part, std::ios::binary | std::ios::in | std::ios::out);
  for_pieces(place, columns_, [&](std::int64_t in_matrix, std::size_t in_block, std::size_t count) {
    const std::span<const Element> piece = block.subspan(in_block, count);
    file.seekp(data_offset_ + in_matrix * static_cast<std::int64_t>(sizeof(Element)));
    file.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size_bytes()));
  });
  file.close();
  if (!file) throw RuntimeFailure(fmt::format("{}: {} cannot be written", destination_.path.string(), place.text()));
}

void NpyMatrixFile::append(const std::string& bytes) const {
  if (bytes.empty()) return;
  std::ofstream file(destination_.part, std::ios::binary | std::ios::app);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw RuntimeFailure(fmt::format("{}: its end cannot be written", destination_.path.string()));
}

#define STEELYARD_NPY_ELEMENT(Element)                                                                              \
  template NpyHeader read_npy_matrix_header<Element>(const std::filesystem::path&);                                 \
  template void read_npy_block<Element>(const std::filesystem::path&, const NpyHeader&, std::int64_t, std::int64_t, \
                                        std::int64_t, std::int64_t, std::span<Element>);                            \
  template NpyMatrixFile NpyMatrixFile::create<Element>(const std::filesystem::path&, std::int64_t, std::int64_t);  \
  template void NpyMatrixFile::write_block<Element>(std::int64_t, std::int64_t, std::int64_t,                       \
                                                    std::span<const Element>) const;
STEELYARD_NPY_ELEMENT(double)
STEELYARD_NPY_ELEMENT(float)
STEELYARD_NPY_ELEMENT(std::complex<double>)
STEELYARD_NPY_ELEMENT(std::complex<float>)
#undef STEELYARD_NPY_ELEMENT

}  // namespace steelyard
