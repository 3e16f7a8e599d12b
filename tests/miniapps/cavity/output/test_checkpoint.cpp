#include <sys/stat.h>

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "miniapps/cavity/output/checkpoint.hpp"
#include "tests/base/full_disk.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/miniapps/cavity/output/known_flow.hpp"

namespace steelyard::test_checkpoint {

using Catch::Matchers::ContainsSubstring;
using namespace steelyard::cavity;
using steelyard::cavity::tests::cavity_of;
using steelyard::cavity::tests::random_flow;
using steelyard::tests::failure_on_full_disk;
using steelyard::tests::TemporaryFolder;

namespace {

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

/// What reading says; it must refuse.
std::string refusal(const std::filesystem::path& path, const Problem& problem) {
  try {
    read_checkpoint(path, problem);
  } catch (const FileFormatError& error) {
    CHECK_THAT(error.what(), ContainsSubstring(path.string() + ": "));
    return error.what();
  }
  FAIL("read without complaint");
  return "";
}

struct Parts {
  nlohmann::ordered_json header;
  std::string data;
};

Parts parts(const std::string& bytes) {
  const std::size_t end = bytes.find('\n');
  REQUIRE(end != std::string::npos);
  return {nlohmann::ordered_json::parse(bytes.substr(0, end)), bytes.substr(end + 1)};
}

}  // namespace

TEST_CASE("a flow is read back bit for bit with its time and steps") {
  const TemporaryFolder folder;
  for (Problem problem : {cavity_of(1, 1), cavity_of(7, 5, 0.1), cavity_of(64, 65, 1.0, 400.0)}) {
    for (const TimeScheme scheme : {TimeScheme::euler, TimeScheme::crank_nicolson}) {
      problem.scheme = scheme;
      problem.time_step = 1.0 / 3.0;
      FlowState state = random_flow(problem, 8);
      state.p.back() = -0.0;
      state.p.front() = std::numeric_limits<double>::denorm_min();
      write_checkpoint(folder / "a.checkpoint", problem, state);
      const Checkpoint back = read_checkpoint(folder / "a.checkpoint", problem);
      CHECK(back.time_step == problem.time_step);
      CHECK(back.note(problem).empty());
      CHECK(back.state.rows == state.rows);
      CHECK(back.state.columns == state.columns);
      CHECK(back.state.steps == state.steps);
      CHECK(back.state.time == state.time);
      CHECK(same_bits(back.state.u, state.u));
      CHECK(same_bits(back.state.v, state.v));
      CHECK(same_bits(back.state.p, state.p));
      CHECK(same_bits(back.state.u_before, state.u_before));
      CHECK(same_bits(back.state.v_before, state.v_before));
    }
  }
  CHECK(folder.entries() == 1);
}

TEST_CASE("the first line says what the file holds and where") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(3, 4, 0.5, 1000.0);
  const FlowState state = random_flow(problem, 1);
  write_checkpoint(folder / "a", problem, state);
  const auto [header, data] = parts(folder.read("a"));
  CHECK(header["schema"] == "steelyard.cavity_checkpoint/1");
  CHECK(header["byte_order"] == "little");
  CHECK(header["element"] == "float64");
  CHECK(header["rows"] == 3);
  CHECK(header["columns"] == 4);
  CHECK(header["height"] == 0.5);
  CHECK(header["reynolds"] == 1000.0);
  CHECK(header["scheme"] == "euler");
  CHECK(header["time_step"] == 0.01);
  CHECK(header["steps"] == state.steps);
  CHECK(header["time"] == state.time);
  REQUIRE(data.size() == 480);
  REQUIRE(header["arrays"].size() == 5);
  const std::vector<std::pair<std::string, const std::vector<double>*>> arrays = {
      {"u", &state.u}, {"v", &state.v}, {"p", &state.p}, {"u_before", &state.u_before}, {"v_before", &state.v_before}};
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    CHECK(header["arrays"][k]["name"] == arrays[k].first);
    const std::string bytes(reinterpret_cast<const char*>(arrays[k].second->data()), 96);
    CHECK(data.substr(header["arrays"][k]["offset"], bytes.size()) == bytes);
  }
}

TEST_CASE("another grid, height, Reynolds number or scheme is refused with both values") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(8, 6, 0.5, 100.0);
  write_checkpoint(folder / "a", problem, random_flow(problem, 1));
  const auto refused = [&](const Problem& other) { return refusal(folder / "a", other); };
  CHECK_THAT(refused(cavity_of(9, 6, 0.5)), ContainsSubstring("rows: is 8 (expected 9)"));
  CHECK_THAT(refused(cavity_of(8, 7, 0.5)), ContainsSubstring("columns: is 6 (expected 7)"));
  CHECK_THAT(refused(cavity_of(6, 8, 0.5)), ContainsSubstring("rows: is 8 (expected 6)"));
  CHECK_THAT(refused(cavity_of(8, 6, 1.0)), ContainsSubstring("height: is 0.5 (expected 1.0)"));
  CHECK_THAT(refused(cavity_of(8, 6, 0.5, 400.0)), ContainsSubstring("reynolds: is 100.0 (expected 400.0)"));
  Problem scheme = problem;
  scheme.scheme = TimeScheme::crank_nicolson;
  CHECK_THAT(refused(scheme), ContainsSubstring(R"(scheme: is "euler" (expected "crank_nicolson"))"));
}

TEST_CASE("another time step or number of correctors is allowed, and the former is said") {
  const TemporaryFolder folder;
  Problem problem = cavity_of(4, 4);
  write_checkpoint(folder / "a", problem, random_flow(problem, 1));
  problem.correctors = 5;
  CHECK(read_checkpoint(folder / "a", problem).note(problem).empty());
  problem.time_step = 0.002;
  const std::string note = read_checkpoint(folder / "a", problem).note(problem);
  CHECK_THAT(note, ContainsSubstring("time steps of 0.01") && ContainsSubstring("goes on with 0.002"));
  CHECK_THAT(note, !ContainsSubstring("extrapolated"));
  problem.scheme = TimeScheme::crank_nicolson;
  CHECK_THAT(Checkpoint({FlowState{}, 0.01}).note(problem), ContainsSubstring("extrapolated"));
}

TEST_CASE("a file cut off anywhere, or with more behind it, is refused") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(3, 3);
  write_checkpoint(folder / "whole", problem, random_flow(problem, 2));
  const std::string bytes = folder.read("whole");
  const std::size_t header = bytes.find('\n') + 1;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    folder.write("a", bytes.substr(0, size));
    const std::string words = refusal(folder / "a", problem);
    if (size < header) {
      CHECK_THAT(words, ContainsSubstring("line 1: has no end (expected the JSON object of a steelyard.cavity"));
    } else {
      CHECK_THAT(words, ContainsSubstring("data: " + std::to_string(size - header) +
                                          " bytes (expected 360 for 3 x 3 cells: truncated)"));
    }
  }
  folder.write("a", bytes + "x");
  CHECK_THAT(refusal(folder / "a", problem), ContainsSubstring("361 bytes (expected 360"));
}

TEST_CASE("any flipped bit of the data is found") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(3, 2);
  write_checkpoint(folder / "whole", problem, random_flow(problem, 2));
  const std::string bytes = folder.read("whole");
  for (std::size_t at = bytes.find('\n') + 1; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      folder.write("a", damaged);
      CHECK_FALSE(refusal(folder / "a", problem).empty());
    }
  }
}

TEST_CASE("files of other kinds are refused with what was expected") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(3, 2);
  const auto refused = [&](const std::string& bytes) {
    folder.write("a", bytes);
    return refusal(folder / "a", problem);
  };
  CHECK_THAT(refused("\x93NUMPY\x01\n"), ContainsSubstring("line 1: is something else"));
  CHECK_THAT(refused("\n"), ContainsSubstring("line 1: is something else"));
  CHECK_THAT(refused("[1, 2]\n"), ContainsSubstring("line 1: is something else"));
  CHECK_THAT(refused("{}\n"), ContainsSubstring("schema: is missing"));
  CHECK_THAT(refused(R"({"schema": "steelyard.run/1"})"
                     "\n"),
             ContainsSubstring("schema: is \"steelyard.run/1\" (expected \"steelyard.cavity_checkpoint/1\")"));
  CHECK_THAT(refused(std::string(1 << 20, 'x')), ContainsSubstring("line 1: has no end"));
  CHECK_THAT(refusal(folder / "none", problem), ContainsSubstring("cannot be opened"));
  CHECK_THAT(refusal(folder.path(), problem), ContainsSubstring("is a folder"));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THAT(refusal(folder / "pipe", problem), ContainsSubstring("is a pipe"));
}

TEST_CASE("a header with a member that is missing or wrong is refused by the member's name") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(3, 2);
  write_checkpoint(folder / "whole", problem, random_flow(problem, 2));
  const Parts whole = parts(folder.read("whole"));
  const auto refused = [&](const nlohmann::ordered_json& changed) {
    folder.write("a", changed.dump() + "\n" + whole.data);
    return refusal(folder / "a", problem);
  };
  for (const auto& [key, value] : whole.header.items()) {
    nlohmann::ordered_json changed = whole.header;
    changed.erase(key);
    CHECK_THAT(refused(changed), ContainsSubstring(key + ": is missing"));
    changed = whole.header;
    changed[key] = nullptr;
    CHECK_THAT(refused(changed), ContainsSubstring(key + ": is null"));
  }
  const auto with = [&](const std::string& pointer, const nlohmann::ordered_json& value) {
    nlohmann::ordered_json changed = whole.header;
    changed[nlohmann::ordered_json::json_pointer(pointer)] = value;
    return refused(changed);
  };
  CHECK_THAT(with("/byte_order", "big"), ContainsSubstring("byte_order: is \"big\" (expected \"little\")"));
  CHECK_THAT(with("/element", "float32"), ContainsSubstring("element: is \"float32\""));
  CHECK_THAT(with("/steps", -1), ContainsSubstring("steps: is -1 (expected a whole number >= 0)"));
  CHECK_THAT(with("/steps", 1.5), ContainsSubstring("steps: is 1.5"));
  CHECK_THAT(with("/rows", 1e300), ContainsSubstring("rows: is 1e+300"));
  CHECK_THAT(with("/arrays/1/name", "w"), ContainsSubstring(R"(arrays: is [{"name":"u","offset":0},{"name":"w")"));
  CHECK_THAT(with("/arrays/2/offset", 8), ContainsSubstring(R"({"name":"p","offset":8})"));
  CHECK_THAT(with("/arrays", nlohmann::ordered_json::array()),
             ContainsSubstring(R"(arrays: is [] (expected [{"name":"u")"));
  CHECK_THAT(with("/checksum", "0"), ContainsSubstring("checksum: is \"0\"") && ContainsSubstring("damaged"));
  for (const double time : {-1.0, 1e300}) CHECK_THAT(with("/time", time), ContainsSubstring("damaged"));
  CHECK_THAT(with("/steps", 12345), ContainsSubstring("damaged"));
  CHECK_THAT(with("/time_step", 0.3), ContainsSubstring("damaged"));
}

TEST_CASE("values that are no flow's are refused with their place, in writing and in reading") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(3, 2);
  FlowState state = random_flow(problem, 2);
  write_checkpoint(folder / "good", problem, state);
  const Parts good = parts(folder.read("good"));
  const auto refused = [&](std::vector<double> FlowState::*field, std::int64_t array, std::int64_t cell, double value,
                           const std::string& words) {
    FlowState wrong = state;
    (wrong.*field)[static_cast<std::size_t>(cell)] = value;
    try {
      write_checkpoint(folder / "a", problem, wrong);
      FAIL("written");
    } catch (const InvalidArgument& error) {
      CHECK_THAT(error.what(), ContainsSubstring((folder / "a").string()) && ContainsSubstring(words));
    }
    std::string bytes = good.data;
    bytes.replace(static_cast<std::size_t>(8 * (6 * array + cell)), 8, reinterpret_cast<const char*>(&value), 8);
    folder.write("b", good.header.dump() + "\n" + bytes);
    CHECK_THAT(refusal(folder / "b", problem), ContainsSubstring(words));
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  refused(&FlowState::p, 2, 3, not_a_number, "is nan in row 1, column 1 (expected a finite number)");
  refused(&FlowState::u, 0, 5, -infinity, "is -inf in row 2, column 1 (expected a finite number)");
  refused(&FlowState::u, 0, 4, 0.5, "is 0.5 in row 2, column 0 (expected 0 on the wall)");
  refused(&FlowState::v_before, 4, 1, 0.5, "is 0.5 in row 0, column 1 (expected 0 on the wall)");
  CHECK(folder.entries() == 2);
}

TEST_CASE("a checkpoint on a disk without room is told, leaves nothing, and keeps the one before") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(50, 50);
  const FlowState state = random_flow(problem, 2);
  write_checkpoint(folder / "a", problem, state);
  FlowState later = state;
  later.steps += 1;
  const std::string failure =
      failure_on_full_disk<RuntimeFailure>(2000, [&] { write_checkpoint(folder / "a", problem, later); });
  CHECK_THAT(failure, ContainsSubstring((folder / "a").string() + ": cannot be written"));
  CHECK(folder.entries() == 1);
  CHECK(read_checkpoint(folder / "a", problem).state.steps == state.steps);
}

}  // namespace steelyard::test_checkpoint
