// Sorted, disjoint, merged closed intervals over an ordered discrete type: ports, addresses, ICMP
// types. Canonical: equal sets have equal representations. Needs T::max-like stepping through
// `succ(T)` and `pred(T)`, found by argument-dependent lookup (or below, for integers); neither is
// called at the end of the type's range.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

namespace bulkhead {

template <std::integral T>
constexpr T succ(T value) {
  return static_cast<T>(value + 1);
}
template <std::integral T>
constexpr T pred(T value) {
  return static_cast<T>(value - 1);
}

template <class T>
struct Interval {
  T first{};
  T last{};
  auto operator<=>(const Interval&) const = default;
  [[nodiscard]] bool contains(const T& value) const { return first <= value && value <= last; }
};

template <class T>
class IntervalSet {
 public:
  using value_type = Interval<T>;
  IntervalSet() = default;
  IntervalSet(std::initializer_list<Interval<T>> intervals) {
    for (const auto& interval : intervals)
      add(interval);
  }
  [[nodiscard]] static IntervalSet from(
      std::vector<Interval<T>> intervals);  // any order, overlaps ok

  void add(Interval<T> interval) {
    intervals_.push_back(interval);
    normalise();
  }
  [[nodiscard]] bool empty() const { return intervals_.empty(); }
  [[nodiscard]] std::size_t size() const { return intervals_.size(); }  // number of intervals
  [[nodiscard]] bool contains(const T& value) const;
  [[nodiscard]] bool contains(const IntervalSet& other) const { return (other - *this).empty(); }
  [[nodiscard]] bool overlaps(const IntervalSet& other) const { return !(*this & other).empty(); }
  [[nodiscard]] auto begin() const { return intervals_.begin(); }
  [[nodiscard]] auto end() const { return intervals_.end(); }
  [[nodiscard]] const std::vector<Interval<T>>& intervals() const { return intervals_; }

  auto operator<=>(const IntervalSet&) const = default;
  friend IntervalSet operator|(const IntervalSet& a, const IntervalSet& b) {
    std::vector<Interval<T>> all(a.intervals_);
    all.insert(all.end(), b.intervals_.begin(), b.intervals_.end());
    return from(std::move(all));
  }
  friend IntervalSet operator&(const IntervalSet& a, const IntervalSet& b) {
    IntervalSet out;
    auto x = a.begin();
    auto y = b.begin();
    while (x != a.end() && y != b.end()) {
      const T first = std::max(x->first, y->first);
      const T last = std::min(x->last, y->last);
      if (first <= last)
        out.intervals_.push_back({first, last});
      if (x->last < y->last) {
        ++x;
      } else {
        ++y;
      }
    }
    return out;
  }
  friend IntervalSet operator-(const IntervalSet& a, const IntervalSet& b) {
    IntervalSet out;
    auto cut = b.begin();
    for (Interval<T> piece : a.intervals_) {
      while (cut != b.end() && cut->last < piece.first)
        ++cut;
      bool gone = false;
      for (auto c = cut; c != b.end() && c->first <= piece.last; ++c) {
        if (c->first > piece.first)
          out.intervals_.push_back({piece.first, pred(c->first)});
        if (c->last >= piece.last) {
          gone = true;
          break;
        }
        piece.first = succ(c->last);
      }
      if (!gone)
        out.intervals_.push_back(piece);
    }
    return out;
  }

 private:
  void normalise() {
    if (intervals_.size() < 2)
      return;
    std::sort(intervals_.begin(), intervals_.end());
    std::size_t kept = 0;
    for (std::size_t i = 1; i < intervals_.size(); ++i) {
      Interval<T>& back = intervals_[kept];
      const Interval<T>& next = intervals_[i];
      const bool joins = next.first <= back.last || pred(next.first) == back.last;
      if (joins) {
        back.last = std::max(back.last, next.last);
      } else {
        intervals_[++kept] = next;
      }
    }
    intervals_.resize(kept + 1);
  }
  std::vector<Interval<T>> intervals_;
};

template <class T>
IntervalSet<T> IntervalSet<T>::from(std::vector<Interval<T>> intervals) {
  IntervalSet out;
  out.intervals_ = std::move(intervals);
  out.normalise();
  return out;
}

template <class T>
bool IntervalSet<T>::contains(const T& value) const {
  auto after = std::upper_bound(intervals_.begin(), intervals_.end(), value,
                                [](const T& v, const Interval<T>& i) { return v < i.first; });
  return after != intervals_.begin() && std::prev(after)->contains(value);
}

using PortRange = Interval<std::uint16_t>;
using PortSet = IntervalSet<std::uint16_t>;

}  // namespace bulkhead
