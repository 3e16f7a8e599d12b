#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests {

/// Runs of a program on files in a folder, with a BLAS that is wrong as wrong_gemm.cpp says.
class WrongBlas {
 public:
  explicit WrongBlas(std::filesystem::path program) : program_(std::move(program)) {
    write_model(folder_, "even.fpm.json", 1e-6);
  }

  Start start(int ranks, const Words& arguments, const Words& how) const {
    return {ranks, program_, Words{"--model", folder_ / "even.fpm.json"} + arguments, folder_.path(),
            Words{"LD_PRELOAD=" + built("libsteelyard_wrong_gemm.so").string()} + how};
  }
  Outcome run(int ranks, const Words& arguments, const Words& how) const {
    return run_all({start(ranks, arguments, how)}).front();
  }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  std::filesystem::path program_;
  TemporaryFolder folder_;
};

}  // namespace steelyard::tests
