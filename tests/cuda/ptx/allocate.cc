/* SPDX-License-Identifier: LGPL-2.1-or-later
 * allocate.cc: registers whose values never live at the same time share their
 * place: some 30 KB a warp instead of megabytes. */
#include <algorithm>

#include "ptx.h"

namespace ptx {
namespace {
/* A register, from the first to the last instruction where it matters. */
struct Value
{
  uint32_t offset, bytes;
  int first, last;
};

typedef std::vector<uint64_t> Bits;

/* A straight piece of code. */
struct Segment
{
  int begin, end;
  std::vector<int> next;
  Bits in, out, used, defined;
};

class Allocator {
public:
  Allocator (Kernel &kernel, const std::map<uint32_t, uint32_t> &bytes_of);

  void cut (void);
  void find_lives (void);
  uint32_t place (std::vector<uint32_t> &places);
  void rename (const std::vector<uint32_t> &places);

private:
  Kernel &kernel;
  std::map<uint32_t, int> number; /* of an offset: which value */
  std::vector<Value> values;
  std::vector<Segment> segments;
  std::vector<int> segment_of; /* of an instruction that begins one */
  size_t words;                /* of a set of values */

  void connect (Segment &s);
  void look_into (Segment &s);
  void extend (int v, int at);
};

bool
get (const Bits &b, int i)
{
  return b[(size_t)i / 64] >> (i % 64) & 1;
}

void
set (Bits &b, int i)
{
  b[(size_t)i / 64] |= (uint64_t)1 << (i % 64);
}

/* The offsets of the registers that an instruction reads, or writes. */
std::vector<uint32_t *>
sources (Instruction &i)
{
  std::vector<uint32_t *> v;

  for (Operand &o : i.s) {
    if (!o.is_constant && o.offset)
      v.push_back (&o.offset);
  }
  if (i.predicate > 0)
    v.push_back ((uint32_t *)&i.predicate);
  return v;
}

std::vector<uint32_t *>
targets (Instruction &i)
{
  std::vector<uint32_t *> v;

  for (Operand &o : i.d) {
    if (o.offset)
      v.push_back (&o.offset);
  }
  return v;
}

Allocator::Allocator (Kernel &kernel,
    const std::map<uint32_t, uint32_t> &bytes_of)
    : kernel (kernel)
{
  for (Instruction &i : kernel.code) {
    for (auto list : { sources (i), targets (i) }) {
      for (uint32_t *o : list) {
        if (number.count (*o))
          continue;
        number[*o] = (int)values.size ();
        values.push_back ({ *o, bytes_of.at (*o), 0x7fffffff, -1 });
      }
    }
  }
  words = values.size () / 64 + 1;
}

/* Into segments: they begin where a branch leads and behind one. */
void
Allocator::cut (void)
{
  int n = (int)kernel.code.size ();
  std::vector<char> begins ((size_t)n + 1, 0);

  begins[0] = begins[(size_t)n] = 1;
  for (int k = 0; k < n; k++) {
    const Instruction &i = kernel.code[(size_t)k];
    if (i.flow == Flow::branch)
      begins[(size_t)i.target] = 1;
    if (i.flow == Flow::branch || i.flow == Flow::ret)
      begins[(size_t)k + 1] = 1;
  }
  segment_of.assign ((size_t)n + 1, -1);
  for (int k = 0, end; k < n; k = end) {
    for (end = k + 1; !begins[(size_t)end];)
      end++;
    segment_of[(size_t)k] = (int)segments.size ();
    segments.push_back (
        { k, end, {}, Bits (words), Bits (words), Bits (words), Bits (words) });
  }
  for (Segment &s : segments) {
    connect (s);
    look_into (s);
  }
}

void
Allocator::connect (Segment &s)
{
  const Instruction &last = kernel.code[(size_t)s.end - 1];
  bool goes_on = last.predicate >= 0 ||
                 (last.flow != Flow::branch && last.flow != Flow::ret);

  if (last.flow == Flow::branch)
    s.next.push_back (segment_of[(size_t)last.target]);
  if (goes_on && s.end < (int)kernel.code.size ())
    s.next.push_back (segment_of[(size_t)s.end]);
}

void
Allocator::look_into (Segment &s)
{
  for (int k = s.begin; k < s.end; k++) {
    Instruction &i = kernel.code[(size_t)k];

    for (uint32_t *o : sources (i)) {
      if (!get (s.defined, number[*o]))
        set (s.used, number[*o]);
    }
    /* An instruction with a predicate keeps the values of other lanes. */
    for (uint32_t *o : targets (i)) {
      if (i.predicate < 0)
        set (s.defined, number[*o]);
    }
  }
}

void
Allocator::extend (int v, int at)
{
  values[(size_t)v].first = std::min (values[(size_t)v].first, at);
  values[(size_t)v].last = std::max (values[(size_t)v].last, at);
}

void
Allocator::find_lives (void)
{
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t k = segments.size (); k-- > 0;) {
      Segment &s = segments[k];
      for (size_t w = 0; w < words; w++) {
        uint64_t out = 0, in;
        for (int next : s.next)
          out |= segments[(size_t)next].in[w];
        in = s.used[w] | (out & ~s.defined[w]);
        changed |= in != s.in[w] || out != s.out[w];
        s.in[w] = in;
        s.out[w] = out;
      }
    }
  }
  for (Segment &s : segments) {
    for (int v = 0; v < (int)values.size (); v++) {
      if (get (s.in, v))
        extend (v, s.begin);
      if (get (s.out, v))
        extend (v, s.end);
    }
    for (int k = s.begin; k < s.end; k++) {
      for (auto list : { sources (kernel.code[(size_t)k]),
               targets (kernel.code[(size_t)k]) }) {
        for (uint32_t *o : list)
          extend (number[*o], k);
      }
    }
  }
}

/* Where each value lies; returns where all of them end. */
uint32_t
Allocator::place (std::vector<uint32_t> &places)
{
  std::vector<int> order (values.size ());
  std::map<uint32_t, std::vector<uint32_t>> unused;       /* by size */
  std::multimap<int, std::pair<uint32_t, uint32_t>> busy; /* by the last use */
  uint32_t end = 256; /* offset 0 means none */

  for (size_t k = 0; k < order.size (); k++)
    order[k] = (int)k;
  std::sort (order.begin (), order.end (), [&] (int a, int b) {
    return values[(size_t)a].first < values[(size_t)b].first;
  });
  places.resize (values.size ());
  for (int v : order) {
    const Value &x = values[(size_t)v];
    uint32_t at;

    while (!busy.empty () && busy.begin ()->first < x.first) {
      auto &over = busy.begin ()->second;
      unused[over.first].push_back (over.second);
      busy.erase (busy.begin ());
    }
    auto &list = unused[x.bytes];
    if (!list.empty ()) {
      at = list.back ();
      list.pop_back ();
    } else {
      if (x.bytes > 4)
        end = (end + 63) / 64 * 64;
      at = end;
      end += x.bytes;
    }
    places[(size_t)v] = at;
    busy.insert ({ x.last, { x.bytes, at } });
  }
  return end;
}

void
Allocator::rename (const std::vector<uint32_t> &places)
{
  for (Instruction &i : kernel.code) {
    for (auto list : { sources (i), targets (i) }) {
      for (uint32_t *o : list)
        *o = places[(size_t)number[*o]];
    }
  }
}
} // namespace

void
allocate (Kernel &kernel, const std::map<uint32_t, uint32_t> &bytes_of)
{
  Allocator allocator (kernel, bytes_of);
  std::vector<uint32_t> places;

  allocator.cut ();
  allocator.find_lives ();
  kernel.register_bytes = allocator.place (places);
  allocator.rename (places);
}
} // namespace ptx
