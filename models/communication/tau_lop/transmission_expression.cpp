#include "models/communication/tau_lop/transmission_expression.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

std::string parenthesized(const Expression& part, bool needed) {
  const std::string text = to_string(part);
  return needed && !text.empty() ? fmt::format("({})", text) : text;
}

std::string joined(const Expression& expression, const char* sign) {
  std::string text;
  for (const Expression& part : expression.parts) {
    const bool is_transmission = part.kind == Expression::Kind::transmission;
    const bool is_multiple = part.multiplicity > 1;
    // A + takes in whatever || binds, a || only what stands alone.
    const bool binds = expression.kind == Expression::Kind::sequence && part.kind == Expression::Kind::concurrent;
    const std::string part_text = parenthesized(part, !is_transmission && !is_multiple && !binds);
    if (!text.empty() && !part_text.empty()) text += sign;
    text += part_text;
  }
  return text;
}

}  // namespace

Expression transmission(ChannelInstance channel, double size) {
  if (channel.channel < 0 || channel.instance < 0) {
    throw InvalidArgument(fmt::format("channel {}, instance {} (expected 0, 1, …)", channel.channel, channel.instance));
  }
  if (!(std::isfinite(size) && size >= 0.0)) {
    throw InvalidArgument(fmt::format("transmission of size {} (expected a finite number >= 0)", size));
  }
  return {Expression::Kind::transmission, 1, channel, size, {}};
}

Expression in_sequence(std::vector<Expression> parts) {
  return {Expression::Kind::sequence, 1, {}, 0.0, std::move(parts)};
}

Expression concurrently(std::vector<Expression> parts) {
  return {Expression::Kind::concurrent, 1, {}, 0.0, std::move(parts)};
}

Expression times(std::int64_t multiplicity, Expression expression) {
  if (multiplicity < 1) throw InvalidArgument(fmt::format("{} || … (expected at least 1)", multiplicity));
  if (__builtin_mul_overflow(expression.multiplicity, multiplicity, &expression.multiplicity)) {
    throw InvalidArgument(fmt::format("{} || … is more than can be counted", multiplicity));
  }
  return expression;
}

std::string to_string(const Expression& expression) {
  if (expression.multiplicity > 1) {
    Expression one = expression;
    one.multiplicity = 1;
    const bool alone = one.kind == Expression::Kind::transmission;
    const std::string text = parenthesized(one, !alone);
    return text.empty() ? text : fmt::format("{}||{}", expression.multiplicity, text);
  }
  switch (expression.kind) {
    case Expression::Kind::transmission: {
      const std::string instance =
          expression.channel.instance > 0 ? fmt::format("@{}", expression.channel.instance) : "";
      return fmt::format("T{}{}({})", expression.channel.channel, instance, expression.size);
    }
    case Expression::Kind::sequence:
      return joined(expression, "+");
    case Expression::Kind::concurrent:
      return joined(expression, "||");
  }
  return "";
}

}  // namespace steelyard::models
