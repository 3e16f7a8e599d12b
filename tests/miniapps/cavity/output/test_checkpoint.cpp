#include <sys/stat.h>

#include <bit>
#include <nlohmann/json.hpp>
#include <tuple>

#include "miniapps/cavity/output/flow_files.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/cavity/output/known_flow.hpp"

namespace steelyard::test_checkpoint {

using namespace steelyard::cavity;
using steelyard::cavity::tests::cavity_of;
using steelyard::cavity::tests::random_flow;
using steelyard::tests::TemporaryFolder;

namespace {

using Field = std::vector<double> FlowState::*;
const std::vector<std::pair<std::string, Field>> fields = {{"u", &FlowState::u},
                                                           {"v", &FlowState::v},
                                                           {"p", &FlowState::p},
                                                           {"u_before", &FlowState::u_before},
                                                           {"v_before", &FlowState::v_before}};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

/// What reading a file says; it must refuse.
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

}  // namespace

TEST_CASE("a flow is read back bit for bit with its time and steps, from where the first line says") {
  const TemporaryFolder folder;
  for (Problem problem : {cavity_of(1, 1), cavity_of(7, 5, 0.1), cavity_of(64, 65, 1.0, 400.0)}) {
    for (const TimeScheme scheme : {TimeScheme::euler, TimeScheme::crank_nicolson}) {
      problem.scheme = scheme;
      problem.time_step = 1.0 / 3.0;
      FlowState state = random_flow(problem, 8);
      state.p.back() = -0.0;
      state.p.front() = std::numeric_limits<double>::denorm_min();
      write_checkpoint(folder / "a", problem, state);
      const Checkpoint back = read_checkpoint(folder / "a", problem);
      CHECK(back.time_step == problem.time_step);
      CHECK(back.state.rows == state.rows);
      CHECK(back.state.columns == state.columns);
      CHECK(back.state.steps == state.steps);
      CHECK(back.state.time == state.time);
      const std::string bytes = folder.read("a");
      const std::string data = bytes.substr(bytes.find('\n') + 1);
      const auto header = nlohmann::json::parse(bytes.substr(0, bytes.find('\n')));
      const std::size_t each = state.u.size() * sizeof(double);
      CHECK(data.size() == 5 * each);
      for (std::size_t k = 0; k < fields.size(); ++k) {
        const std::vector<double>& values = state.*fields[k].second;
        CHECK(same_bits(back.state.*fields[k].second, values));
        CHECK(header["arrays"][k]["name"] == fields[k].first);
        CHECK(data.substr(header["arrays"][k]["offset"], each) ==
              std::string(reinterpret_cast<const char*>(values.data()), each));
      }
    }
  }
  CHECK(folder.entries() == 1);
}

TEST_CASE("another cavity or scheme is refused with both values, another time step noted, more correctors allowed") {
  const TemporaryFolder folder;
  Problem problem = cavity_of(8, 6, 0.5, 100.0);
  write_checkpoint(folder / "a", problem, random_flow(problem, 1));
  const auto expect = [&](const Problem& other, const std::string& words) {
    CHECK_THAT(refusal(folder / "a", other), ContainsSubstring(words));
  };
  expect(cavity_of(9, 6, 0.5), "rows: is 8 (expected 9)");
  expect(cavity_of(8, 7, 0.5), "columns: is 6 (expected 7)");
  expect(cavity_of(6, 8, 0.5), "rows: is 8 (expected 6)");
  expect(cavity_of(8, 6, 1.0), "height: is 0.5 (expected 1.0)");
  expect(cavity_of(8, 6, 0.5, 400.0), "reynolds: is 100.0 (expected 400.0)");
  Problem scheme = problem;
  scheme.scheme = TimeScheme::crank_nicolson;
  expect(scheme, R"(scheme: is "euler" (expected "crank_nicolson"))");

  problem.correctors = 5;
  CHECK(read_checkpoint(folder / "a", problem).note(problem).empty());
  problem.time_step = 0.002;
  const std::string note = read_checkpoint(folder / "a", problem).note(problem);
  CHECK_THAT(note, ContainsSubstring("time steps of 0.01") && ContainsSubstring("goes on with 0.002"));
}

TEST_CASE("files that are cut off, longer, damaged or of another kind are refused by place, with what was expected") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(3, 2);
  write_checkpoint(folder / "whole", problem, random_flow(problem, 2));
  const std::string whole = folder.read("whole");
  const std::size_t begin = whole.find('\n') + 1;
  const std::string data = whole.substr(begin);
  const auto header = nlohmann::ordered_json::parse(whole.substr(0, begin));
  const auto expect = [&](const std::string& bytes, const std::string& words) {
    CHECK_THAT(refusal(folder.write("a", bytes), problem), ContainsSubstring(words));
  };
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect(whole.substr(0, size), size < begin ? "line 1: has no end (expected the JSON object of a steelyard.cavity"
                                               : "bytes (expected 240 for 3 x 2 cells: truncated)");
  }
  for (std::size_t at = begin; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      expect(damaged, "");
    }
  }
  expect(whole + "x", "241 bytes (expected 240");
  for (const char* other : {"\x93NUMPY\x01\n", "\n", "[1, 2]\n"}) expect(other, "line 1: is something else");
  expect("{}\n", "schema: is missing");
  expect("{\"schema\": \"steelyard.run/1\"}\n", "steelyard.run/1");
  expect(std::string(1 << 20, 'x'), "line 1: has no end");
  for (const auto& [key, value] : header.items()) {
    nlohmann::ordered_json changed = header;
    changed.erase(key);
    expect(changed.dump() + "\n" + data, key + ": is missing");
    changed[key] = nullptr;
    expect(changed.dump() + "\n" + data, key + ": is null");
  }
  struct Wrong {
    const char* pointer;
    nlohmann::ordered_json value;
    const char* words;
  };
  for (const auto& [pointer, value, words] :
       {Wrong{"/byte_order", "big", "byte_order: is \"big\" (expected \"little\")"},
        {"/element", "float32", "element: is \"float32\""},
        {"/steps", -1, "steps: is -1 (expected a whole number >= 0)"},
        {"/steps", 1.5, "steps: is 1.5"},
        {"/rows", 1e300, "rows: is 1e+300"},
        {"/arrays/1/name", "w", R"(arrays: is [{"name":"u","offset":0},{"name":"w")"},
        {"/arrays/2/offset", 8, R"({"name":"p","offset":8})"},
        {"/arrays", nlohmann::ordered_json::array(), R"(arrays: is [] (expected [{"name":"u")"},
        {"/checksum", "0", "checksum: is \"0\""},
        {"/time", -1.0, "damaged"},
        {"/steps", 12345, "damaged"},
        {"/time_step", 0.3, "damaged"}}) {
    nlohmann::ordered_json changed = header;
    changed[nlohmann::ordered_json::json_pointer(pointer)] = value;
    expect(changed.dump() + "\n" + data, words);
  }
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THAT(refusal(folder / "none", problem), ContainsSubstring("cannot be opened"));
  CHECK_THAT(refusal(folder.path(), problem), ContainsSubstring("is a folder"));
  CHECK_THAT(refusal(folder / "pipe", problem), ContainsSubstring("is a pipe"));
}

TEST_CASE("values that are no flow's are refused with their place, in writing and in reading") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(3, 2);
  const FlowState flow = random_flow(problem, 2);
  write_checkpoint(folder / "good", problem, flow);
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [field, cell, value, words] :
       {std::tuple{2U, 3U, nan, "is nan in row 1, column 1 (expected a finite number)"},
        {0U, 5U, -infinity, "is -inf in row 2, column 1 (expected a finite number)"},
        {0U, 4U, 0.5, "is 0.5 in row 2, column 0 (expected 0 on the wall)"},
        {4U, 1U, 0.5, "is 0.5 in row 0, column 1 (expected 0 on the wall)"}}) {
    FlowState wrong = flow;
    (wrong.*fields[field].second)[cell] = value;
    CHECK_THROWS_MATCHES(write_checkpoint(folder / "a", problem, wrong), InvalidArgument,
                         MessageMatches(ContainsSubstring(words)));
    CHECK_FALSE(std::filesystem::exists(folder / "a"));
    std::string bytes = folder.read("good");
    bytes.replace(bytes.find('\n') + 1 + 8 * (6 * field + cell), 8, reinterpret_cast<const char*>(&value), 8);
    CHECK_THAT(refusal(folder.write("b", bytes), problem), ContainsSubstring(words));
  }
}

}  // namespace steelyard::test_checkpoint
