#include "miniapps/gemm/prediction.hpp"

#include "comm/collective.hpp"
#include "miniapps/app/start_seconds.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::gemm {

Prediction predict(const Session& session, CoExecution& co_execution, const std::string& algorithm,
                   std::int64_t block_rows, const SpeedModels& models) {
  Prediction prediction;
  prediction.start_s = start_seconds(session, co_execution);
  collectively(session.comm(), [&] {
    prediction.distribution = partition::find_algorithm(algorithm).distribute(block_rows, models.pointers());
  });
  prediction.time_s = prediction.start_s + prediction.distribution.makespan_s();
  return prediction;
}

}  // namespace steelyard::gemm
