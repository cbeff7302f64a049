/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fiber.h: separate stacks, and switching between them. */
#ifndef TFX_STANDIN_FIBER_H
#define TFX_STANDIN_FIBER_H

#include <stddef.h>

/* Where something has stopped; on its own stack. */
typedef struct StandinFiber
{
  void *stack_pointer;
  /* For the address sanitizer. */
  const void *stack;
  size_t stack_size;
  void *fake_stack;
} StandinFiber;

/* Makes fiber the stack of this thread. */
void standin_fiber_init_here (StandinFiber *fiber);

/* Makes a fiber that will call run on the stack of the given size.  run must
 * never return. */
void standin_fiber_init (StandinFiber *fiber, void *stack, size_t size,
    void (*run) (void));

/* Stops here, continues there. */
void standin_fiber_switch (StandinFiber *here, const StandinFiber *there);

/* Ends here, continues there. */
void standin_fiber_leave (StandinFiber *here, const StandinFiber *there);

#endif
