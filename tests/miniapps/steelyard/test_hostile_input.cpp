// What the tool makes of files and command lines that are nearly right, as a torn disk, an editor or a foe leaves them.
#include <unistd.h>

#include <array>
#include <catch2/catch_get_random_seed.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/npy.hpp"
#include "core/base/run_record.hpp"
#include "miniapps/app/checkpoint.hpp"
#include "miniapps/app/mini_app.hpp"
#include "miniapps/steelyard/command.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard {
std::unique_ptr<MiniApp> make_wave2d();
}  // namespace steelyard

namespace steelyard::tests::test_hostile_input {
namespace {

using Words = std::vector<std::string>;
using Files = std::map<std::string, std::string>;

/// A command line of the tool, and the files that it names.
struct Command {
  Words words;
  Files files;
  bool is_changed = false;  ///< the words are not those that the files are for
};

const std::string speeds = R"({"schema": "steelyard.fpm/1", "app": "wave2d", "kernel": "step", "element": "double",
 "unit": {"kind": "host", "cores": "0-3", "device": "", "slowdown": 1.0, "bound": true}, "computation_unit": "row",
 "parameters": {"columns": 64, "time_tile": 1, "order": 2}, "flops_per_unit": 448, "bytes_per_unit": 1536,
 "in_core_units": 1000, "max_units": 5000, "solo": false, "machine": "m", "date": "2026-01-01T00:00:00Z", "commit": "c",
 "parts": ["kernel", "copies"], "points": [{"units": 8, "time_s": 1e-5, "repetitions": 5, "confidence_s": 1e-7,
 "parts_s": {"kernel": 9e-6, "copies": 1e-6}}, {"units": 64, "time_s": 7e-5, "repetitions": 5, "parts_s": {"kernel": 9e-6, "copies": 1e-6}}, {"units": 512, "time_s": 8e-4, "parts_s": {"kernel": 9e-6, "copies": 1e-6}}],
 "imprecise": [{"units": 700, "time_s": 9e-4, "parts_s": {"kernel": 9e-6, "copies": 1e-6}}]})";
const std::string fupermod = "# d\tt\treps\tci\n8 1e-5 5 1e-7\n64 7e-5 5\n512 8e-4\n";
const std::string channels = R"({"schema": "steelyard.platform/1", "commit": "c", "mpi": "Open MPI", "channels": [
 {"id": 0, "name": "shared memory", "scope": "node", "path": [0, 0], "hockney": {"segments": [
 {"up_to_bytes": 4096, "latency_s": 1e-7, "bandwidth_bytes_per_s": 5e9},
 {"up_to_bytes": null, "latency_s": 1e-6, "bandwidth_bytes_per_s": 1e10}]}, "error": 0.1,
 "loggp": {"latency_s": 1e-6, "send_overhead_s": 2e-7, "receive_overhead_s": 3e-7, "gap_s": 4e-7, "gap_per_byte_s": 1e-10},
 "tau_lop": {"overhead": [{"bytes": 0, "time_s": 1e-7}, {"bytes": 4096, "time_s": 3e-7}], "transfer": [
 {"bytes": 4096, "concurrency": 1, "time_s": 4e-7}, {"bytes": 65536, "concurrency": 1, "time_s": 6e-6},
 {"bytes": 65536, "concurrency": 2, "time_s": 1.2e-5}]}}, {"id": 1, "name": "network", "scope": "network",
 "path": [0, 1, 0], "between": ["fat", "thin"], "hockney": {"segments": [
 {"up_to_bytes": null, "latency_s": 2e-6, "bandwidth_bytes_per_s": 1e9}]}}],
 "nodes": [{"host": "a", "kind": "fat", "cores": 64, "memory_bytes_per_s": 2e11}, {"host": "b", "kind": "thin", "cores": 8}]})";
const std::string places = "a 0 0-3 CPU\na 1 4-6 CPU+GPU slowdown=2 threads=2\nb 0 all GPU # a comment\n";
const std::string experiment =
    R"({"schema": "steelyard.experiment/1", "paper": "000", "figure": "fig1", "figures": ["fig1"],
 "title": "t", "question": "q", "difference": "d", "banner": "", "scale": "small", "date": "2026-01-01", "commit": "c",
 "machine": "m", "complete": true, "columns": [{"name": "n", "label": "size", "unit": ""}, {"name": "t", "label": "time",
 "unit": "s"}], "points_file": "points.jsonl", "paper_points": [{"n": 1, "t": 2.5}], "paper_note": "", "charts": [
 {"title": "c", "kind": "line", "x": {"column": "n", "label": "size", "scale": "log"}, "y": {"column": "t", "label": "time",
 "scale": "linear", "unit": "s"}, "series": [{"label": "here", "where": {"step": "a"}, "y": "t", "from": "here"}]}],
 "tables": [{"title": "t", "columns": ["n", "t"], "where": {"step": "a"}, "paper_rows": [{"n": 1, "t": 2.5}]}]})";
const std::string points =
    "{\"key\": \"a\", \"command\": \"x\", \"values\": {\"step\": \"a\", \"n\": 1, \"t\": 0.5}}\n"
    "{\"key\": \"b\", \"command\": \"x\", \"values\": {\"step\": \"a\", \"n\": 2, \"t\": 0.75}}\n";

/// Result files of a run.
Files results_of_a_run(const std::string& folder) {
  RunRecord record;
  record.app = "wave2d";
  record.params = {{"rows", 64.0}, {"columns", 64.0}, {"ranks", 2.0}};
  record.settings = {{"element", "double"}, {"partition", "even"}};
  record.units = {{0, "host", "OpenMP", "0", 1.0, 0.5, 0.75}, {1, "device", "CUDA", "1", 2.0, {}, 0.5}};
  record.computation_units = "rows";
  record.distribution = {32, 32};
  record.median_time_s = 0.5;
  record.predicted_time_s = 0.625;
  record.predicted_interval_s = Interval{0.5, 0.75};
  record.phases = {{"step", 0.25, 0.5}};
  record.check = {true, true, 1e-9, 1e-6, "a reference"};
  record.samples = {{record.params, "time_s", 0.5, {{"rank", "0"}}}, {record.params, "time_s", 0.75, {}}};
  const TemporaryFolder written;
  write_run_record(written.path(), record);
  return {{folder + "/run.json", written.read("run.json")}, {folder + "/samples.jsonl", written.read("samples.jsonl")}};
}

std::vector<Command> commands() {
  const Files models{{"a.fpm.json", speeds}, {"b.fpm", fupermod}}, platform{{"p.platform.json", channels}};
  const auto words = [](const std::string& line) {
    std::istringstream stream(line);
    return Words{std::istream_iterator<std::string>(stream), {}};
  };
  const auto with = [](Files one, Files other) {
    one.merge(other);
    return one;
  };
  std::vector<Command> all;
  for (const char* const kind :
       {"constant", "piecewise_linear", "akima", "table", "polynomial", "shrunk", "saturating", "sine_plateau"}) {
    for (const char* const model : {"a.fpm.json", "b.fpm"}) {
      all.push_back({words(std::string("model ") + model + " --at 1 8 100 --format json --kind " + kind), models});
    }
  }
  all.push_back({words("model a.fpm.json"), models});
  for (const char* const algorithm : {"geometric", "numerical", "exact", "constant", "hpopta"}) {
    all.push_back(
        {words(std::string("partition --total 300 --models a.fpm.json b.fpm --algorithm ") + algorithm), models});
  }
  all.push_back({words("platform p.platform.json --nodes 4"), platform});
  for (const char* const way : {"aligned", "event"}) {
    all.push_back({words(std::string("cost --platform p.platform.json --expression (T0(134)+T0(58))||(T0(116)+T0(104)) "
                                     "--evaluation ") +
                         way),
                   platform});
  }
  const std::string predict =
      "predict wave2d --size 64 --steps 3 --platform p.platform.json --model a.fpm.json --layout l";
  all.push_back({words(predict), with(with(models, platform), {{"l", places}})});
  all.push_back({words(predict + " --distribution d.json"),
                 with(with(models, platform), {{"l", places}, {"d.json", R"({"units": [1, 2, 3, 4]})"}})});
  all.push_back({words("compare r s"), with(results_of_a_run("r"), results_of_a_run("s"))});
  all.push_back({words("report r"), results_of_a_run("r")});
  all.push_back({words("report e"), {{"e/experiment.json", experiment}, {"e/points.jsonl", points}}});
  return all;
}

const Checkpoint state{3, 4, {{"app", "wave2d"}, {"courant", 0.5}}, 7};

/// Files that no command of the tool reads.
std::vector<Command> other_files(const Session& session) {
  const TemporaryFolder folder;
  write_checkpoint<double>(session, folder / "c", state,
                           [](const BlockSink<double>& sink) { sink(0, 0, 4, std::vector(12, 0.25)); });
  const NpyMatrixFile array = NpyMatrixFile::create<double>(folder / "a.npy", 3, 4);
  array.finish();
  return {{{}, {{"checkpoint", folder.read("c")}}}, {{}, {{"a.npy", folder.read("a.npy")}}}};
}

/// Changes bytes, words and numbers at a few places.
std::string damaged(Random& random, std::string text, const std::string& other) {
  static const std::vector<std::string> pieces{"0",
                                               "-1",
                                               "1e308",
                                               "-1e308",
                                               "1e-320",
                                               "1e400",
                                               "9223372036854775807",
                                               "9223372036854775808",
                                               "-9223372036854775808",
                                               "2147483648",
                                               "nan",
                                               "inf",
                                               "null",
                                               "true",
                                               "{}",
                                               "[]",
                                               "[[]]",
                                               "\"\"",
                                               "\"a\"",
                                               ",",
                                               ":",
                                               "{",
                                               "}",
                                               "[",
                                               "]",
                                               "\"",
                                               "\n",
                                               "(",
                                               ")",
                                               "||",
                                               "+",
                                               "T0",
                                               "=",
                                               "-",
                                               "#",
                                               "\\u0000",
                                               "\xff",
                                               std::string(1, '\0'),
                                               "0.1",
                                               "1e6",
                                               "<",
                                               "&"};
  const auto place = [&] { return static_cast<std::size_t>(whole(random, 0, static_cast<int>(text.size()))); };
  for (int changes = whole(random, 1, 4); changes > 0; --changes) {
    const std::size_t at = place(), length = static_cast<std::size_t>(whole(random, 1, 12));
    const std::string& piece = pieces[static_cast<std::size_t>(whole(random, 0, static_cast<int>(pieces.size()) - 1))];
    switch (whole(random, 0, 7)) {
      case 0:
        text.insert(at, piece);
        break;
      case 1:
        text.replace(at, std::min(length, text.size() - at), piece);
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.erase(at);
        break;
      case 4:
        text.insert(at, text.substr(place(), static_cast<std::size_t>(whole(random, 1, 200))));
        break;
      case 5:
        text.insert(at, other.substr(std::min(at, other.size()), length));
        break;
      case 6:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << whole(random, 0, 7)));
        break;
      default: {  // another number
        const std::size_t from = text.find_first_of("0123456789", at);
        if (from == std::string::npos) break;
        const std::size_t to = text.find_first_not_of("0123456789.eE+-", from);
        text.replace(from, to == std::string::npos ? to : to - from, piece);
      }
    }
  }
  return text;
}

/// Ends the program where one input takes longer than this, and says where it is.
constexpr unsigned most_s = 20;
std::string told_on_alarm;
void take_alarm(int /*signal*/) {
  [[maybe_unused]] const auto written = ::write(2, told_on_alarm.data(), told_on_alarm.size());
  ::_exit(1);
}

/// How an input ended.
struct End {
  std::string refusal;  ///< an Error's words
  std::string mistake;  ///< those of anything else that was thrown
};

/// Runs a command, or reads files that no command reads.
End end_of(const Command& command, const TemporaryFolder& folder, Session& session) {
  for (const auto& [name, bytes] : command.files) {
    std::filesystem::create_directories((folder / name).parent_path());
    folder.write(name, bytes);
  }
  std::filesystem::current_path(folder.path());
  try {
    if (command.words.empty()) {
      if (command.files.contains("checkpoint")) {
        read_checkpoint<double>("checkpoint", state);
      } else {
        const NpyHeader header = read_npy_matrix_header<double>("a.npy");
        std::vector<double> first(1);
        read_npy_block<double>("a.npy", header, 0, 0, 1, 1, first);
      }
      return {};
    }
    CLI::App parser("", "steelyard");
    tool::Action chosen;
    tool::MiniApps apps;
    apps.push_back(make_wave2d());
    add_standard_options(parser);
    tool::add_model_command(parser, chosen);
    tool::add_partition_command(parser, chosen);
    tool::add_platform_command(parser, chosen);
    tool::add_cost_command(parser, chosen);
    tool::add_predict_command(parser, apps, chosen);
    tool::add_compare_command(parser, chosen);
    tool::add_report_command(parser, chosen);
    std::vector<const char*> arguments{"steelyard"};
    for (const std::string& word : command.words) arguments.push_back(word.c_str());
    const auto text = parse_command_line(parser, static_cast<int>(arguments.size()), arguments.data());
    // Numbers of any size may be asked for there, which take as long as they are large.
    const bool may_take_long = command.words.front() == "partition" || command.words.front() == "predict";
    if (!text && chosen && !(command.is_changed && may_take_long)) chosen(session);
  } catch (const Error& error) {
    return {error.what(), ""};
  } catch (const std::exception& error) {
    return {"", error.what()};
  }
  return {};
}

std::string shown(const Command& command) {
  std::string text;
  for (const std::string& word : command.words) text += word + ' ';
  for (const auto& [name, bytes] : command.files)
    text += '\n' + name + ": " + nlohmann::json(bytes).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text;
}

double allowed_s() {
  const char* const seconds = std::getenv("STEELYARD_HOSTILE_SECONDS");
  return seconds != nullptr ? std::atof(seconds) : 15.0;
}

}  // namespace

TEST_CASE("files and command lines with any damage are read or refused, by whatever reads them, and soon") {
  std::string name = "steelyard";
  std::array<char*, 2> words{name.data(), nullptr};
  int count = 1;
  char** arguments = words.data();
  Session session(count, arguments);
  session.set_silent(true);
  const auto seed = Catch::getSeed();
  Random random(seed);
  const TemporaryFolder folder;
  std::vector<Command> all = commands();
  for (const Command& one : other_files(session)) all.push_back(one);
  for (const Command& one : all) {
    INFO(shown(one));
    const End end = end_of(one, folder, session);
    INFO(end.refusal << end.mistake);
    CHECK((end.refusal.empty() && end.mistake.empty()));
  }
  told_on_alarm = "an input took too long: " + folder.path().string() + "\n";
  const auto handler = std::signal(SIGALRM, take_alarm);
  long read = 0, refused = 0;
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < allowed_s()) {
    Command command = all[static_cast<std::size_t>(whole(random, 0, static_cast<int>(all.size()) - 1))];
    const auto any_of = [&](auto& container) {
      return std::next(container.begin(), whole(random, 0, static_cast<int>(container.size()) - 1));
    };
    command.is_changed = !command.words.empty() && whole(random, 0, 3) == 0;
    std::string& changed = command.is_changed ? *any_of(command.words) : any_of(command.files)->second;
    changed = damaged(random, changed, command.files.begin()->second);
    ::alarm(most_s);
    const End end = end_of(command, folder, session);
    ::alarm(0);
    ++(end.refusal.empty() ? read : refused);
    INFO("seed " << seed << ", input " << read + refused << ": " << end.mistake << '\n' << shown(command));
    REQUIRE(end.mistake.empty());
  }
  std::signal(SIGALRM, handler);
  WARN(read << " inputs read, " << refused << " refused, seed " << seed);
}

}  // namespace steelyard::tests::test_hostile_input
