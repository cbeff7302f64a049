/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fiber.c: the switch, by hand for the processors that matter: a kernel meets
 * at every shuffle, and swapcontext makes a system call each time. */
#include "fiber.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)

/* Saves what a function must preserve, swaps the stack pointer. */
__asm__(".text\n"
        ".globl standin_fiber_switch\n"
        ".hidden standin_fiber_switch\n"
        ".type standin_fiber_switch, @function\n"
        "standin_fiber_switch:\n"
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
        ".size standin_fiber_switch, . - standin_fiber_switch\n");

void
standin_fiber_init (StandinFiber *fiber, void *stack, size_t size,
    void (*run) (void))
{
  uintptr_t top = ((uintptr_t)stack + size) & ~(uintptr_t)15;
  uintptr_t *sp = (uintptr_t *)top;

  /* As if run had been called: the return address is 8 below a multiple of
   * 16; six registers are below it. */
  *--sp = 0;
  *--sp = (uintptr_t)run;
  sp -= 6;
  memset (sp, 0, 6 * sizeof *sp);
  fiber->stack_pointer = sp;
}

#elif defined(__aarch64__)

__asm__(".text\n"
        ".globl standin_fiber_switch\n"
        ".hidden standin_fiber_switch\n"
        ".type standin_fiber_switch, %function\n"
        "standin_fiber_switch:\n"
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
        ".size standin_fiber_switch, . - standin_fiber_switch\n");

void
standin_fiber_init (StandinFiber *fiber, void *stack, size_t size,
    void (*run) (void))
{
  uintptr_t top = ((uintptr_t)stack + size) & ~(uintptr_t)15;
  uintptr_t *sp = (uintptr_t *)(top - 160);

  memset (sp, 0, 160);
  sp[1] = (uintptr_t)run; /* x30 */
  fiber->stack_pointer = sp;
}

#else
#error "fiber.c has no switch for this processor"
#endif
