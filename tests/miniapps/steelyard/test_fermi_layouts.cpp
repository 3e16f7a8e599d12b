#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/unit_plan.hpp"

using Catch::Matchers::WithinRel;

namespace steelyard::tests::test_fermi_layouts {
namespace {

/// A row of 001, table 1: nodes of 12 and of 8 cores, processes with 6 to 2 cores, on GPUs, and all.
struct Row {
  int nodes_of_12, nodes_of_8;
  std::array<int, 5> cores;
  int gpus, processes;
};

const std::vector<Row> table_1{
    {1, 0, {2, 0, 0, 0, 0}, 0, 2},    {2, 0, {3, 1, 0, 0, 0}, 1, 5},     {2, 1, {3, 1, 2, 0, 0}, 1, 7},
    {3, 1, {4, 1, 3, 0, 0}, 3, 11},   {3, 2, {4, 1, 4, 1, 0}, 4, 14},    {3, 3, {4, 1, 5, 1, 1}, 6, 18},
    {4, 3, {6, 1, 5, 1, 1}, 6, 20},   {8, 0, {11, 3, 2, 0, 0}, 7, 23},   {9, 0, {12, 3, 3, 0, 0}, 9, 27},
    {9, 1, {12, 3, 5, 0, 0}, 9, 29},  {9, 2, {12, 3, 6, 1, 0}, 10, 32},  {9, 3, {12, 3, 7, 1, 1}, 12, 36},
    {9, 4, {12, 3, 9, 1, 1}, 12, 38}, {9, 5, {12, 3, 10, 2, 1}, 13, 41}, {9, 6, {12, 3, 11, 2, 2}, 15, 45},
    {9, 7, {12, 3, 13, 2, 2}, 15, 47}};

std::string fermi(int number) { return std::string(STEELYARD_FERMI) + "/M" + std::to_string(number) + ".layout"; }

TEST_CASE("Fermi's layouts have the processes of table 1 (001), each unit on cores of its own") {
  for (int number = 1; number <= 16; ++number) {
    INFO("M" << number);
    const Row& row = table_1[static_cast<std::size_t>(number - 1)];
    const Layout layout = read_layout(fermi(number));
    CHECK(layout.entries.size() == static_cast<std::size_t>(row.processes));
    std::map<std::string, CoreList> cores_of_host;
    std::map<std::string, std::set<std::string>> devices_of_host;
    std::map<std::string, int> ranks_of_host;
    std::array<int, 5> processes{};
    int gpus = 0;
    for (const LayoutEntry& entry : layout.entries) {
      REQUIRE(entry.cores);
      CHECK(entry.rank_on_node == ranks_of_host[entry.host_name]++);
      CoreList& used = cores_of_host[entry.host_name];
      used.insert(used.end(), entry.cores->begin(), entry.cores->end());
      if (entry.units == UnitChoice::device) {
        ++gpus;
        CHECK(entry.cores->size() == 1);
        CHECK(devices_of_host[entry.host_name].insert(entry.suboptions.at("device")).second);
        CHECK(unit_slowdowns(entry).companion == 1.0);
      } else {
        REQUIRE(entry.cores->size() >= 2);
        REQUIRE(entry.cores->size() <= 6);
        ++processes[6 - entry.cores->size()];
        const double gigahertz = entry.host_name.rfind("e5649", 0) == 0 ? 2.53 : 2.27;
        CHECK_THAT(unit_slowdowns(entry).host,
                   WithinRel(515.0 / (static_cast<double>(entry.cores->size()) * gigahertz * 4.0), 1e-4));
        const int socket = entry.host_name.rfind("e5649", 0) == 0 ? 6 : 4;
        CHECK(entry.cores->front() / socket == entry.cores->back() / socket);
      }
    }
    CHECK(processes == row.cores);
    CHECK(gpus == row.gpus);
    int nodes_of_12 = 0, nodes_of_8 = 0;
    for (auto& [host, cores] : cores_of_host) {
      std::sort(cores.begin(), cores.end());
      CHECK(std::adjacent_find(cores.begin(), cores.end()) == cores.end());
      const bool has_12 = host.rfind("e5649", 0) == 0;
      CHECK(cores.size() == (has_12 ? 12U : 8U));
      CHECK(devices_of_host[host].size() <= 2);
      ++(has_12 ? nodes_of_12 : nodes_of_8);
    }
    CHECK(nodes_of_12 == row.nodes_of_12);
    CHECK(nodes_of_8 == row.nodes_of_8);
  }
}

}  // namespace
}  // namespace steelyard::tests::test_fermi_layouts
