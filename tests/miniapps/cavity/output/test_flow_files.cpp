#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "miniapps/cavity/output/flow_files.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/base/vti_parts.hpp"
#include "tests/miniapps/cavity/output/known_flow.hpp"

namespace steelyard::test_flow_vti {

using Catch::Approx;
using namespace steelyard::cavity;
using steelyard::cavity::tests::cavity_of;
using steelyard::cavity::tests::flow_of;
using steelyard::tests::numbers;
using steelyard::tests::parse_vti;
using steelyard::tests::TemporaryFolder;
using steelyard::tests::VtiParts;

namespace {

std::vector<double> doubles(const std::string& bytes) {
  std::vector<double> values(bytes.size() / sizeof(double));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

TEST_CASE("image data has a point at each cell's centre, lengths in widths of the cavity") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(6, 4, 3.0);
  write_flow_vti(folder / "a.vti", problem, FlowState::at_rest(problem));
  const auto attributes = parse_vti(folder.read("a.vti")).attributes;
  CHECK(attributes.at("ImageData.WholeExtent") == "0 3 0 5 0 0");
  CHECK(numbers(attributes.at("ImageData.Spacing")) == std::vector<double>{0.25, 0.5, 1.0});
  CHECK(numbers(attributes.at("ImageData.Origin")) == std::vector<double>{0.125, 0.25, 0.0});
  CHECK(attributes.at("PointData.Vectors") == "velocity");
  CHECK(attributes.at("PointData.Scalars") == "pressure");
}

TEST_CASE("velocity, pressure and streamfunction at centres are those of a flow that is linear there") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(9, 7, 1.5);
  const auto u = [](double x, double y) { return 1.0 + 2.0 * x - y; };
  const auto v = [](double x, double y) { return 3.0 - x + 0.5 * y; };
  const auto p = [](double x, double y) { return x - 4.0 * y; };
  write_flow_vti(folder / "a.vti", problem, flow_of(problem, u, v, p));
  const VtiParts parts = parse_vti(folder.read("a.vti"));
  REQUIRE(parts.arrays.size() == 3);
  CHECK(parts.arrays[0].attributes.at("Name") == "velocity");
  CHECK(parts.arrays[1].attributes.at("Name") == "pressure");
  CHECK(parts.arrays[2].attributes.at("Name") == "streamfunction");
  const std::vector<double> velocity = doubles(parts.arrays[0].data);
  const std::vector<double> pressure = doubles(parts.arrays[1].data);
  REQUIRE(velocity.size() == 189);
  REQUIRE(pressure.size() == 63U);
  REQUIRE(doubles(parts.arrays[2].data).size() == 63U);
  for (std::size_t j = 1; j < 8; ++j) {
    for (std::size_t i = 1; i < 6; ++i) {
      const double x = (static_cast<double>(i) + 0.5) * problem.dx();
      const double y = (static_cast<double>(j) + 0.5) * problem.dy();
      const std::size_t at = 7 * j + i;
      CHECK(velocity[3 * at] == Approx(u(x, y)));
      CHECK(velocity[3 * at + 1] == Approx(v(x, y)));
      CHECK(velocity[3 * at + 2] == 0.0);
      CHECK(pressure[at] == Approx(p(x, y)));
    }
  }
}

TEST_CASE("beside walls, means take the walls' 0 for the faces that lie in them") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(2, 2);
  const auto one = [](double, double) { return 1.0; };
  write_flow_vti(folder / "a.vti", problem, flow_of(problem, one, one, one));
  CHECK(doubles(parse_vti(folder.read("a.vti")).arrays[0].data) ==
        std::vector<double>{0.5, 0.5, 0, 0.5, 0.5, 0, 0.5, 0.5, 0, 0.5, 0.5, 0});
}

TEST_CASE("the streamfunction at centres is the mean of that at corners") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(16, 16);
  const auto psi = [](double x, double y) { return -x * (1.0 - x) * y * (1.0 - y); };
  write_flow_vti(folder / "a.vti", problem, flow_of(problem, psi));
  const std::vector<double> values = doubles(parse_vti(folder.read("a.vti")).arrays[2].data);
  const double h = 1.0 / 16.0;
  for (std::size_t j = 0; j < 16; ++j) {
    for (std::size_t i = 0; i < 16; ++i) {
      const double x = static_cast<double>(i) * h;
      const double y = static_cast<double>(j) * h;
      CHECK(values[16 * j + i] ==
            Approx(0.25 * (psi(x, y) + psi(x + h, y) + psi(x, y + h) + psi(x + h, y + h))).margin(1e-15));
    }
  }
}

}  // namespace steelyard::test_flow_vti
