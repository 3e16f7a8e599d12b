#pragma once

#include <ostream>

#include "core/base/plot/picture.hpp"

namespace steelyard {

/// How a failed test shows a colour.
inline std::ostream& operator<<(std::ostream& stream, const Rgb& colour) {
  return stream << '(' << int{colour.red} << ", " << int{colour.green} << ", " << int{colour.blue} << ')';
}

}  // namespace steelyard
