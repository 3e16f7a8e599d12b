#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <complex>

#include "core/base/errors.hpp"
#include "core/base/npy.hpp"
#include "miniapps/app/row_output.hpp"
#include "tests/miniapps/app/collective_error.hpp"
#include "tests/miniapps/app/shared_folder.hpp"

using namespace steelyard;
using namespace steelyard::tests;

namespace {

constexpr std::int64_t columns = 3;

/// Hands over the rows that are this rank's when rows are dealt out like cards, one at a time.
template <class Element>
void deal(std::int64_t rows, const RowSink<Element>& sink) {
  for (std::int64_t row = session().rank(); row < rows; row += session().size()) {
    std::vector<Element> elements;
    for (std::int64_t j = 0; j < columns; ++j) elements.push_back(static_cast<Element>(10.0 * row + j));
    sink(row, 1, elements);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a matrix has the rows of all ranks", "", double, float, std::complex<double>) {
  const SharedFolder folder;
  for (const std::int64_t rows : {0, 1, 17}) {
    const std::filesystem::path path = folder / "rows of a matrix.npy";
    write_rows<TestType>(session(), path, rows, columns,
                         [&](const RowSink<TestType>& sink) { deal<TestType>(rows, sink); });
    CHECK(folder.entries() == 1);
    const NpyHeader header = read_npy_matrix_header<TestType>(path);
    CHECK(header.shape == std::vector<std::int64_t>{rows, columns});
    std::vector<TestType> all(static_cast<std::size_t>(rows * columns));
    read_npy_rows<TestType>(path, header, 0, all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(all[i] ==
            static_cast<TestType>(10.0 * static_cast<double>(i / columns) + static_cast<double>(i % columns)));
    }
    // Everyone reads before it is written again.
    CHECK(folder.entries() == 1);
  }
}

TEST_CASE("without --output nothing is asked for or written") {
  bool asked = false;
  write_rows<double>(session(), "", 5, columns, [&](const RowSink<double>&) { asked = true; });
  CHECK_FALSE(asked);
}

TEST_CASE("a rank that fails is everyone's error, and a file that was there stays as it was") {
  const SharedFolder folder;
  const auto write = [&](const char* name, int failing) {
    write_rows<double>(session(), folder / name, 8, columns, [&](const RowSink<double>& sink) {
      deal<double>(8, sink);
      if (session().rank() == failing) throw RuntimeFailure("cannot be read back");
    });
  };
  write("good.npy", -1);
  for (int failing = 0; failing < session().size(); ++failing) {
    for (const char* name : {"good.npy", "new.npy"}) {
      const auto error = collective_error([&] { write(name, failing); });
      CHECK(error.has_value());
      if (error) CHECK(error->teller() == failing);
      CHECK(folder.entries() == 1);
      CHECK(read_npy_matrix_header<double>(folder / "good.npy").shape.front() == 8);
    }
  }
  CHECK(collective_error([&] { write("good.npy/below", -1); }).has_value());
  CHECK(folder.entries() == 1);
}
