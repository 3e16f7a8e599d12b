// C += A B by summa and by ScaLAPACK's pdgemm on the same ranks, which are all alike, in turns. Block size and, for
// pdgemm, the grid of processes are tuned for each of them. Ratios are pdgemm over summa, round by round, so more than
// 1 is faster than pdgemm.

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <span>

#include "benchmarks/program.hpp"
#include "comm/collective.hpp"
#include "core/base/progress.hpp"
#include "core/gemm.hpp"
#include "core/memory/matrix.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/gemm/problem.hpp"
#include "miniapps/summa/multiplication.hpp"
#include "partition/rectangles/column.hpp"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
int numroc_(const int* n, const int* block, const int* process, const int* first, const int* processes);
void descinit_(int* descriptor, const int* m, const int* n, const int* row_block, const int* column_block,
               const int* first_row, const int* first_column, const int* context, const int* leading, int* info);
void pdgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* descriptor_a,
             const double* b, const int* ib, const int* jb, const int* descriptor_b, const double* beta, double* c,
             const int* ic, const int* jc, const int* descriptor_c);
}

namespace {

using namespace steelyard;
using gemm::MatrixName;

constexpr std::uint64_t seed = 1;

struct Options {
  std::vector<std::int64_t> sizes{2000, 3000, 4000, 5000, 6000};
  std::vector<std::int64_t> blocks{64, 128, 192, 256, 384, 512};
  int rounds = 7;
};

/// Something that multiplies, with the sums of C's elements and their squares, by which two of them agree. All calls
/// are collective.
struct Multiplier {
  std::string name;
  std::function<void()> load, run;
  std::function<std::vector<double>()> sums;
};
using Maker = std::function<Multiplier()>;

std::vector<double> sums_of(std::span<const double> elements) {
  double sum = 0.0, squares = 0.0;
  for (const double element : elements) {
    sum += element;
    squares += element * element;
  }
  return {all_sum(MPI_COMM_WORLD, sum), all_sum(MPI_COMM_WORLD, squares)};
}

Multiplier make_summa(const Session& session, UnitGroup& group, std::int64_t n, std::int64_t block,
                      summa::Communication communication) {
  const summa::Problem problem{n, block};
  const std::vector<double> alike(static_cast<std::size_t>(session.size()), 1.0);
  const std::vector<partition::Rectangle> rectangles = partition::column(alike, problem.extents()).rectangles;
  const partition::Rectangle& own = rectangles[static_cast<std::size_t>(session.rank())];
  const auto source = [](MatrixName name, const summa::Tile& tile, std::span<double> elements) {
    gemm::fill_random(gemm::RandomMatrix(seed, name), tile.row, tile.column, tile.columns, elements);
  };
  const auto multiplication = std::make_shared<summa::Multiplication<double>>(
      group, problem, own, PerUnit<std::int64_t>{own.rows, 0}, gemm::DeviceUse{}, source);
  const auto exchange =
      std::make_shared<summa::PivotExchange>(communication, session.comm(), problem, rectangles, MPI_DOUBLE);
  return {fmt::format("summa {} {}", word_of(summa::communication_names, communication), block),
          [=] { multiplication->load_c(source); }, [=] { multiplication->run(*exchange); },
          [=] { return sums_of(multiplication->c_elements()); }};
}

/// Blocks of the matrices dealt out in turns over a grid of processes; columns of elements one after the other.
class Pdgemm {
 public:
  Pdgemm(std::int64_t n, std::int64_t block, int grid_rows, int grid_columns)
      : n_(static_cast<int>(n)), block_(static_cast<int>(block)), rows_(grid_rows), columns_(grid_columns) {
    Cblacs_get(-1, 0, &context_);
    Cblacs_gridinit(&context_, "Row", rows_, columns_);
    Cblacs_gridinfo(context_, &rows_, &columns_, &row_, &column_);
    constexpr int zero = 0;
    local_rows_ = numroc_(&n_, &block_, &row_, &zero, &rows_);
    local_columns_ = numroc_(&n_, &block_, &column_, &zero, &columns_);
    const int leading = std::max(1, local_rows_);
    int info = 0;
    descinit_(descriptor_, &n_, &n_, &block_, &block_, &zero, &zero, &context_, &leading, &info);
    if (info != 0) throw RuntimeFailure(fmt::format("descinit says {}", info));
    // The same memory as summa's.
    for (HostArray<double>* matrix : {&a_, &b_, &c_}) {
      *matrix = HostArray<double>(local_columns_, local_rows_);
    }
    fill(MatrixName::a, a_);
    fill(MatrixName::b, b_);
  }
  ~Pdgemm() { Cblacs_gridexit(context_); }
  Pdgemm(const Pdgemm&) = delete;
  Pdgemm& operator=(const Pdgemm&) = delete;

  std::string name() const { return fmt::format("pdgemm {} on {} x {}", block_, rows_, columns_); }
  void load() { fill(MatrixName::c, c_); }
  void run() {
    constexpr double one_factor = 1.0;
    constexpr int one = 1;
    pdgemm_("N", "N", &n_, &n_, &n_, &one_factor, data(a_), &one, &one, descriptor_, data(b_), &one, &one, descriptor_,
            &one_factor, data(c_), &one, &one, descriptor_);
  }
  std::vector<double> sums() const { return sums_of(c_.elements(0, local_columns_)); }

 private:
  /// Global index of a local one.
  std::int64_t global(int local, int process, int processes) const {
    return (static_cast<std::int64_t>(local / block_) * processes + process) * block_ + local % block_;
  }
  void fill(MatrixName name, const HostArray<double>& matrix) const {
    const gemm::RandomMatrix random(seed, name);
    for (int j = 0; j < local_columns_; ++j) {
      double* const column = matrix.elements(j, 1).data();
      for (int i = 0; i < local_rows_; ++i) {
        column[i] = random.element(global(i, row_, rows_), global(j, column_, columns_));
      }
    }
  }
  static double* data(const HostArray<double>& matrix) { return matrix.elements(0, 0).data(); }

  int n_, block_, rows_, columns_;
  int row_ = 0, column_ = 0, context_ = 0;
  int local_rows_ = 0, local_columns_ = 0;
  int descriptor_[9] = {};
  HostArray<double> a_, b_, c_;
};

double seconds(const Session& session, const Multiplier& contender) {
  contender.load();
  return timed_region(session, "steelyard::summa_pdgemm::multiply", [&] { contender.run(); });
}

/// The fastest of several, each by the better of two runs.
Multiplier fastest(const Session& session, const std::vector<Maker>& makers) {
  std::vector<double> times_s;
  for (const Maker& make : makers) {
    const Multiplier contender = make();
    seconds(session, contender);
    times_s.push_back(std::min(seconds(session, contender), seconds(session, contender)));
  }
  return makers[static_cast<std::size_t>(std::ranges::min_element(times_s) - times_s.begin())]();
}

/// pdgemm and summa's ways to communicate, each with the block size that is fastest.
std::vector<Multiplier> tuned(const Session& session, UnitGroup& group, std::int64_t n,
                              const std::vector<std::int64_t>& blocks) {
  std::vector<Maker> pdgemms;
  for (const std::int64_t block : blocks) {
    for (int rows = 1; rows <= session.size(); ++rows) {
      if (session.size() % rows != 0) continue;
      pdgemms.emplace_back([=, columns = session.size() / rows] {
        const auto one = std::make_shared<Pdgemm>(n, block, rows, columns);
        return Multiplier{one->name(), [=] { one->load(); }, [=] { one->run(); }, [=] { return one->sums(); }};
      });
    }
  }
  std::vector<Multiplier> contenders{fastest(session, pdgemms)};
  for (const auto communication :
       {summa::Communication::paper, summa::Communication::bcast, summa::Communication::pipelined}) {
    std::vector<Maker> makers;
    for (const std::int64_t block : blocks) {
      makers.emplace_back([&, block, communication] { return make_summa(session, group, n, block, communication); });
    }
    contenders.push_back(fastest(session, makers));
  }
  return contenders;
}

void require_same_product(const std::vector<Multiplier>& contenders) {
  const std::vector<double> expected = contenders.front().sums();
  for (const Multiplier& contender : contenders) {
    const std::vector<double> sums = contender.sums();
    // The sum of the elements cancels; that of their squares tells how much.
    const bool same = std::abs(sums[1] - expected[1]) <= 1e-9 * expected[1] &&
                      std::abs(sums[0] - expected[0]) <= 1e-9 * (std::sqrt(expected[1]) + std::abs(expected[0]));
    if (!same) {
      throw RuntimeFailure(
          fmt::format("{} and {} multiply to different matrices", contenders.front().name, contender.name));
    }
  }
}

ExitCode compare(Session& session, const Options& options) {
  StartedGroup all(session, run_options(UnitChoice::host));
  Table table({"n", "pdgemm", "GFLOP/s", "summa", "GFLOP/s", "pdgemm/pipelined", "pdgemm/paper", "pdgemm/bcast",
               "paper/pipelined"});
  for (const std::int64_t n : options.sizes) {
    const std::vector<Multiplier> contenders = tuned(session, all.group, n, options.blocks);
    std::vector<std::vector<double>> times(contenders.size());
    Progress progress(fmt::format("n = {}", n), options.rounds, session.is_root());
    for (int round = 0; round < options.rounds; ++round) {
      for (std::size_t i = 0; i < contenders.size(); ++i) {
        times[i].push_back(seconds(session, contenders[i]));
      }
      progress.advance();
    }
    require_same_product(contenders);
    const std::vector<double>&pdgemm = times[0], &paper = times[1], &bcast = times[2], &pipelined = times[3];
    const double gflop = summa::Problem{n, 1}.flops() / 1e9;
    table.add_row({fmt::format("{}", n), contenders[0].name.substr(7), fmt::format("{:.1f}", gflop / median(pdgemm)),
                   contenders[3].name.substr(6), fmt::format("{:.1f}", gflop / median(pipelined)),
                   fmt::format("{:.3f}", median(ratios(pdgemm, pipelined))),
                   fmt::format("{:.3f}", median(ratios(pdgemm, paper))),
                   fmt::format("{:.3f}", median(ratios(pdgemm, bcast))),
                   fmt::format("{:.3f}", median(ratios(paper, pipelined)))});
  }
  session.print(fmt::format("{}, {}; medians of {} rounds\n\n", ranks_text(session),
                            blas::gemm_library(HostExecution()), options.rounds));
  if (session.is_root()) session.print(table.text());
  return ExitCode::good;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("summa beside ScaLAPACK's pdgemm on the same ranks, in turns", "steelyard-summa-pdgemm");
  add_standard_options(parser);
  Options options;
  add_number(parser, "--sizes", options.sizes, "Rows and columns of the matrices", 1, 1 << 20)->capture_default_str();
  add_number(parser, "--blocks", options.blocks, "Block sizes to tune over", 1, 1 << 16)->capture_default_str();
  add_rounds(parser, options.rounds);
  return run_program(argc, argv, parser, [&](Session& session) { return compare(session, options); });
}
