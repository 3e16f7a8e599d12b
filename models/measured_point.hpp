#pragma once

namespace steelyard::models {

/// One measured size of a kernel on a processing unit. Source: 000, section 6.1.2 (fupermod_point).
struct MeasuredPoint {
  double units = 0.0;         ///< computation units, > 0
  double time_s = 0.0;        ///< mean seconds, > 0
  int repetitions = 1;        ///< runs behind the mean
  double confidence_s = 0.0;  ///< half width of the mean's confidence interval; 0 where it was not measured
};

}  // namespace steelyard::models
