#include <map>
#include <set>

#include "core/layout.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_layout {

using steelyard::tests::TemporaryFolder;

namespace {

/// The example of 000, section 6.1.1.
constexpr const char* thesis_example = R"(#hostname      rank_intra  bind  device_type  suboptions
tesla.ucd.ie   0          0-3   CPU
tesla.ucd.ie   1          4-6   CPU
tesla.ucd.ie   2          7     GPU
yeats.ucd.ie   0          all   CPU          OMP_NUM_THREADS=8
hcl02.ucd.ie   0          all   CPU          OMP_NUM_THREADS=2
)";

void check_same(const LayoutEntry& a, const LayoutEntry& b) {
  CHECK(a.host_name == b.host_name);
  CHECK(a.rank_on_node == b.rank_on_node);
  CHECK(a.cores == b.cores);
  CHECK(a.units == b.units);
  CHECK(a.suboptions == b.suboptions);
}

Layout random_layout(std::mt19937_64& random) {
  const auto below = [&](int end) { return std::uniform_int_distribution<int>(0, end - 1)(random); };
  Layout layout;
  for (int node = 0, nodes = 1 + below(3); node < nodes; ++node) {
    for (int rank = 0, ranks = 1 + below(4); rank < ranks; ++rank) {
      LayoutEntry entry;
      entry.host_name = "node" + std::to_string(node) + (below(2) == 0 ? ".a-very-long-domain.example.org" : "");
      if (rank > 0) entry.host_name = layout.entries.back().host_name;
      entry.rank_on_node = rank;
      if (below(3) > 0) {
        entry.cores.emplace();
        for (int core = below(5); core < 40; core += 1 + below(2) * below(20)) entry.cores->push_back(core);
      }
      entry.units = {below(2) == 0, below(3)};
      if (!entry.units.has_companion()) entry.units.has_host = true;
      for (const char* key : {"slowdown", "threads", "device", "host_slowdown"}) {
        if (below(2) == 0) entry.suboptions[key] = std::to_string(1 + below(9));
      }
      layout.entries.push_back(entry);
    }
  }
  return layout;
}

}  // namespace

TEST_CASE("reading a formatted layout gives the layout back") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const Layout layout = random_layout(random);
    const std::string text = format_layout(layout);
    INFO(text);
    const Layout again = parse_layout(text, "again");
    REQUIRE(again.entries.size() == layout.entries.size());
    for (std::size_t i = 0; i < layout.entries.size(); ++i) check_same(again.entries[i], layout.entries[i]);
    REQUIRE(format_layout(again) == text);
  }
}

TEST_CASE("the thesis' example and lines of any spelling are understood") {
  const TemporaryFolder folder;
  const Layout layout = read_layout(folder.write("example", thesis_example));
  CHECK(layout.path == (folder / "example").string());
  const std::vector<LayoutEntry> expected = {{"tesla.ucd.ie", 0, CoreList{0, 1, 2, 3}, UnitChoice::host, {}},
                                             {"tesla.ucd.ie", 1, CoreList{4, 5, 6}, UnitChoice::host, {}},
                                             {"tesla.ucd.ie", 2, CoreList{7}, UnitChoice::device, {}},
                                             {"yeats.ucd.ie", 0, {}, UnitChoice::host, {{"OMP_NUM_THREADS", "8"}}},
                                             {"hcl02.ucd.ie", 0, {}, UnitChoice::host, {{"OMP_NUM_THREADS", "2"}}}};
  REQUIRE(layout.entries.size() == expected.size());
  for (const LayoutEntry& entry : expected) check_same(layout.entry(entry.host_name, entry.rank_on_node), entry);

  // Comments, empty lines, tabs and carriage returns say nothing.
  const Layout odd = parse_layout("\n  # a comment\r\na\t0\t0-1\thost slowdown=2  # node a 7 all host\r\n   \n\n", "l");
  REQUIRE(odd.entries.size() == 1);
  check_same(odd.entries[0], {"a", 0, CoreList{0, 1}, UnitChoice::host, {{"slowdown", "2"}}});
  const std::map<std::string, UnitChoice> words{{"host", UnitChoice::host},
                                                {"CPU", UnitChoice::host},
                                                {"Host", UnitChoice::host},
                                                {"GPU", UnitChoice::device},
                                                {"device", UnitChoice::device},
                                                {"CPU+GPU", UnitChoice::host_and_device},
                                                {"host+device", UnitChoice::host_and_device}};
  for (const auto& [word, units] : words) {
    for (const char* text :
         {"slowdown=3,threads=2,x=a=b", "slowdown=3 threads=2 x=a=b", "slowdown=3, threads=2,  x=a=b"}) {
      check_same(parse_layout("a 0 all " + word + " " + text, "l").entries[0],
                 {"a", 0, {}, units, {{"slowdown", "3"}, {"threads", "2"}, {"x", "a=b"}}});
    }
  }
}

TEST_CASE("a malformed line is refused with file, line and what is wrong, and a rank without one with its node") {
  const struct {
    const char* line;
    const char* problem;
  } cases[] = {{"a 0 all", "fewer than 4 fields"},
               {"a", "hostname rank_intra bind device_type"},
               {"a -1 all host", "\"-1\""},
               {"a 1.5 all host", "\"1.5\""},
               {"a 99999999999 all host", "\"99999999999\""},
               {"a 1 0- host", "\"0-\""},
               {"a 1 all fpga", "\"fpga\""},
               {"a 1 all host slowdown", "\"slowdown\" (expected key=value)"},
               {"a 1 all host =3", "\"=3\" (expected key=value)"},
               {"a 1 all host slowdown=3,,threads=2", "key=value"},
               {"a 0 all host", "rank 0 of a is there twice"}};
  for (const auto& [line, problem] : cases) {
    INFO(line);
    CHECK_THROWS_MATCHES(parse_layout(std::string("# first\na 0 all host\n") + line + "\nb 0 all host\n", "my.layout"),
                         FileFormatError,
                         MessageMatches(StartsWith("my.layout: line 3: ") && ContainsSubstring(problem)));
  }
  for (const char* text : {"", "\n\n", "# nothing but a comment\n"}) {
    CHECK_THROWS_MATCHES(parse_layout(text, "my.layout"), FileFormatError,
                         MessageMatches(StartsWith("my.layout: ") && ContainsSubstring("one line per rank")));
  }
  const Layout layout = parse_layout(thesis_example, "my.layout");
  for (const auto& [host, rank] : {std::pair("tesla.ucd.ie", 3), std::pair("elsewhere", 0)}) {
    CHECK_THROWS_MATCHES(layout.entry(host, rank), InvalidArgument,
                         MessageMatches(ContainsSubstring("my.layout") && ContainsSubstring(host) &&
                                        ContainsSubstring("rank " + std::to_string(rank))));
  }
  CHECK_THROWS_MATCHES(read_layout("missing.layout"), FileFormatError,
                       MessageMatches(ContainsSubstring("missing.layout")));
}

TEST_CASE("core lists are sorted, free of repetitions and read as they are written, and malformed ones refused") {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::set<int> cores;
    for (std::uint64_t i = 0, count = 1 + random() % 12; i < count; ++i) cores.insert(static_cast<int>(random() % 16));
    const CoreList list(cores.begin(), cores.end());
    REQUIRE(parse_cores(format_cores(list)) == list);
  }
  CHECK(format_cores(parse_cores("4,0-2,1")) == "0-2,4");
  for (const char* text : {"", "a", "1-", "-1", "3-1", "1,,2", "1;2", "0x1", "99999999999"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_cores(text), InvalidArgument);
  }
}

TEST_CASE("each choice of units is written as the user types it and read back, and another refused") {
  for (const char* word : {"host", "device", "host+device", "2device", "host+64device"})
    CHECK(format_unit_choice(parse_unit_choice(word)) == word);
  for (const char* word : {"", "gpu", "Host", "device+host", "host+", "host device", " host", "0device", "1device",
                           "-2device", "host+2"}) {
    CHECK_THROWS_MATCHES(parse_unit_choice(word), InvalidArgument,
                         MessageMatches(ContainsSubstring('"' + std::string(word) + '"') &&
                                        ContainsSubstring("host, device or host+device")));
  }
}

}  // namespace steelyard::test_layout
