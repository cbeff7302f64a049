/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fiber.c: the switch, by hand for the processors that matter: a kernel meets
 * at every shuffle, and swapcontext makes a system call each time. */
#include "fiber.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

/* The sanitizer keeps a shadow of the stack that runs and must be told when it
 * is another one. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(save, stack, size)                      \
  ((void)(save), (void)(stack), (void)(size))
#define __sanitizer_finish_switch_fiber(save, stack, size) ((void)(save))
#endif

/* Swaps the stack pointer, and all that a function must preserve. */
void standin_fiber_swap (StandinFiber *here, const StandinFiber *there);

/* What the fiber that is about to begin runs. */
static void (*entry) (void);

static void
begin (void)
{
  __sanitizer_finish_switch_fiber (NULL, NULL, NULL);
  entry ();
}

void
standin_fiber_switch (StandinFiber *here, const StandinFiber *there)
{
  __sanitizer_start_switch_fiber (&here->fake_stack, there->stack,
      there->stack_size);
  standin_fiber_swap (here, there);
  __sanitizer_finish_switch_fiber (here->fake_stack, NULL, NULL);
}

void
standin_fiber_leave (StandinFiber *here, const StandinFiber *there)
{
  __sanitizer_start_switch_fiber (NULL, there->stack, there->stack_size);
  standin_fiber_swap (here, there);
}

void
standin_fiber_init_here (StandinFiber *fiber)
{
#if defined(__SANITIZE_ADDRESS__)
  pthread_attr_t attributes;
  void *stack;

  if (pthread_getattr_np (pthread_self (), &attributes) == 0) {
    pthread_attr_getstack (&attributes, &stack, &fiber->stack_size);
    fiber->stack = stack;
    pthread_attr_destroy (&attributes);
  }
#endif
  fiber->fake_stack = NULL;
}

#if defined(__x86_64__)

/* Saves what a function must preserve, swaps the stack pointer. */
__asm__(".text\n"
        ".globl standin_fiber_swap\n"
        ".hidden standin_fiber_swap\n"
        ".type standin_fiber_swap, @function\n"
        "standin_fiber_swap:\n"
        "  pushq %rbp\n"
        "  pushq %rbx\n"
        "  pushq %r12\n"
        "  pushq %r13\n"
        "  pushq %r14\n"
        "  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq (%rsi), %rsp\n"
        "  popq %r15\n"
        "  popq %r14\n"
        "  popq %r13\n"
        "  popq %r12\n"
        "  popq %rbx\n"
        "  popq %rbp\n"
        "  ret\n"
        ".size standin_fiber_swap, . - standin_fiber_swap\n");

void
standin_fiber_init (StandinFiber *fiber, void *stack, size_t size,
    void (*run) (void))
{
  uintptr_t top = ((uintptr_t)stack + size) & ~(uintptr_t)15;
  uintptr_t *sp = (uintptr_t *)top;

  /* As if run had been called: the return address is 8 below a multiple of
   * 16; six registers are below it. */
  *--sp = 0;
  *--sp = (uintptr_t)begin;
  sp -= 6;
  memset (sp, 0, 6 * sizeof *sp);
  fiber->stack_pointer = sp;
  fiber->stack = stack;
  fiber->stack_size = size;
  entry = run;
}

#elif defined(__aarch64__)

__asm__(".text\n"
        ".globl standin_fiber_swap\n"
        ".hidden standin_fiber_swap\n"
        ".type standin_fiber_swap, %function\n"
        "standin_fiber_swap:\n"
        "  stp x29, x30, [sp, #-160]!\n"
        "  stp x19, x20, [sp, #16]\n"
        "  stp x21, x22, [sp, #32]\n"
        "  stp x23, x24, [sp, #48]\n"
        "  stp x25, x26, [sp, #64]\n"
        "  stp x27, x28, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n"
        "  stp d10, d11, [sp, #112]\n"
        "  stp d12, d13, [sp, #128]\n"
        "  stp d14, d15, [sp, #144]\n"
        "  mov x2, sp\n"
        "  str x2, [x0]\n"
        "  ldr x2, [x1]\n"
        "  mov sp, x2\n"
        "  ldp x19, x20, [sp, #16]\n"
        "  ldp x21, x22, [sp, #32]\n"
        "  ldp x23, x24, [sp, #48]\n"
        "  ldp x25, x26, [sp, #64]\n"
        "  ldp x27, x28, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n"
        "  ldp d10, d11, [sp, #112]\n"
        "  ldp d12, d13, [sp, #128]\n"
        "  ldp d14, d15, [sp, #144]\n"
        "  ldp x29, x30, [sp], #160\n"
        "  ret\n"
        ".size standin_fiber_swap, . - standin_fiber_swap\n");

void
standin_fiber_init (StandinFiber *fiber, void *stack, size_t size,
    void (*run) (void))
{
  uintptr_t top = ((uintptr_t)stack + size) & ~(uintptr_t)15;
  uintptr_t *sp = (uintptr_t *)(top - 160);

  memset (sp, 0, 160);
  sp[1] = (uintptr_t)begin; /* x30 */
  fiber->stack_pointer = sp;
  fiber->stack = stack;
  fiber->stack_size = size;
  entry = run;
}

#else
#error "fiber.c has no switch for this processor"
#endif
