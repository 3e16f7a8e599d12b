#include "partition/search/sum_set.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace steelyard::partition {
namespace {

std::size_t words_for(std::int64_t bits) { return static_cast<std::size_t>((bits + 63) / 64); }

/// target |= source << shift, in the first `length` bits.
void or_shifted(Bits& target, const Bits& source, std::int64_t shift, std::int64_t length) {
  const std::size_t count = words_for(length);
  const auto whole = static_cast<std::size_t>(shift >> 6);
  const int part = static_cast<int>(shift & 63);
  if (whole >= count) return;
  std::uint64_t* const to = target.data() + whole;
  const std::uint64_t* const from = source.data();
  const std::size_t words = std::min(count - whole, source.size());
  if (part == 0) {
    for (std::size_t i = 0; i < words; ++i) to[i] |= from[i];
    return;
  }
  to[0] |= from[0] << part;
  for (std::size_t i = 1; i < words; ++i) to[i] |= from[i] << part | from[i - 1] >> (64 - part);
  if (words < count - whole) to[words] |= from[words - 1] >> (64 - part);
}

void clear_from(Bits& bits, std::int64_t length) {
  bits.resize(words_for(length));
  if (length % 64 != 0) bits.back() &= (std::uint64_t{1} << (length % 64)) - 1;
}

}  // namespace

std::int64_t common_divisor(std::span<const std::int64_t> numbers) {
  std::int64_t divisor = 0;
  for (std::size_t i = 0; i < numbers.size() && divisor != 1; ++i) divisor = std::gcd(divisor, numbers[i]);
  return divisor;
}

Bits sumset(const Bits& set, std::span<const std::int64_t> sizes, std::int64_t stride, std::int64_t length) {
  // doubled[k] is the sumset with {0, stride, …, (2^k - 1) stride}: two shifts of one of them make any run of sizes.
  std::vector<Bits> doubled{set};
  doubled[0].resize(words_for(length), 0);
  Bits sums(words_for(length), 0);
  for (std::size_t first = 0; first < sizes.size();) {
    std::size_t last = first;
    while (last + 1 < sizes.size() && sizes[last + 1] - sizes[last] == stride) ++last;
    const auto run = static_cast<std::uint64_t>(last - first + 1);
    const auto k = static_cast<std::size_t>(std::bit_width(run) - 1);
    while (doubled.size() <= k) {
      Bits next = doubled.back();
      or_shifted(next, doubled.back(), stride << (doubled.size() - 1), length);
      doubled.push_back(std::move(next));
    }
    or_shifted(sums, doubled[k], sizes[first], length);
    if (run != std::uint64_t{1} << k) or_shifted(sums, doubled[k], sizes[last] - (stride << k) + stride, length);
    first = last + 1;
  }
  clear_from(sums, length);
  return sums;
}

bool SumSet::contains(std::int64_t sum) const {
  if (sum < 0 || sum > limit_) return false;
  if (sum < length_) return has(bits_, sum);
  if (period_ == 0) return false;
  const std::int64_t first = length_ - period_;
  return has(bits_, first + (sum - first) % period_);
}

void SumSet::unroll(std::int64_t length) {
  bits_.resize(words_for(length), 0);
  const std::int64_t first = length_ - period_;
  // The known periods are copied behind themselves, so their number doubles each time.
  for (std::int64_t known = length_; period_ > 0 && known < length;) {
    const std::int64_t shift = (known - first) / period_ * period_;
    Bits tail(bits_.begin() + static_cast<std::ptrdiff_t>(first >> 6), bits_.end());
    tail[0] &= ~std::uint64_t{0} << (first & 63);
    or_shifted(bits_, tail, (first >> 6 << 6) + shift, length);
    known = std::min(length, known + shift);
  }
  clear_from(bits_, length);
  length_ = length;
}

void SumSet::add(std::span<const std::int64_t> sizes) {
  sizes = sizes.first(static_cast<std::size_t>(std::upper_bound(sizes.begin(), sizes.end(), limit_) - sizes.begin()));
  if (sizes.size() < 2) return;
  const std::int64_t largest = sizes.back();
  reach_ = largest > limit_ - reach_ ? limit_ : reach_ + largest;
  unroll(period_ > 0 ? std::min(limit_ + 1, length_ + largest) : reach_ + 1);

  const std::int64_t stride = common_divisor(sizes);
  common_ = std::gcd(common_, stride);

  bits_ = sumset(bits_, sizes, stride, length_);

  // While the largest sums are below the limit, nothing repeats up to it.
  if (period_ > 0 || reach_ == limit_) {
    const std::int64_t before = period_;
    if (before > 0) shorten(before);
    for (const std::int64_t period : {stride, common_}) {
      if (before == 0 || before % period == 0) shorten(period);
    }
  }
}

std::int64_t SumSet::last_difference(std::int64_t period) const {
  const auto whole = static_cast<std::size_t>(period >> 6);
  const int part = static_cast<int>(period & 63);
  const std::int64_t bits = length_ - period;
  for (std::size_t i = words_for(bits); i-- > 0;) {
    std::uint64_t shifted = bits_[i + whole] >> part;
    if (part > 0 && i + whole + 1 < bits_.size()) shifted |= bits_[i + whole + 1] << (64 - part);
    std::uint64_t difference = bits_[i] ^ shifted;
    const std::int64_t from = static_cast<std::int64_t>(i) * 64;
    if (bits - from < 64) difference &= (std::uint64_t{1} << (bits - from)) - 1;
    if (difference != 0) return from + 63 - std::countl_zero(difference);
  }
  return -1;
}

void SumSet::shorten(std::int64_t period) {
  if (period >= length_) return;
  const std::int64_t first = last_difference(period) + 1;  // from here on the bits repeat
  if (length_ > limit_) {
    if (first + period >= length_) return;  // nothing lies beyond the bits, and no bit would be saved
  } else if (length_ - first < period_) {
    return;  // beyond the bits sums repeat with period_: only a whole one of them shows that a divisor of it does
  }
  const std::int64_t length = first + period;
  length_ = std::min(length, length_);
  period_ = period;
  clear_from(bits_, length_);
}

SumSet::Run SumSet::longest_run(std::int64_t residue, std::int64_t stride) const {
  // Where sums repeat, the residue class repeats after the common multiple: twice through it, for a run may lie across
  // the seam, says all.
  const bool repeats = period_ > 0 && length_ <= limit_;
  const std::int64_t cycle = repeats ? std::lcm(period_, stride) : 0;
  const std::int64_t end = std::min(limit_, length_ - 1 + 2 * cycle);
  Run longest;
  Run run;
  const auto close = [&] {
    if (run.last - run.first > longest.last - longest.first) longest = run;
    run = Run{};
  };
  std::int64_t sum = residue;
  for (; sum <= end; sum += stride) {
    if (!contains(sum)) {
      close();
    } else if (run.last < 0) {
      run = {sum, sum};
    } else {
      run.last = sum;
    }
  }
  if (run.last >= 0 && repeats && run.last - std::max(run.first, length_ - period_) >= cycle - stride) {
    run.last += (limit_ - run.last) / stride * stride;
  }
  close();
  return longest;
}

}  // namespace steelyard::partition
