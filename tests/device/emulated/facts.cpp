#include "tests/device/emulated/facts.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "tests/device/emulated/queue.hpp"

namespace steelyard::emulated {
namespace {

[[noreturn]] void refuse(std::string_view word, std::string_view expected) {
  throw InvalidArgument(fmt::format("STEELYARD_EMULATED_DEVICE: \"{}\" (expected {})", word, expected));
}

/// A whole number of at least `least`. @param is_size takes a unit of bytes behind it
std::uint64_t number_in(std::string_view word, std::string_view value, std::uint64_t least, std::string_view expected,
                        bool is_size = false) {
  constexpr std::array<std::string_view, 4> units = {"", "KiB", "MiB", "GiB"};
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  value.remove_prefix(static_cast<std::size_t>(end - value.data()));
  const auto unit = std::find(units.begin(), units.end(), value);
  const bool has_unit = unit != units.begin();
  if (error != std::errc() || number < least || unit == units.end() || (has_unit && !is_size)) refuse(word, expected);
  return number << (10 * (unit - units.begin()));
}

std::uint64_t bytes_in(std::string_view word, std::string_view value) {
  return number_in(word, value, 1, "a size such as 48KiB, 64MiB or 1GiB", true);
}

Mistake mistake(std::string_view word, std::string_view value) {
  constexpr std::array<std::string_view, 5> names = {"none", "fence", "event", "copy", "barrier"};
  const auto found = std::find(names.begin(), names.end(), value);
  if (found == names.end()) refuse(word, "none, fence, event, copy or barrier");
  return static_cast<Mistake>(found - names.begin());
}

thread_local int device_of_this_thread = 0;

std::size_t whole_pages(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

/// A mapping in three parts: pages of the host with the header, pages of the device, and a guard page without access.
struct Block {
  std::string label;
  int device = 0;
  std::size_t header_bytes = 0, bytes = 0;

  std::size_t mapped_bytes() const { return whole_pages(header_bytes) + whole_pages(bytes) + whole_pages(1); }
};

/// All blocks, by where their memory begins.
class Blocks {
 public:
  static Blocks& instance() {
    // Never destroyed: Views may outlive everything that is.
    static Blocks* const blocks = new Blocks;
    return *blocks;
  }

  void* add(const char* label, std::size_t header_bytes, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    handle_faults();
    const Block block{label, selected_device(), header_bytes, bytes};
    auto& used = used_bytes_[static_cast<std::size_t>(block.device)];
    if (static_cast<double>(used + bytes) > facts().memory_bytes) throw std::bad_alloc();
    void* const pages = ::mmap(nullptr, block.mapped_bytes(), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    auto* const memory = static_cast<std::byte*>(pages) + whole_pages(header_bytes);
    constexpr int not_a_number = 0xff;
    std::memset(memory, not_a_number, bytes);
    ::mprotect(memory + whole_pages(bytes), whole_pages(1), PROT_NONE);
    used += bytes;
    blocks_.emplace(memory, block);
    if (open_[static_cast<std::size_t>(block.device)] == 0) protect(memory, block, false);
    return memory;
  }

  void remove(void* memory) {
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find(static_cast<std::byte*>(memory));
    used_bytes_[static_cast<std::size_t>(found->second.device)] -= found->second.bytes;
    ::munmap(found->first - whole_pages(found->second.header_bytes), found->second.mapped_bytes());
    blocks_.erase(found);
  }

  std::size_t used_bytes(int device) {
    const std::scoped_lock lock(mutex_);
    return used_bytes_[static_cast<std::size_t>(device)];
  }

  bool holds(const void* address) {
    const std::scoped_lock lock(mutex_);
    return find(address) != nullptr;
  }

  void open(int device) {
    const std::scoped_lock lock(mutex_);
    if (open_[static_cast<std::size_t>(device)]++ == 0) protect_all(device, true);
  }
  void close(int device) {
    const std::scoped_lock lock(mutex_);
    if (--open_[static_cast<std::size_t>(device)] == 0) protect_all(device, false);
  }

  /// Without the lock: for the handler of a fault, which may have interrupted anything.
  const std::pair<std::byte* const, Block>* find(const void* address) const {
    const auto* const byte = static_cast<const std::byte*>(address);
    for (const auto& block : blocks_) {
      const auto [memory, facts] = block;
      if (byte >= memory && byte < memory + whole_pages(facts.bytes) + whole_pages(1)) return &block;
    }
    return nullptr;
  }

 private:
  Blocks()
      : open_(static_cast<std::size_t>(facts().devices), facts().mpi_aware ? 1 : 0),
        used_bytes_(static_cast<std::size_t>(facts().devices), 0) {}

  /// Again and again, for others handle the signal too, such as a test's framework.
  void handle_faults() {
    struct sigaction now {};
    ::sigaction(SIGSEGV, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &Blocks::report_fault) return;
    struct sigaction action {};
    action.sa_sigaction = &Blocks::report_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(SIGSEGV, &action, &before_);
  }

  static void protect(std::byte* memory, const Block& block, bool open) {
    ::mprotect(memory, whole_pages(block.bytes), open ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
  void protect_all(int device, bool open) {
    for (const auto& [memory, block] : blocks_) {
      if (block.device == device) protect(memory, block, open);
    }
  }

  /// Prints which memory was touched and restores the handler before this one, which then gets the signal again.
  static void report_fault(int /*signal*/, siginfo_t* info, void* /*context*/) {
    const Blocks& blocks = instance();
    if (const auto* const found = blocks.find(info->si_addr)) {
      const auto& [memory, block] = *found;
      const auto at = static_cast<long>(static_cast<const std::byte*>(info->si_addr) - memory);
      std::array<char, 512> text{};
      const int length =
          std::snprintf(text.data(), text.size(),
                        "steelyard: %s touched byte %ld of \"%s\", %zu bytes in the memory of device %d%s\n",
                        on_device() ? "a kernel or copy of another device" : "host code", at, block.label.c_str(),
                        block.bytes, block.device, at >= static_cast<long>(block.bytes) ? ", behind its end" : "");
      if (length > 0) (void)!::write(STDERR_FILENO, text.data(), static_cast<std::size_t>(length));
    }
    ::sigaction(SIGSEGV, &blocks.before_, nullptr);
  }

  std::mutex mutex_;
  std::map<std::byte*, Block> blocks_;
  std::vector<int> open_;
  std::vector<std::size_t> used_bytes_;
  struct sigaction before_ {};
};

}  // namespace

Facts parse_facts(const std::string& text) {
  Facts facts;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const std::string_view key = word.substr(0, word.find('='));
    const std::string_view value = word.substr(std::min(word.size(), key.size() + 1));
    if (key == "memory") {
      facts.memory_bytes = static_cast<double>(bytes_in(word, value));
    } else if (key == "link" || key == "links") {
      facts.link_bytes_per_s = static_cast<double>(bytes_in(word, value));
      facts.shares_link = key == "link";
    } else if (key == "scratch") {
      facts.scratch_bytes = bytes_in(word, value);
    } else if (key == "devices") {
      facts.devices = static_cast<int>(number_in(word, value, 1, "a number of devices >= 1"));
    } else if (key == "seed") {
      facts.seed = number_in(word, value, 0, "a number >= 0");
    } else if (key == "lose") {
      facts.lost = mistake(word, value);
    } else if (key == "fail") {
      const std::string_view rank = value.substr(std::min(value.size(), value.find(':') + 1));
      facts.failing = number_in(word, value.substr(0, value.find(':')), 1, "N or N:RANK");
      if (value.find(':') != value.npos) facts.failing_rank = static_cast<int>(number_in(word, rank, 0, "N:RANK"));
    } else if (key == "mpi" && (value == "aware" || value == "host")) {
      facts.mpi_aware = value == "aware";
    } else {
      refuse(word, "memory=, devices=, link=, links=, scratch=, seed=, lose=, fail= or mpi=aware|host");
    }
  }
  return facts;
}

const Facts& facts() {
  static const Facts of_this_process = [] {
    const char* const text = std::getenv("STEELYARD_EMULATED_DEVICE");
    return parse_facts(text == nullptr ? "" : text);
  }();
  return of_this_process;
}

int selected_device() { return device_of_this_thread; }

void select_device(int device) {
  if (device < 0 || device >= facts().devices) {
    throw InvalidArgument(fmt::format("device {} is not there (expected 0 to {})", device, facts().devices - 1));
  }
  device_of_this_thread = device;
}

void* allocate(const char* label, std::size_t header_bytes, std::size_t bytes) {
  return Blocks::instance().add(label, header_bytes, bytes);
}

void deallocate(void* memory) {
  Queue::wait_for_all();
  Blocks::instance().remove(memory);
}

std::size_t allocated_bytes(int device) { return Blocks::instance().used_bytes(device); }

const char* copy_label(const void* to, const void* from) {
  Blocks& blocks = Blocks::instance();
  return !blocks.holds(from) ? copy_to_device : !blocks.holds(to) ? copy_to_host : copy_on_device;
}

MemoryAccess::MemoryAccess(int device) : device_(device) { Blocks::instance().open(device); }
MemoryAccess::~MemoryAccess() { Blocks::instance().close(device_); }

}  // namespace steelyard::emulated
