#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/base/errors.hpp"
#include "models/communication/tau_lop/transmission_expression.hpp"

namespace steelyard::models {
namespace {

/// sum = group { "+" group }; group = factor { "||" factor };
/// factor = { number "||" } element; element = "T" id [ "@" id ] "(" size ")" | "(" sum ")".
class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Expression parse() {
    Expression expression = sum();
    if (!at_end()) fail("expected '+', '||' or the end");
    return expression;
  }

 private:
  static constexpr int deepest = 500;

  Expression sum() {
    std::vector<Expression> parts{group()};
    while (accept("+")) parts.push_back(group());
    return parts.size() == 1 ? std::move(parts.front()) : in_sequence(std::move(parts));
  }

  Expression group() {
    std::vector<Expression> parts{factor()};
    while (accept("||")) parts.push_back(factor());
    return parts.size() == 1 ? std::move(parts.front()) : concurrently(std::move(parts));
  }

  Expression factor() {
    std::int64_t multiplicity = 1;
    while (std::isdigit(static_cast<unsigned char>(peek())) != 0) {
      const std::size_t start = position_;
      const auto factor = whole_number<std::int64_t>("a multiplicity such as the 2 of 2||T0(116)");
      if (!accept("||")) fail("expected '||' after the multiplicity");
      if (factor < 1) fail_at(start, "expected a multiplicity of at least 1");
      if (__builtin_mul_overflow(multiplicity, factor, &multiplicity)) {
        fail_at(start, "a multiplicity larger than can be counted");
      }
    }
    const std::size_t start = position_;
    Expression multiplied = element();
    if (std::int64_t product = 0; __builtin_mul_overflow(multiplied.multiplicity, multiplicity, &product)) {
      fail_at(start, "a multiplicity larger than can be counted");
    }
    return times(multiplicity, std::move(multiplied));
  }

  Expression element() {
    if (accept("(")) {
      if (++depth_ > deepest) fail(fmt::format("nested deeper than {}", deepest));
      Expression inside = sum();
      --depth_;
      expect(")", "')'");
      return inside;
    }
    expect("T", "a transmission such as T0(134), a multiplicity or '('");
    ChannelInstance channel;
    channel.channel = whole_number<int>("a channel such as the 0 of T0(134)");
    if (accept("@")) channel.instance = whole_number<int>("an instance such as the 3 of T0@3(134)");
    expect("(", "'(' and the size");
    const double size = read_size();
    expect(")", "')' after the size");
    return transmission(channel, size);
  }

  template <class Integer>
  Integer whole_number(const char* expected) {
    peek();
    Integer value = 0;
    const char* end = text_.data() + text_.size();
    const bool is_digit = position_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[position_])) != 0;
    const auto [stop, error] = std::from_chars(text_.data() + position_, end, value);
    if (!is_digit || error != std::errc()) {
      fail(error == std::errc::result_out_of_range ? "a number larger than can be counted"
                                                   : fmt::format("expected {}", expected));
    }
    position_ = static_cast<std::size_t>(stop - text_.data());
    return value;
  }

  double read_size() {
    const char next = peek();
    double value = 0.0;
    const bool starts = std::isdigit(static_cast<unsigned char>(next)) != 0 || next == '.';
    const auto [stop, error] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
    if (!starts || error != std::errc() || !std::isfinite(value)) fail("expected a size, a number >= 0");
    position_ = static_cast<std::size_t>(stop - text_.data());
    return value;
  }

  char peek() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])) != 0) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool at_end() {
    peek();
    return position_ == text_.size();
  }

  bool accept(std::string_view sign) {
    peek();
    if (text_.compare(position_, sign.size(), sign) != 0) return false;
    position_ += sign.size();
    return true;
  }

  void expect(std::string_view sign, const char* expected) {
    if (!accept(sign)) fail(fmt::format("expected {}", expected));
  }

  [[noreturn]] void fail(const std::string& reason) {
    peek();
    fail_at(position_, reason);
  }

  [[noreturn]] void fail_at(std::size_t position, const std::string& reason) const {
    const std::string found = position < text_.size() ? fmt::format("'{}'", text_.substr(position, 12)) : "the end";
    throw InvalidArgument(fmt::format("expression, position {}: {}, found {}", position + 1, reason, found));
  }

  const std::string& text_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

}  // namespace

Expression parse_expression(const std::string& text) { return Parser(text).parse(); }

}  // namespace steelyard::models
