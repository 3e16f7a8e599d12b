// What users of the tool, or of any mini-app, get wrong: the one line that says so, and nothing else that happens.
#include <filesystem>
#include <thread>

#include "models/fpm_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests::test_steelyard_refusals {
namespace {

/// A command line, with `@` for the folder of the files below, and what the message must hold.
using Row = std::pair<std::string, std::string>;

std::vector<Mistake> mistakes(const std::vector<Row>& rows, const TemporaryFolder& folder) {
  std::vector<Mistake> all;
  for (const auto& [line, named] : rows) {
    all.push_back({words(line), named});
    for (std::string& word : all.back().arguments) {
      if (word.front() == '@') word = (folder.path() / word.substr(1)).string();
    }
  }
  return all;
}

void write_files(const TemporaryFolder& folder) {
  folder.write("broken", "{\n");
  folder.write("broken.layout", "here 0 0\n");
  folder.write("two.layout", "a 0 all host slowdown=2\na 1 all device\n");
  folder.write("pair.layout", "a 0 all 2device\n");
  folder.write("wrong.layout", "a 0 all host slowness=2\n");
  with_platform(folder);
  write_model(folder, "good.fpm.json", 1e-3);
  models::FpmFile file;
  file.points = {{1.0, 1e-3}};
  file.max_units = 5.0;
  models::write_fpm_file(folder / "small.fpm.json", file);
  file.app = "summa";
  file.element = "double";
  file.parameters["block"] = 32;
  file.unit_kind = "host";
  models::write_fpm_file(folder / "summa.fpm.json", file);
}

}  // namespace

TEST_CASE("What the tool cannot do is refused by name, on every rank and before anything is written") {
  const TemporaryFolder folder;
  write_files(folder);
  const std::vector<Row> on_all_ranks{
      {"", "command is required"},
      {"weigh", "weigh"},
      {"units --layout @broken.layout", "broken.layout: line 1"},
      {"layout --slowdown rank9=2", "rank 9"},
      {"layout --like @two.layout", "two.layout has 2 lines for"},
      {"conformance --units gpus", "gpus"},
      {"measure wave2d --from 64 --to 8", "64 to 8"},
      {"measure wave2d --sizes 8 1000000000000 --output out", "1000000000000"},
      {"partition --models @good.fpm.json", "--total"},
      {"predict summa --size 64 --processes 2", "--platform is missing (expected measured channels for 2 processes)"},
      {"cost --platform @broken --expression T0(1)", "broken: line 2"}};
  expect_refused(steelyard_tool, mistakes(on_all_ranks, folder));
  const std::vector<Row> rows{
      {"units --slowdown host=0.5", "0.5"},
      {"layout --like @two.layout --units host", "--like"},
      {"conformance --format xml", "xml"},
      {"measure", "app"},
      {"measure abacus", "abacus"},
      {"measure wave2d --sizes 8 -4", "-4"},
      {"measure wave2d --sizes 8 --from 3", "--from"},
      {"measure wave2d --sizes 8 --points 3", "--points"},
      {"measure wave2d --from 0", "--from"},
      {"measure wave2d --spacing adaptive --points 3", "--points 3"},
      {"measure wave2d --error 0.1", "--spacing adaptive"},
      {"measure wave2d --repetitions-max 2", "5 to 2"},
      {"measure wave2d --rounds 0", "--rounds"},
      {"measure wave2d --size 9 --columns 9", "--size"},
      {"measure wave2d --steps 3", "--steps"},
      {"measure gemm --input 3", "--input"},
      {"model @broken --plot plot.svg", "broken: line 2"},
      {"model @good.fpm.json @small.fpm.json", "small.fpm.json"},
      {"model @good.fpm.json --kind cubic", "cubic"},
      {"model @good.fpm.json --at nan --plot plot.svg", "nan"},
      {"model @good.fpm.json --at -1", "-1"},
      {"model @good.fpm.json --plot picture.png", "picture.png"},
      {"partition --total -1 --models @good.fpm.json", "--total"},
      {"partition --total 9 --models @good.fpm.json --algorithm fair", "fair"},
      {"partition --total 9 --models @good.fpm.json --granularity 2", "granularity"},
      {"partition --total 8 --models @good.fpm.json --columns", "--columns"},
      {"partition --total 9 --models @good.fpm.json --levels 2 --per-node 2", "--per-node"},
      {"partition --total 9 --models @good.fpm.json --levels 2 --per-node 1 --granularity 3", "--granularity"},
      {"partition --total 9 --models @good.fpm.json @small.fpm.json --levels 2 --per-node 1 --outer popta",
       "identical"},
      {"cost --platform @one-node.platform.json", "--expression"},
      {"cost --platform @one-node.platform.json --expression T7(1)", "one-node.platform.json: has no channel 7"},
      {"cost --platform @one-node.platform.json --expression 9||T0(1)", "9 concurrent transfers (expected at most"},
      {"cost --platform @one-node.platform.json --expression T0(1) --block-bytes inf", "--block-bytes inf"},
      {"cost --platform @one-node.platform.json --expression T0(1) --block-bytes 0", "--block-bytes 0"},
      {"platform @one-node.platform.json --nodes 2", "nodes"},
      // A single rank has nobody to talk to.
      {"calibrate --quick", "nothing to measure: there is one rank (expected at least two)"},
      {"calibrate --from 8 --to 8", "8 to 8"},
      {"calibrate --to 2147483648", "2147483648"},
      {"calibrate --quick --rounds 2", "--rounds"},
      {"predict summa --size 0", "--size"},
      {"predict summa --size 1073741824 --block 1", "1073741824 iterations"},
      {"predict summa --layout @two.layout --processes 2", "--processes"},
      {"predict jacobi --levels 3", "--levels"},
      {"predict jacobi --units 2device", "2 devices in a unit of jacobi (expected one"},
      {"predict jacobi --layout @pair.layout", "2 devices in a unit of jacobi"},
      {"predict gemm --units host+2gpu", "--units host+2gpu (expected host, device or host+device"},
      {"predict jacobi --levels 2 --partition shares:1", "--partition shares:1"},
      {"predict summa --levels 2 --avoid-communication --model @good.fpm.json", "--avoid-communication"},
      {"predict summa --layout @two.layout --units device", "--units"},
      {"predict summa --layout @wrong.layout", "wrong.layout: rank 0 of a: suboption \"slowness\""},
      {"predict summa --slowdown rank1=2", "rank 1"},
      {"predict summa --processes 2 --per-node 1 --platform @one-node.platform.json", "no channel between nodes"},
      {"predict summa --avoid-communication", "--avoid-communication without --model"},
      {"predict summa --scaling strong", "--scaling needs --model"},
      {"predict summa --advise", "--advise needs --model"},
      {"predict summa --model @good.fpm.json --advise --partition even", "--partition"},
      {"predict summa --model @good.fpm.json --advise --processes 2", "--platform is missing"},
      {"predict summa --block 16 --model @summa.fpm.json", "parameters.block: is 32 (expected 16)"},
      {"predict gemm --model @summa.fpm.json", "app: is summa (expected gemm)"},
      {"predict gemm --processes 2", "--model is missing (expected speed models, for gemm"},
      {"predict gemm --model @good.fpm.json --platform any", "--platform"}};
  expect_refused(steelyard_tool, mistakes(rows, folder), {}, {1});
  if (std::thread::hardware_concurrency() < 2) SKIP("ranks of a node need cores of their own");
  const std::vector<Row> between_ranks{{"calibrate --base @broken --output out", "broken: line 2"}};
  expect_refused(steelyard_tool, mistakes(between_ranks, folder), {}, {2});
}

TEST_CASE("Targets that cannot be written are found before anything is measured") {
  const Words layout = words("layout --output file/below"), measure = words("measure wave2d --sizes 8 --output");
  expect_unwritable_refused(steelyard_tool, {layout, measure + Words{"file"}, measure + Words{"file/below"}}, {1, 3});
  if (std::thread::hardware_concurrency() < 2) SKIP("ranks of a node need cores of their own");
  const Words calibrate = words("calibrate --quick --output");
  expect_unwritable_refused(steelyard_tool, {calibrate + Words{"file/below"}, calibrate + Words{"folder"}}, {2});
}

TEST_CASE("A problem that no memory holds is refused at once, and planned by a dry run with models from files") {
  const TemporaryFolder folder;
  const Words large = words("--size 1000000"), dry = words("--dry-run");
  const Words model{"--model", write_model(folder, "unit.fpm.json", 1e-6)};
  const std::string named = "TiB (expected at most ";
  for (const std::string program :
       {built("cavity"), built("fft2d"), built("gemm"), built("jacobi"), built("summa"), built("wave2d")}) {
    expect_refused(program, {{{}, named}, {dry, named}, {model, named}}, large);
  }
  for (const std::string program : {built("jacobi"), built("summa")}) {
    const Outcome outcome = good_run(1, program, large + dry + model, folder.path());
    CHECK(lines_that_start(outcome.out, "predicted ") == 1);
  }
}

}  // namespace steelyard::tests::test_steelyard_refusals
