#pragma once

#include <cstdint>
#include <vector>

#include "core/device/device.hpp"
#include "core/memory/home.hpp"
#include "core/memory/host_copy.hpp"
#include "core/timing.hpp"
#include "miniapps/wave2d/assignment.hpp"
#include "miniapps/wave2d/cost.hpp"
#include "miniapps/wave2d/local_field.hpp"

namespace steelyard::wave2d {

/// A message and where it lies: its parts one after the other, those of level n first.
template <class Scalar>
using HaloBuffer = MessageBuffer<Scalar, HaloMessage>;

/// One processing unit's part of a pass: first the points that other units need, then, while these are on their way,
/// the rest. On a device kernels and copies have a queue each, and the interior is launched right behind the border.
/// Source: 003, section 4.3, algorithms 3 to 5.
template <class Execution, class Scalar>
class UnitField {
 public:
  /// @param steps the most that a pass makes
  UnitField(const Execution& space, const Problem& problem, const partition::Rectangle& owned, int steps,
            Overlap overlap)
      : queues_(make_unit_queues(space)),
        parts_(cut_border(problem, owned, steps)),
        overlap_(overlap),
        field_(queues_.kernels, problem, owned, steps) {}

  const LocalField<Execution, Scalar>& field() const { return field_; }

  void load(Level level, const partition::Rectangle& part, const Scalar* host) {
    field_.load(queues_.kernels, level, part, host);
    queues_.kernels.fence();
  }
  void store(Level level, const partition::Rectangle& part, Scalar* host) const {
    field_.store(queues_.kernels, level, part, host);
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
    for (const partition::Rectangle& part : parts_.border) {
      field_.advance(part, steps, "steelyard::wave2d::border");
    }
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

  /// Advances the interior and ends the pass; fences.
  void finish(int steps, UnitTimes& times) {
    const double start_s = now_s();
    if (runs_on_host<Execution> || overlap_ == Overlap::none) launch_interior(steps);
    queues_.kernels.fence();
    times.interior_s += now_s() - start_s;
    field_.rotate(steps);
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

  void launch_interior(int steps) const { field_.advance(parts_.interior, steps, "steelyard::wave2d::interior"); }

  double fenced_s() const {
    if (overlap_ == Overlap::none) queues_.kernels.fence();
    return now_s();
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
  void unpack(HaloBuffer<Scalar> buffer, Scalar*& staging) {
    if (is_staged(buffer)) {
      const std::int64_t points = buffer.message->points();
      copy_from_host(queues_.kernels, staging, static_cast<const Scalar*>(buffer.data),
                     static_cast<std::size_t>(points));
      buffer = {buffer.message, staging, Home::unit};
      staging += points;
    }
    const Scalar* data = buffer.data;
    for_parts(*buffer.message, [&](Level level, const partition::Rectangle& part) {
      field_.load(queues_.kernels, level, part, data, buffer.home);
      data += part.area();
    });
  }
  void pack(const HaloBuffer<Scalar>& buffer, int steps, Scalar*& staging) const {
    Scalar* data = is_staged(buffer) ? staging : buffer.data;
    const Home home = is_staged(buffer) ? Home::unit : buffer.home;
    for_parts(*buffer.message, [&](Level level, const partition::Rectangle& part) {
      field_.store_next(queues_.kernels, level, part, data, steps, home);
      data += part.area();
    });
    if (is_staged(buffer)) staging = data;
  }
  /// Copies packed messages to host memory. @param packed the first of those that are staged
  void send(const std::vector<HaloBuffer<Scalar>>& leaving, const Scalar* packed) const {
    for (const HaloBuffer<Scalar>& buffer : leaving) {
      if (!is_staged(buffer)) continue;
      const std::int64_t points = buffer.message->points();
      copy_to_host(queues_.copies, buffer.data, packed, static_cast<std::size_t>(points));
      packed += points;
    }
  }

  Queues queues_;
  BorderAndInterior parts_;
  Overlap overlap_;
  LocalField<Execution, Scalar> field_;
  Kokkos::View<Scalar*, DeviceOf<Execution>> staging_;  ///< of a device
};

}  // namespace steelyard::wave2d
