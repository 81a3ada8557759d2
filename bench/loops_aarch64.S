/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * loops_aarch64.S - see loops.h
 *
 * Every loop starts at a multiple of 64 bytes.  The kernel preserves all registers but x0;
 * functions preserve x19 to x28.
 */

	.macro	begin name
	.globl	\name
	.type	\name, %function
	.p2align 6
\name:
	hint	#34			/* bti c */
	.endm

	.text

begin loop_syscall		/* x0 = struct loop_call *, x1 = n */
	mov	x9, x0
	mov	x10, x1
	mov	x11, #0
	ldr	x8, [x9, #0]		/* number */
	ldr	x12, [x9, #8]		/* arg0 */
	ldr	x13, [x9, #16]		/* arg0_step */
	ldr	x1, [x9, #24]		/* arg1 */
	ldr	x2, [x9, #32]		/* arg2 */
	ldr	x3, [x9, #40]		/* arg3 */
	ldr	x14, [x9, #48]		/* arg2_step */
	ldr	x15, [x9, #56]		/* result */
	ldr	x16, [x9, #64]		/* result_step */
	.p2align 6
1:	ldr	x0, [x12]
	svc	#0
	orr	x11, x11, x0
	str	x0, [x15]
	add	x12, x12, x13
	add	x2, x2, x14
	add	x15, x15, x16
	subs	x10, x10, #1
	b.ne	1b
	mov	x0, x11
	ret
	.size	loop_syscall, . - loop_syscall

begin loop_function		/* x0 = function, x1 = arg0, x2 = arg1, x3 = n */
	stp	x29, x30, [sp, #-64]!
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	str	x23, [sp, #48]
	mov	x19, x0
	mov	x20, x1
	mov	x21, x2
	mov	x22, x3
	mov	x23, #0
	.p2align 6
1:	mov	x0, x20
	mov	x1, x21
	blr	x19
	orr	x23, x23, x0
	subs	x22, x22, #1
	b.ne	1b
	mov	x0, x23
	ldr	x23, [sp, #48]
	ldp	x21, x22, [sp, #32]
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #64
	ret
	.size	loop_function, . - loop_function

begin loop_counter		/* x0 = n */
	.p2align 6
1:	isb
	mrs	x1, cntvct_el0
	subs	x0, x0, #1
	b.ne	1b
	ret
	.size	loop_counter, . - loop_counter

begin loop_multiply		/* x0 = n */
	mov	x1, #3
	.p2align 6
1:	.rept	16
	mul	x1, x1, x1
	.endr
	subs	x0, x0, #1
	b.ne	1b
	ret
	.size	loop_multiply, . - loop_multiply

begin loop_empty		/* x0 = n */
	.p2align 6
1:	subs	x0, x0, #1
	b.ne	1b
	ret
	.size	loop_empty, . - loop_empty

	.section .note.GNU-stack, "", %progbits
