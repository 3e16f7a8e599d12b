#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_predicate.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <string>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "tests/base/temporary_folder.hpp"

namespace steelyard::test_json_file {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::MessageMatches;
using nlohmann::json;
using tests::TemporaryFolder;

namespace {

auto says(const std::string& place) { return MessageMatches(ContainsSubstring("f.json: " + place)); }

}  // namespace

TEST_CASE("a written value is read back with its numbers bit for bit") {
  const TemporaryFolder folder;
  const nlohmann::ordered_json value = {
      {"z", 0.1},        {"a", {1, -2, 1e300, 5e-324}}, {"text", "\u03b1 \"quoted\"\n"}, {"empty", json::object()},
      {"null", nullptr}, {"third", 1.0 / 3.0}};
  write_json_file(folder / "f.json", value);
  CHECK(nlohmann::ordered_json(read_json_file(folder / "f.json")) == nlohmann::ordered_json(json(value)));
  CHECK(folder.entries() == 1);
}

TEST_CASE("a written file keeps the order of keys and ends in a line feed") {
  const TemporaryFolder folder;
  write_json_file(folder / "f.json", {{"z", 1}, {"a", 2}});
  const std::string text = folder.read("f.json");
  CHECK(text.find("\"z\"") < text.find("\"a\""));
  CHECK_THAT(text, EndsWith("}\n"));
}

TEST_CASE("text that is not UTF-8 still makes a valid file") {
  const TemporaryFolder folder;
  REQUIRE_NOTHROW(write_json_file(folder / "f.json", {{"path", "caf\xe9"}}));
  CHECK_THAT(read_json_file(folder / "f.json")["path"].get<std::string>(), ContainsSubstring("caf"));
}

TEST_CASE("an unwritable place fails while running and leaves nothing") {
  const TemporaryFolder folder;
  folder.write("file", "text");
  CHECK_THROWS_MATCHES(write_json_file(folder.path() / "file" / "f.json", {{"a", 1}}), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "file").string())));
  CHECK(folder.entries() == 1);
}

TEST_CASE("a mistake in JSON is reported with the file and the line that holds it") {
  const TemporaryFolder folder;
  struct Bad {
    const char* text;
    const char* line;
  };
  const auto bad = GENERATE(Bad{"", "line 1"}, Bad{"nonsense", "line 1"}, Bad{"{\"a\": 1,}", "line 1"},
                            Bad{"{\n  \"a\": 1\n  \"b\": 2\n}\n", "line 3"}, Bad{"{\n\"a\": [1, 2\n}", "line 3"},
                            Bad{"{\n\n\n\"a\": tru }", "line 4"}, Bad{"{}\n{}\n", "line 2"},
                            Bad{"{\"a\": \"te\nxt\"}", "line 1"}, Bad{"{\"a\": \"\xff\"}", "line 1"});
  const auto path = folder.write("f.json", bad.text);
  CHECK_THROWS_MATCHES(read_json_file(path), FileFormatError,
                       MessageMatches(ContainsSubstring(path.string() + ": " + bad.line + ":")));
}

TEST_CASE("a number too large for a double is a mistake in the file") {
  const TemporaryFolder folder;
  const auto path = folder.write("f.json", "{\"a\": 1e999}");
  CHECK_THROWS_MATCHES(read_json_file(path), FileFormatError, MessageMatches(ContainsSubstring(path.string())));
}

TEST_CASE("a truncated JSON file is refused wherever it ends") {
  const TemporaryFolder folder;
  const std::string whole = "{\"a\": [1, {\"b\": \"text\"}], \"c\": true}";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto path = folder.write("f.json", whole.substr(0, size));
    REQUIRE_THROWS_AS(read_json_file(path), FileFormatError);
  }
}

TEST_CASE("a missing file or a folder is refused with its name") {
  const TemporaryFolder folder;
  CHECK_THROWS_MATCHES(read_json_file(folder / "none.json"), FileFormatError,
                       MessageMatches(ContainsSubstring((folder / "none.json").string())));
  CHECK_THROWS_AS(read_json_file(folder.path()), FileFormatError);
}

TEST_CASE(
    "a value of the wrong type is shown, but no more of it than fits into a message, however deep or long it is") {
  const TemporaryFolder folder;
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  const std::string long_text = "\"" + std::string(10000000, 'x') + "\"";
  const std::string characters = "\"" + std::string(58, 'x') + "\u20ac\u20ac\"";
  for (const std::string& value : {deep, "{\"a\": " + deep + "}", long_text, characters}) {
    const nlohmann::json file = read_json_file(folder.write("f.json", "{\"n\": " + value + "}"));
    const JsonReader reader("f.json", file);
    const auto is_short = Catch::Matchers::Predicate<std::exception>(
        [](const std::exception& error) { return std::string(error.what()).size() < 150; }, "is short");
    CHECK_THROWS_MATCHES(reader.number("n"), FileFormatError, says("n: is ") && is_short);
    CHECK_THROWS_MATCHES(reader.flag("n", false), FileFormatError, says("n: is ") && is_short);
    if (!file["n"].is_string()) CHECK_THROWS_MATCHES(reader.text("n"), FileFormatError, says("n: is ") && is_short);
  }
  const nlohmann::json flat = {{"schema", std::string(1000, 'x')}, {"a", {1, 2}}};
  CHECK_THROWS_MATCHES(JsonReader("f.json", flat).number("a"), FileFormatError, says("a: is [1,2] (expected"));
  CHECK_THROWS_MATCHES(JsonReader("f.json", flat).require_schema("s/1"), FileFormatError,
                       says("schema: is \"" + std::string(60, 'x') + "\u2026 (1000 bytes)\" (expected \"s/1\")"));
}

TEST_CASE("a reader returns members as they are") {
  const json value = {{"n", 2.5}, {"i", 7}, {"t", "word"}, {"o", {{"x", 1}}}, {"a", {{{"x", 1}}, {{"x", 2}}}}};
  const JsonReader reader("f.json", value);
  CHECK(reader.number("n") == 2.5);
  CHECK(reader.number("i") == 7.0);
  CHECK(reader.text("t") == "word");
  CHECK(reader.object("o").number("x") == 1.0);
  const auto elements = reader.array("a");
  REQUIRE(elements.size() == 2);
  CHECK(elements[1].number("x") == 2.0);
  CHECK(&reader.value() == &value);
}

TEST_CASE("a member that is missing or null takes its default but not a value of the wrong type") {
  const json value = {{"null", nullptr}, {"t", "word"}, {"n", 1}};
  const JsonReader reader("f.json", value);
  CHECK_FALSE(reader.has("missing"));
  CHECK_FALSE(reader.has("null"));
  CHECK(reader.has("n"));
  CHECK(reader.number("missing", 3.5) == 3.5);
  CHECK(reader.number("null", 3.5) == 3.5);
  CHECK(reader.number("n", 3.5) == 1.0);
  CHECK(reader.text("missing", "else") == "else");
  CHECK(reader.text("t", "else") == "word");
  CHECK_THROWS_MATCHES(reader.number("t", 3.5), FileFormatError, says("t:"));
  CHECK_THROWS_MATCHES(reader.text("n", "else"), FileFormatError, says("n:"));
}

TEST_CASE("a flag is true or false or, where it is missing or null, its default") {
  const json value = {{"yes", true}, {"no", false}, {"null", nullptr}, {"n", 1}, {"t", "true"}, {"a", {true}}};
  const JsonReader reader("f.json", value);
  for (const bool otherwise : {false, true}) {
    CHECK(reader.flag("yes", otherwise));
    CHECK_FALSE(reader.flag("no", otherwise));
    CHECK(reader.flag("missing", otherwise) == otherwise);
    CHECK(reader.flag("null", otherwise) == otherwise);
    CHECK_THROWS_MATCHES(reader.flag("n", otherwise), FileFormatError, says("n: is 1 (expected true or false)"));
    CHECK_THROWS_MATCHES(reader.flag("t", otherwise), FileFormatError, says("t: is \"true\""));
    CHECK_THROWS_MATCHES(reader.flag("a", otherwise), FileFormatError, says("a: is [true]"));
  }
}

TEST_CASE("a missing or wrong member is reported with file and key and what was found") {
  const json value = {{"n", 1}, {"t", "word"}, {"b", true}, {"null", nullptr}, {"a", {1, 2}}};
  const JsonReader reader("f.json", value);
  CHECK_THROWS_MATCHES(reader.number("gone"), FileFormatError, says("gone: is missing"));
  CHECK_THROWS_MATCHES(reader.text("gone"), FileFormatError, says("gone: is missing"));
  CHECK_THROWS_MATCHES(reader.object("gone"), FileFormatError, says("gone: is missing"));
  CHECK_THROWS_MATCHES(reader.array("gone"), FileFormatError, says("gone: is missing"));
  CHECK_THROWS_MATCHES(reader.number("t"), FileFormatError, says("t: is \"word\" (expected a finite number)"));
  CHECK_THROWS_MATCHES(reader.number("b"), FileFormatError, says("b: is true"));
  CHECK_THROWS_MATCHES(reader.number("null"), FileFormatError, says("null: is null"));
  CHECK_THROWS_MATCHES(reader.text("n"), FileFormatError, says("n: is 1 (expected a string)"));
  CHECK_THROWS_MATCHES(reader.object("a"), FileFormatError, says("a: is array (expected a JSON object)"));
  CHECK_THROWS_MATCHES(reader.array("n"), FileFormatError, says("n: is number (expected an array)"));
  CHECK_THROWS_MATCHES(reader.array("a"), FileFormatError, says("a[0]: is number (expected a JSON object)"));
}

TEST_CASE("a mistake deep inside is reported with its whole key path") {
  const json value = {{"outer", {{"list", {{{"x", 1}}, {{"x", "one"}}}}}}};
  const JsonReader reader("f.json", value);
  const auto list = reader.object("outer").array("list");
  CHECK_THROWS_MATCHES(list.at(1).number("x"), FileFormatError, says("outer.list[1].x: is \"one\""));
  CHECK_THROWS_MATCHES(list.at(0).fail("", "is odd"), FileFormatError, says("outer.list[0]: is odd"));
}

TEST_CASE("numbers that are not finite are refused") {
  const double bad = GENERATE(std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN());
  const json value = {{"n", bad}};
  CHECK_THROWS_MATCHES(JsonReader("f.json", value).number("n"), FileFormatError, says("n:"));
}

TEST_CASE("a value that is not an object has no members to read") {
  const json value = GENERATE(json(1), json("text"), json::array(), json(nullptr));
  CHECK_THROWS_MATCHES(JsonReader("f.json", value), FileFormatError, MessageMatches(ContainsSubstring("f.json: is")));
}

TEST_CASE("a schema that is missing or another is refused with both names") {
  const json right = {{"schema", "steelyard.x/1"}};
  CHECK_NOTHROW(JsonReader("f.json", right).require_schema("steelyard.x/1"));
  CHECK_THROWS_MATCHES(
      JsonReader("f.json", right).require_schema("steelyard.x/2"), FileFormatError,
      says("schema:") && MessageMatches(ContainsSubstring("steelyard.x/1") && ContainsSubstring("steelyard.x/2")));
  const json none = json::object();
  CHECK_THROWS_MATCHES(JsonReader("f.json", none).require_schema("steelyard.x/1"), FileFormatError,
                       says("schema: is missing"));
  const json number = {{"schema", 1}};
  CHECK_THROWS_MATCHES(JsonReader("f.json", number).require_schema("steelyard.x/1"), FileFormatError, says("schema:"));
}

}  // namespace steelyard::test_json_file
