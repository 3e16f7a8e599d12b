#pragma once

#include <cstdint>
#include <span>

#include "models/communication/message_pattern.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace steelyard::partition {

/// Halo exchange of a stencil: every process sends the points along each edge to the process across it, all at once.
/// Corners are no contact, empty rectangles send nothing. Process i owns rectangle i.
/// Source: 001, section 4.2, equations 13 and 14, figure 9.
/// @param bytes_per_point of one row or column of points next to an edge
/// @throws InvalidArgument without rectangles and for a size that is negative or not finite
models::MessagePattern halo_pattern(std::span<const Rectangle> rectangles, double bytes_per_point);

/// The communication of iteration k of SUMMA, sizes in bytes. First every process that owns part of block column k of A
/// sends it to those whose rows overlap, as many blocks as they have in common (pbc), then every owner of part of block
/// row k of B to those whose columns overlap (pbr). A process sends to one after the other. Process i owns rectangle i.
/// Source: 001, section 4.1, equations 8-10, figure 8, algorithm 1.
/// @param block_bytes of a block of b x b elements
/// @throws InvalidArgument without rectangles and for a size that is negative or not finite
models::MessagePattern summa_pattern(std::span<const Rectangle> rectangles, std::int64_t k, double block_bytes);

/// Pattern of rectangles whose unit is as small as one likes, such as an element, when pivots are columns [first,
/// first
/// + depth) of A and those rows of B: messages of common rows x depth and depth x common columns elements. The pivot
/// column and row each lie within one rectangle per row and column of the matrix.
/// @throws InvalidArgument also for a negative depth
models::MessagePattern summa_pattern(std::span<const Rectangle> rectangles, std::int64_t first, std::int64_t depth,
                                     double element_bytes);

}  // namespace steelyard::partition
