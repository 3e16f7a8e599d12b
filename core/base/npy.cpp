#include "core/base/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <optional>

#include "core/base/errors.hpp"
#include "core/base/text_file.hpp"

namespace steelyard {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr std::int64_t longest_header = 1 << 20;

std::int64_t element_bytes(const std::string& element) {
  if (element == "<f8") return 8;
  if (element == "<f4") return 4;
  if (element == "<c16") return 16;
  if (element == "<c8") return 8;
  return 0;
}

/// A header's text, from front to back; blanks between its parts are passed over.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : left_(text) {}

  bool is_at_end() { return pass_blanks().empty(); }
  /// Takes this character where it is the next one.
  bool takes(char letter) {
    if (!pass_blanks().starts_with(letter)) return false;
    left_.remove_prefix(1);
    return true;
  }
  /// A quoted string, a tuple or a list, with its quotes or brackets, or a word; empty where there is none of these.
  std::string value() {
    const char first = pass_blanks().empty() ? '\0' : left_.front();
    std::size_t size = std::min(left_.find_first_of(" ,:}\n"), left_.size());
    if (first == '\'' || first == '"') size = left_.find(first, 1) + 1;
    if (first == '(' || first == '[') size = bracketed();
    std::string value(left_.substr(0, size));
    left_.remove_prefix(size);
    return value;
  }

 private:
  /// Length of the brackets in front with all inside; 0 where they are not closed.
  std::size_t bracketed() const {
    int depth = 0;
    for (std::size_t i = 0; i < left_.size(); ++i) {
      if (left_[i] == '(' || left_[i] == '[') ++depth;
      if ((left_[i] == ')' || left_[i] == ']') && --depth == 0) return i + 1;
    }
    return 0;
  }
  std::string_view pass_blanks() {
    left_.remove_prefix(std::min(left_.find_first_not_of(" \t\n\r"), left_.size()));
    return left_;
  }

  std::string_view left_;
};

bool is_quoted(const std::string& text) { return text.size() > 2 && (text.front() == '\'' || text.front() == '"'); }

std::string without_ends(const std::string& text) { return text.substr(1, text.size() - 2); }

/// Values by key of the Python dictionary that a header is; nothing for what is none.
std::optional<std::map<std::string, std::string>> parse_dictionary(const std::string& text) {
  HeaderText rest(text);
  std::map<std::string, std::string> values;
  if (!rest.takes('{')) return std::nullopt;
  for (bool more = true; !rest.takes('}'); more = rest.takes(',')) {
    const std::string key = rest.value();
    if (!more || !is_quoted(key) || !rest.takes(':')) return std::nullopt;
    const std::string value = rest.value();
    if (value.empty() || !values.emplace(without_ends(key), value).second) return std::nullopt;
  }
  return rest.is_at_end() ? std::optional(values) : std::nullopt;
}

/// `()`, `(5,)`, `(5, 6)`, …, of Python 2 also `(5L, 6L)`; nothing for what is no tuple of sizes, such as (5), which is
/// a number to Python.
std::optional<std::vector<std::int64_t>> parse_shape(const std::string& tuple) {
  if (tuple.front() != '(') return std::nullopt;
  const std::string inside = without_ends(tuple);
  HeaderText rest(inside);
  std::vector<std::int64_t> shape;
  bool has_comma = false;
  while (!rest.is_at_end()) {
    if (!shape.empty() && !has_comma) return std::nullopt;
    std::string word = rest.value();
    if (word.ends_with('L')) word.pop_back();
    const char* const end = word.data() + word.size();
    std::int64_t size = -1;
    const auto [read, error] = std::from_chars(word.data(), end, size);
    if (error != std::errc() || read != end || size < 0) return std::nullopt;
    shape.push_back(size);
    has_comma = rest.takes(',');
  }
  return shape.size() == 1 && !has_comma ? std::nullopt : std::optional(shape);
}

std::int64_t bytes_of_shape(const std::filesystem::path& path, const NpyHeader& header) {
  std::int64_t bytes = element_bytes(header.element);
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

/// How many rows of `columns` elements these are; nothing where the last one would not be whole.
std::optional<std::int64_t> rows_of(std::size_t elements, std::int64_t columns) {
  const auto count = static_cast<std::int64_t>(elements);
  if (columns <= 0) return columns == 0 && count == 0 ? std::optional<std::int64_t>(0) : std::nullopt;
  return count % columns == 0 ? std::optional(count / columns) : std::nullopt;
}

/// Calls visit(element of the matrix, element of the block, how many) for every piece of a block that has no gaps in
/// the matrix: whole rows are one.
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

template <>
const char* npy_element<double>() {
  return "<f8";
}
template <>
const char* npy_element<float>() {
  return "<f4";
}
template <>
const char* npy_element<std::complex<double>>() {
  return "<c16";
}
template <>
const char* npy_element<std::complex<float>>() {
  return "<c8";
}

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

  const auto values = parse_dictionary(dictionary);
  if (!values || values->size() != 3 || !values->contains("descr") || !values->contains("fortran_order") ||
      !values->contains("shape")) {
    fail("header", "is not {'descr': …, 'fortran_order': …, 'shape': …}");
  }
  const std::string& element = values->at("descr");
  header.element = is_quoted(element) ? without_ends(element) : "";
  if (element_bytes(header.element) == 0) {
    fail("descr", fmt::format("is {} (expected '<f8', '<f4', '<c16' or '<c8')", excerpt(element)));
  }
  if (values->at("fortran_order") != "False") {
    fail("fortran_order", "is not False (expected C order, as numpy.ascontiguousarray() makes it)");
  }
  const std::optional<std::vector<std::int64_t>> shape = parse_shape(values->at("shape"));
  if (!shape) fail("shape", fmt::format("{} is not a tuple of sizes", excerpt(values->at("shape"))));
  header.shape = *shape;
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

template <class Element>
void read_npy_rows(const std::filesystem::path& path, const NpyHeader& header, std::int64_t first_row,
                   std::span<Element> rows) {
  const std::optional<std::int64_t> count = rows_of(rows.size(), header.shape[1]);
  if (!count) {
    throw FileFormatError(path.string(), fmt::format("row {} and after", first_row),
                          fmt::format("room for {} elements (the array's rows have {})", rows.size(), header.shape[1]));
  }
  read_npy_block(path, header, first_row, 0, *count, header.shape[1], rows);
}

NpyMatrixFile::NpyMatrixFile(std::filesystem::path path, std::filesystem::path part, std::int64_t data_offset,
                             std::int64_t rows, std::int64_t columns)
    : path_(std::move(path)), part_(std::move(part)), data_offset_(data_offset), rows_(rows), columns_(columns) {}

template <class Element>
NpyMatrixFile NpyMatrixFile::create(const std::filesystem::path& path, std::int64_t rows, std::int64_t columns) {
  if (rows < 0 || columns < 0) {
    throw InvalidArgument(
        fmt::format("{}: matrix of {} x {} elements (expected sizes >= 0)", path.string(), rows, columns));
  }
  constexpr auto most_elements =
      std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(2 * sizeof(Element));
  if (columns > 0 && rows > most_elements / columns) {
    throw RuntimeFailure(fmt::format("{}: no room for {} x {} elements", path.string(), rows, columns));
  }
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
    throw RuntimeFailure(
        fmt::format("{}: cannot be written: is a pipe (expected a file: ranks write their rows in any "
                    "order)",
                    path.string()));
  }
  const std::filesystem::path& part = destination.part;
  write_text_file(part, start);
  const auto offset = static_cast<std::int64_t>(start.size());
  if (destination.is_special) return {path, part, offset, rows, columns};
  std::filesystem::resize_file(
      part, static_cast<std::uintmax_t>(offset) + static_cast<std::uintmax_t>(rows * columns) * sizeof(Element), error);
  if (error) {
    std::filesystem::remove(part, error);
    throw RuntimeFailure(fmt::format("{}: no room for {} x {} elements", path.string(), rows, columns));
  }
  return {path, part, offset, rows, columns};
}

template <class Element>
void NpyMatrixFile::write_block(std::int64_t first_row, std::int64_t first_column, std::int64_t columns,
                                std::span<const Element> block) const {
  const std::optional<std::int64_t> rows = rows_of(block.size(), columns);
  const Block place{first_row, first_column, rows.value_or(0), columns};
  if (!rows || !lies_inside(place, rows_, columns_)) {
    throw InvalidArgument(
        fmt::format("{}: {} elements in rows of {} from row {}, column {} (expected whole rows inside the {} x {} of "
                    "the matrix)",
                    path_.string(), block.size(), columns, first_row, first_column, rows_, columns_));
  }
  std::fstream file(part_, std::ios::binary | std::ios::in | std::ios::out);
  for_pieces(place, columns_, [&](std::int64_t in_matrix, std::size_t in_block, std::size_t count) {
    const std::span<const Element> piece = block.subspan(in_block, count);
    file.seekp(data_offset_ + in_matrix * static_cast<std::int64_t>(sizeof(Element)));
    file.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size_bytes()));
  });
  file.close();
  if (!file) throw RuntimeFailure(fmt::format("{}: {} cannot be written", path_.string(), place.text()));
}

template <class Element>
void NpyMatrixFile::write_rows(std::int64_t first_row, std::span<const Element> rows) const {
  write_block(first_row, 0, columns_, rows);
}

void NpyMatrixFile::finish() const {
  const Destination destination(path_);
  if (destination.is_special) return;
  std::error_code error;
  std::filesystem::rename(part_, destination.path, error);
  if (error) throw RuntimeFailure(fmt::format("{}: cannot be written: {}", path_.string(), error.message()));
}

void NpyMatrixFile::discard() const noexcept {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(part_, ignored)) std::filesystem::remove(part_, ignored);
}

#define STEELYARD_NPY_ELEMENT(Element)                                                                              \
  template NpyHeader read_npy_matrix_header<Element>(const std::filesystem::path&);                                 \
  template void read_npy_block<Element>(const std::filesystem::path&, const NpyHeader&, std::int64_t, std::int64_t, \
                                        std::int64_t, std::int64_t, std::span<Element>);                            \
  template void read_npy_rows<Element>(const std::filesystem::path&, const NpyHeader&, std::int64_t,                \
                                       std::span<Element>);                                                         \
  template NpyMatrixFile NpyMatrixFile::create<Element>(const std::filesystem::path&, std::int64_t, std::int64_t);  \
  template void NpyMatrixFile::write_block<Element>(std::int64_t, std::int64_t, std::int64_t,                       \
                                                    std::span<const Element>) const;                                \
  template void NpyMatrixFile::write_rows<Element>(std::int64_t, std::span<const Element>) const;
STEELYARD_NPY_ELEMENT(double)
STEELYARD_NPY_ELEMENT(float)
STEELYARD_NPY_ELEMENT(std::complex<double>)
STEELYARD_NPY_ELEMENT(std::complex<float>)
#undef STEELYARD_NPY_ELEMENT

}  // namespace steelyard
