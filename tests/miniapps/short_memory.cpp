// A host without memory. Put before the real allocator by LD_PRELOAD, it refuses C++'s N-th allocation of at least 4
// KiB:
//   STEELYARD_SHORT=N[:RANK]   which, from 1 on, and on which rank; without a rank on all

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  constexpr std::size_t least_bytes = 4096;
  if (bytes >= least_bytes) {
    static std::atomic<long> allocations{0};
    const char* const text = std::getenv("STEELYARD_SHORT");
    char* end = nullptr;
    const long refused = text == nullptr ? 0 : std::strtol(text, &end, 10);
    const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
    const bool is_here = refused > 0 && (*end != ':' || std::atoi(end + 1) == (rank == nullptr ? 0 : std::atoi(rank)));
    if (is_here && ++allocations == refused) return nullptr;
  }
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes == 0 ? 1 : bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const memory = allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, 0); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*unused*/) noexcept { return allocate(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*unused*/) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
