#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "models/communication/tau_lop/transmission_expression.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::tests {

inline std::string to_string(const models::Expression& expression);

inline std::string parenthesized(const models::Expression& part, bool needed) {
  const std::string text = to_string(part);
  return needed && !text.empty() ? fmt::format("({})", text) : text;
}

/// As one types it: `(T0(134)+T1(158))||2||T0@3(116)`. Parts without any transmission are left out.
inline std::string to_string(const models::Expression& expression) {
  using enum models::Expression::Kind;
  if (expression.multiplicity > 1) {
    models::Expression one = expression;
    one.multiplicity = 1;
    const std::string text = parenthesized(one, one.kind != transmission);
    return text.empty() ? text : fmt::format("{}||{}", expression.multiplicity, text);
  }
  if (expression.kind == transmission) {
    const auto& [channel, instance] = expression.channel;
    return fmt::format("T{}{}({})", channel, instance > 0 ? fmt::format("@{}", instance) : "", expression.size);
  }
  std::string text;
  for (const models::Expression& part : expression.parts) {
    // A + takes in whatever || binds, a || only what stands alone.
    const bool binds = expression.kind == sequence && part.kind == concurrent;
    const std::string part_text = parenthesized(part, part.kind != transmission && part.multiplicity == 1 && !binds);
    if (!text.empty() && !part_text.empty()) text += expression.kind == sequence ? "+" : "||";
    text += part_text;
  }
  return text;
}

enum class Sizes {
  different,  ///< real numbers, no two alike
  alike,      ///< a few whole numbers, also 0
};

struct ExpressionShape {
  int channels = 3;
  int instances = 2;
  int depth = 3;
  Sizes sizes = Sizes::different;
};

inline models::Expression random_transmission(Random& random, const ExpressionShape& shape) {
  const models::ChannelInstance channel{whole(random, 0, shape.channels - 1), whole(random, 0, shape.instances - 1)};
  const double size = shape.sizes == Sizes::different ? uniform(random, 0.1, 30.0) : 2.0 * whole(random, 0, 4);
  return models::transmission(channel, size);
}

/// A || expression.
inline models::Expression times(std::int64_t multiplicity, models::Expression expression) {
  expression.multiplicity *= multiplicity;
  return expression;
}

/// Sequences, concurrent parts and multiplicities nested up to a depth.
inline models::Expression random_expression(Random& random, const ExpressionShape& shape) {
  if (shape.depth == 0 || whole(random, 0, 4) == 0) return random_transmission(random, shape);
  ExpressionShape inner = shape;
  inner.depth = shape.depth - 1;
  const int kind = whole(random, 0, 5);
  if (kind == 0) return times(whole(random, 1, 3), random_expression(random, inner));
  std::vector<models::Expression> parts;
  for (int count = whole(random, 1, 3); count > 0; --count) {
    parts.push_back(random_expression(random, inner));
  }
  return kind < 3 ? models::in_sequence(std::move(parts)) : models::concurrently(std::move(parts));
}

/// All copies counted.
inline std::int64_t count_transmissions(const models::Expression& expression) {
  std::int64_t count = expression.kind == models::Expression::Kind::transmission ? 1 : 0;
  for (const models::Expression& part : expression.parts) count += count_transmissions(part);
  return expression.multiplicity * count;
}

/// One of at most so many transmissions, all copies counted.
inline models::Expression small_expression(Random& random, const ExpressionShape& shape, std::int64_t most) {
  for (;;) {
    models::Expression expression = random_expression(random, shape);
    if (count_transmissions(expression) <= most) return expression;
  }
}

/// The same without multiplicities: A || X as A parts X.
inline models::Expression expanded(models::Expression expression) {
  for (models::Expression& part : expression.parts) part = expanded(std::move(part));
  const auto copies = static_cast<std::size_t>(std::exchange(expression.multiplicity, 1));
  return copies == 1 ? expression : models::concurrently(std::vector<models::Expression>(copies, expression));
}

/// The same with concurrent parts in another order.
inline models::Expression shuffled(Random& random, models::Expression expression) {
  for (models::Expression& part : expression.parts) part = shuffled(random, std::move(part));
  if (expression.kind == models::Expression::Kind::concurrent) std::ranges::shuffle(expression.parts, random);
  return expression;
}

/// The same with sizes multiplied.
inline models::Expression scaled(models::Expression expression, double factor) {
  expression.size *= factor;
  for (models::Expression& part : expression.parts) part = scaled(std::move(part), factor);
  return expression;
}

}  // namespace steelyard::tests
