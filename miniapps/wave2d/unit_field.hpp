#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/device/device.hpp"
#include "core/memory/host_copy.hpp"
#include "core/memory/matrix.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/timing.hpp"
#include "miniapps/wave2d/leap_frog.hpp"
#include "miniapps/wave2d/plan.hpp"

namespace steelyard::wave2d {

/// First touch of rows [0, rows) of memory, each by the threads that will sweep it.
template <class Scalar>
struct Zero {
  RowPointer<Scalar> data;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const { data[i] = Scalar(0); }
};

/// A message and where it lies: its parts one after the other.
template <class Scalar>
using HaloBuffer = MessageBuffer<Scalar, HaloMessage>;

/// The rectangle of the grid that one processing unit owns, which may be empty, in its own memory, with the points that
/// passes read around it: two time levels for passes of one step, which are made in place, and two more for longer
/// ones. A pass advances first the points that other units need, then, while these are on their way, the rest. On a
/// device kernels and copies have a queue each, and the interior is launched right behind the border. Rectangles are
/// counted in the grid. Everything runs on the thread that calls, and fences unless a function says otherwise.
/// Source: 003, section 4.3, algorithms 3 to 5.
template <class Execution, class Scalar>
class UnitField {
 public:
  using Rectangle = partition::Rectangle;

  /// Allocates and touches with the unit's own threads.
  /// @param steps the most that a pass makes
  /// @throws InvalidArgument for more steps than a device's scratch memory holds
  UnitField(const Execution& space, const Problem& problem, const Rectangle& owned, int steps, Overlap overlap)
      : queues_(make_unit_queues(space)),
        problem_(problem),
        overlap_(overlap),
        owned_(owned),
        held_(widened(problem, owned, halo_depth(problem, steps))),
        parts_(cut_border(problem, owned, steps)),
        pitch_(padded_pitch<Scalar>(held_.columns)) {
    if (!owned.empty() && TimeTiles<Execution>::most_columns(steps, problem.radius(), sizeof(Scalar)) == 0) {
      throw InvalidArgument(fmt::format(
          "passes of {} steps on a device (expected fewer: its teams' scratch memory holds no tile of so many)",
          steps));
    }
    // Half a page off from level to level, for a store delays later loads at the same place of another page, and the
    // kernel reads in one level just where it writes in another.
    constexpr std::int64_t page = 4096 / sizeof(Scalar);
    const std::int64_t elements = held_.rows * pitch_, apart = (elements + page - 1) / page * page + page / 2;
    const auto levels = static_cast<std::size_t>(levels_held(steps));
    memory_ = {queues_.kernels, "steelyard::wave2d::field", levels * static_cast<std::size_t>(apart)};
    using Policy = Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::int64_t>>;
    for (std::size_t i = 0; i < levels; ++i) {
      levels_[i] = memory_.data() + static_cast<std::int64_t>(i) * apart;
      Kokkos::parallel_for("steelyard::wave2d::touch", Policy(queues_.kernels, 0, elements),
                           Zero<Scalar>{rows(levels_[i])});
    }
    queues_.kernels.fence();
  }

  const Rectangle& owned() const { return owned_; }
  /// The points that are owned, and those that passes read around them.
  const Rectangle& held() const { return held_; }

  /// Copies a part of held() from pinned host memory, where it lies without gaps, into a level.
  void load(Level level, const Rectangle& part, const Scalar* host) {
    copy_matrix_from_host<Execution, Scalar>(queues_.kernels, matrix(read_level(level), part),
                                             dense_matrix<HostExecution>(host, part));
    queues_.kernels.fence();
  }
  /// The other way.
  void store(Level level, const Rectangle& part, Scalar* host) const {
    copy_matrix_to_host<Execution, Scalar>(queues_.kernels, dense_matrix<HostExecution>(host, part),
                                           matrix(read_level(level), part));
    queues_.kernels.fence();
  }

  /// Unpacks the messages that arrived, advances the border and packs those that leave. A device is left at work on the
  /// interior.
  void begin(int steps, const std::vector<HaloBuffer<Scalar>>& arrived, const std::vector<HaloBuffer<Scalar>>& leaving,
             UnitTimes& times) {
    const double start_s = now_s();
    reserve_staging(arrived, leaving);
    Scalar* staging = staging_.data();
    for (const HaloBuffer<Scalar>& buffer : arrived) unpack(buffer, staging);
    const double unpacked_s = fenced_s();
    for (const Rectangle& part : parts_.border) advance(part, steps, "steelyard::wave2d::border");
    const double border_s = fenced_s();
    // Copies within a device's memory are kernels, too, which would wait for an interior's: they come first.
    const Scalar* const packed = staging;
    for (const HaloBuffer<Scalar>& buffer : leaving) pack(buffer, steps, staging);
    if constexpr (!runs_on_host<Execution>) {
      QueueEvent::record(queues_.kernels).make_wait(queues_.copies);
      if (overlap_ == Overlap::full) launch_interior(steps);
      send(leaving, packed);
    }
    queues_.copies.fence();
    times.unpacking_s += unpacked_s - start_s;
    times.border_s += border_s - unpacked_s;
    times.packing_s += now_s() - border_s;
  }

  /// Advances the interior and ends the pass: the levels that were written become those that are read.
  void finish(int steps, UnitTimes& times) {
    const double start_s = now_s();
    if (runs_on_host<Execution> || overlap_ == Overlap::none) launch_interior(steps);
    queues_.kernels.fence();
    times.interior_s += now_s() - start_s;
    if (steps == 1) {
      std::swap(levels_[0], levels_[1]);
    } else {
      std::swap(levels_[0], levels_[2]);
      std::swap(levels_[1], levels_[3]);
    }
  }

 private:
  struct Queues {
    Execution kernels, copies;
  };
  static Queues make_unit_queues([[maybe_unused]] const Execution& space) {
    if constexpr (runs_on_host<Execution>) {
      return {space, space};
    } else {
      const std::vector<Execution> queues = make_queues(2);
      return {queues[0], queues[1]};
    }
  }

  /// Advances a part of owned() by `steps`; does not fence. Every point is advanced once in a pass.
  void advance(const Rectangle& part, int steps, const char* label) const {
    if (part.empty()) return;
    Levels<Scalar> levels{rows(read_level(Level::previous)), rows(read_level(Level::current)), nullptr,
                          rows(written_level(Level::current, steps)), pitch_};
    if (steps > 1) levels.next_previous = rows(written_level(Level::previous, steps));
    const Region grid = here({0, 0, problem_.rows, problem_.columns});
    const Execution& space = queues_.kernels;
    const int threads = runs_on_host<Execution> ? static_cast<int>(space.concurrency()) : 1;
    if (problem_.radius() == 1) {
      LeapFrog<Execution, Scalar, 1>(problem_, levels, here(part), grid, steps, threads).launch(space, label);
    } else {
      LeapFrog<Execution, Scalar, 2>(problem_, levels, here(part), grid, steps, threads).launch(space, label);
    }
  }
  void launch_interior(int steps) const { advance(parts_.interior, steps, "steelyard::wave2d::interior"); }

  double fenced_s() const {
    if (overlap_ == Overlap::none) queues_.kernels.fence();
    return now_s();
  }

  RowPointer<Scalar> rows(Scalar* level) const { return row_pointer(level, 0, held_.rows * pitch_); }
  Scalar* read_level(Level level) const { return levels_[static_cast<std::size_t>(level)]; }
  Scalar* written_level(Level level, int steps) const {
    // A single step is made in place of the previous level; the current one is previous then.
    if (steps == 1) return levels_[level == Level::current ? 0 : 1];
    return levels_[level == Level::current ? 3 : 2];
  }

  /// Where a rectangle of the grid is, or would be, in this memory.
  Region here(const Rectangle& part) const {
    return {part.row - held_.row, part.end_row() - held_.row, part.column - held_.column,
            part.end_column() - held_.column};
  }
  Matrix<Execution, Scalar> matrix(Scalar* level, const Rectangle& part) const {
    return matrix_at<Execution>(level + (part.row - held_.row) * pitch_ + part.column - held_.column, part.rows,
                                part.columns, pitch_);
  }
  template <class Space, class Element>
  static Matrix<Space, Element> dense_matrix(Element* elements, const Rectangle& part) {
    return matrix_at<Space>(elements, part.rows, part.columns, part.columns);
  }

  /// A device collects a message of host memory in its own, so that one copy moves it whatever its parts' shapes.
  static bool is_staged(const HaloBuffer<Scalar>& buffer) {
    return !runs_on_host<Execution> && buffer.home == Home::host;
  }
  void reserve_staging(const std::vector<HaloBuffer<Scalar>>& arrived, const std::vector<HaloBuffer<Scalar>>& leaving) {
    std::int64_t points = 0;
    for (const auto* buffers : {&arrived, &leaving}) {
      for (const HaloBuffer<Scalar>& buffer : *buffers) points += is_staged(buffer) ? buffer.message->points() : 0;
    }
    const auto size = static_cast<std::size_t>(points);
    if (staging_.extent(0) >= size) return;
    staging_ = decltype(staging_)(
        Kokkos::view_alloc(queues_.kernels, Kokkos::WithoutInitializing, "steelyard::wave2d::staging"), size);
  }

  /// @param staging free memory, which is moved on behind what the message takes
  void unpack(const HaloBuffer<Scalar>& buffer, Scalar*& staging) const {
    const Scalar* data = buffer.data;
    if (is_staged(buffer)) {
      const std::int64_t points = buffer.message->points();
      copy_from_host(queues_.kernels, staging, data, static_cast<std::size_t>(points));
      data = staging;
      staging += points;
    }
    for (const LevelPart& part : buffer.message->parts) {
      copy_matrix_within<Execution, Scalar>(queues_.kernels, matrix(read_level(part.level), part.rectangle),
                                            dense_matrix<Execution>(data, part.rectangle));
      data += part.rectangle.area();
    }
  }
  void pack(const HaloBuffer<Scalar>& buffer, int steps, Scalar*& staging) const {
    Scalar* data = is_staged(buffer) ? staging : buffer.data;
    for (const LevelPart& part : buffer.message->parts) {
      copy_matrix_within<Execution, Scalar>(queues_.kernels, dense_matrix<Execution>(data, part.rectangle),
                                            matrix(written_level(part.level, steps), part.rectangle));
      data += part.rectangle.area();
    }
    if (is_staged(buffer)) staging = data;
  }
  /// Copies packed messages to host memory; does not fence. @param packed the first of those that are staged
  void send(const std::vector<HaloBuffer<Scalar>>& leaving, const Scalar* packed) const {
    for (const HaloBuffer<Scalar>& buffer : leaving) {
      if (!is_staged(buffer)) continue;
      const std::int64_t points = buffer.message->points();
      copy_to_host(queues_.copies, buffer.data, packed, static_cast<std::size_t>(points));
      packed += points;
    }
  }

  Queues queues_;
  Problem problem_;
  Overlap overlap_;
  Rectangle owned_;
  Rectangle held_;
  BorderAndInterior parts_;
  std::int64_t pitch_;                                               ///< elements from row to row
  UntouchedArray<Scalar, typename Execution::memory_space> memory_;  ///< all levels
  std::array<Scalar*, 4> levels_{};  ///< previous and current; of longer passes also those that are written
  Kokkos::View<Scalar*, DeviceOf<Execution>> staging_;  ///< of a device
};

}  // namespace steelyard::wave2d
