/* SPDX-License-Identifier: LGPL-2.1-or-later
 * operation.h: how an operation reaches its operands, and the table of all. */
#ifndef PTX_OPERATION_H
#define PTX_OPERATION_H

#include "ptx.h"

namespace ptx {
typedef std::map<std::string, Spec> Table;

/* arithmetic.cc: instructions of one lane. */
void add_arithmetic (Table &table);
/* lanes.cc: predicates, halves of registers, special registers, and instructions of
 * several lanes. */
void add_lanes (Table &table);

/* A type in a register. */
template <typename T> struct Stored
{
  typedef T type;
};
template <> struct Stored<uint8_t>
{
  typedef uint32_t type;
};
template <> struct Stored<int8_t>
{
  typedef uint32_t type;
};
template <> struct Stored<uint16_t>
{
  typedef uint32_t type;
};
template <> struct Stored<int16_t>
{
  typedef uint32_t type;
};

template <typename T>
const typename Stored<T>::type *
from (const Context &c, const Operand &o)
{
  return (const typename Stored<T>::type *)(c.base[o.is_constant] + o.offset);
}
template <typename T>
typename Stored<T>::type *
to (Context &c, const Operand &o)
{
  return (typename Stored<T>::type *)(c.registers + o.offset);
}
inline uint32_t
mask_of (const Context &c, const Operand &o)
{
  return *(const uint32_t *)(c.base[o.is_constant] + o.offset);
}
inline void
set_mask (Context &c, const Operand &o, uint32_t mask, uint32_t bits)
{
  uint32_t *p = (uint32_t *)(c.registers + o.offset);
  *p = (*p & ~mask) | (bits & mask);
}

template <typename F>
inline void
lanes (uint32_t mask, F f)
{
  if (mask == ALL) {
    for (int l = 0; l < WARP; l++)
      f (l);
  } else {
    for (; mask; mask &= mask - 1)
      f (first_lane (mask));
  }
}

template <typename T>
std::string
size_of (void)
{
  return sizeof (typename Stored<T>::type) == 8 ? "8" : "4";
}
} // namespace ptx

#endif
