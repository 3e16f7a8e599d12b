#include <functional>

#include "core/base/json_file.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_json_file {

using Catch::Matchers::EndsWith;
using nlohmann::json;
using tests::TemporaryFolder;

TEST_CASE("a written value is read back with its numbers bit for bit, its keys in order, and text that is not UTF-8") {
  const TemporaryFolder folder;
  const nlohmann::ordered_json value = {
      {"z", 0.1},        {"a", {1, -2, 1e300, 5e-324}}, {"text", "\u03b1 \"quoted\"\n"}, {"empty", json::object()},
      {"null", nullptr}, {"third", 1.0 / 3.0}};
  write_json_file(folder / "f.json", value);
  CHECK(nlohmann::ordered_json(read_json_file(folder / "f.json")) == nlohmann::ordered_json(json(value)));
  const std::string text = folder.read("f.json");
  CHECK(text.find("\"z\"") < text.find("\"a\""));
  CHECK_THAT(text, EndsWith("}\n"));
  write_json_file(folder / "f.json", {{"path", "caf\xe9"}});
  CHECK(read_json_file(folder / "f.json")["path"] == "caf\uFFFD");
}

TEST_CASE("a file that is not JSON is refused with its name and the line of the mistake, wherever it is cut") {
  const TemporaryFolder folder;
  const struct {
    const char *text, *line;
  } cases[] = {{"", "line 1:"},
               {"nonsense", "line 1:"},
               {"{\"a\": 1,}", "line 1:"},
               {"{\n  \"a\": 1\n  \"b\": 2\n}\n", "line 3:"},
               {"{\n\"a\": [1, 2\n}", "line 3:"},
               {"{\n\n\n\"a\": tru }", "line 4:"},
               {"{}\n{}\n", "line 2:"},
               {"{\"a\": \"te\nxt\"}", "line 1:"},
               {"{\"a\": \"\xff\"}", "line 1:"},
               {"{\"a\": 1e999}", ""}};
  for (const auto& [text, line] : cases) {
    CAPTURE(text);
    const auto path = folder.write("f.json", text);
    CHECK_THROWS_MATCHES(read_json_file(path), FileFormatError,
                         MessageMatches(ContainsSubstring(path.string() + ": " + line)));
  }
  const std::string whole = "{\"a\": [1, {\"b\": \"text\"}], \"c\": true}";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    REQUIRE_THROWS_AS(read_json_file(folder.write("f.json", whole.substr(0, size))), FileFormatError);
  }
  CHECK_THROWS_AS(read_json_file(folder / "none.json"), FileFormatError);
}

TEST_CASE("a reader returns members as they are, and a default for those that are missing or null") {
  const json value = {
      {"n", 2.5},    {"i", 7},      {"t", "word"},     {"o", {{"x", 1}}}, {"a", {{{"x", 1}}, {{"x", 2}}}},
      {"yes", true}, {"no", false}, {"null", nullptr}, {"schema", "s/1"}};
  const JsonReader reader("f.json", value);
  CHECK(reader.number("n") == 2.5);
  CHECK(reader.number("i") == 7.0);
  CHECK(reader.text("t") == "word");
  CHECK(reader.object("o").number("x") == 1.0);
  const auto elements = reader.array("a");
  REQUIRE(elements.size() == 2);
  CHECK(elements[1].number("x") == 2.0);
  CHECK(&reader.value() == &value);
  CHECK(reader.has("n"));
  CHECK(reader.number("n", 3.5) == 2.5);
  CHECK(reader.text("t", "else") == "word");
  CHECK_NOTHROW(reader.require_schema("s/1"));
  for (const char* const none : {"missing", "null"}) {
    CHECK_FALSE(reader.has(none));
    CHECK(reader.number(none, 3.5) == 3.5);
    CHECK(reader.text(none, "else") == "else");
    for (const bool otherwise : {false, true}) {
      CHECK(reader.flag(none, otherwise) == otherwise);
      CHECK(reader.flag("yes", otherwise));
      CHECK_FALSE(reader.flag("no", otherwise));
    }
  }
}

TEST_CASE("a value that is missing or wrong is refused with file, key path, what was found and what was expected") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  json value = {{"n", 1},
                {"t", "word"},
                {"b", true},
                {"null", nullptr},
                {"a", {1, 2}},
                {"outer", {{"list", {{{"x", 1}}, {{"x", "one"}}}}}},
                {"high", infinity},
                {"low", -infinity},
                {"nan", std::numeric_limits<double>::quiet_NaN()},
                {"long", std::string(10000000, 'x')},
                {"euros", std::string(58, 'x') + "\u20ac\u20ac"},
                {"schema", "steelyard.x/1"}};
  value["deep"] = json::parse(deep);
  value["deeper"]["a"] = json::parse(deep);
  const json none = json::object();
  const JsonReader reader("f.json", value);
  const struct {
    std::function<void()> read;
    std::string message;
  } cases[] = {
      {[&] { reader.number("gone"); }, "gone: is missing"},
      {[&] { reader.text("gone"); }, "gone: is missing"},
      {[&] { reader.object("gone"); }, "gone: is missing"},
      {[&] { reader.array("gone"); }, "gone: is missing"},
      {[&] { reader.number("t"); }, "t: is \"word\" (expected a finite number)"},
      {[&] { reader.number("t", 3.5); }, "t: is \"word\" (expected a finite number)"},
      {[&] { reader.number("b"); }, "b: is true"},
      {[&] { reader.number("null"); }, "null: is null"},
      {[&] { reader.number("high"); }, "high:"},
      {[&] { reader.number("low", 1.0); }, "low:"},
      {[&] { reader.number("nan"); }, "nan:"},
      {[&] { reader.number("a"); }, "a: is [1,2]"},
      {[&] { reader.text("n"); }, "n: is 1 (expected a string)"},
      {[&] { reader.text("n", "else"); }, "n: is 1 (expected a string)"},
      {[&] { reader.flag("n", false); }, "n: is 1 (expected true or false)"},
      {[&] { reader.flag("t", true); }, "t: is \"word\" (expected true or false)"},
      {[&] { reader.object("a"); }, "a: is array (expected a JSON object)"},
      {[&] { reader.array("n"); }, "n: is number (expected an array)"},
      {[&] { reader.array("a"); }, "a[0]: is number (expected a JSON object)"},
      {[&] { reader.object("outer").array("list").at(1).number("x"); }, "outer.list[1].x: is \"one\""},
      {[&] { reader.object("outer").array("list").at(0).fail("", "is odd"); }, "outer.list[0]: is odd"},
      {[&] { reader.number("long"); }, "long: is \"xxx"},
      {[&] { reader.number("euros"); }, "euros: is "},
      {[&] { reader.number("deep"); }, "deep: is "},
      {[&] { reader.text("deep"); }, "deep: is "},
      {[&] { reader.flag("deeper", false); }, "deeper: is "},
      {[&] { reader.require_schema("steelyard.x/2"); }, "schema: is \"steelyard.x/1\" (expected \"steelyard.x/2\")"},
      {[&] { JsonReader("f.json", none).require_schema("steelyard.x/1"); }, "schema: is missing"},
      {[&] { JsonReader("f.json", value["n"]); }, "is number"},
      {[&] { JsonReader("f.json", value["a"]); }, "is array"},
      {[&] { JsonReader("f.json", value["null"]); }, "is null"}};
  for (const auto& [read, message] : cases) {
    CAPTURE(message);
    std::string said;
    try {
      read();
    } catch (const FileFormatError& error) {
      said = error.what();
    }
    CHECK_THAT(said, ContainsSubstring("f.json: " + message));
    CHECK(said.size() < 150);
  }
}

}  // namespace steelyard::test_json_file
