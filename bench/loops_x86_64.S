/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * loops_x86_64.S - see loops.h
 *
 * Every loop starts at a multiple of 64 bytes.  The kernel preserves all registers but
 * rax, rcx and r11; functions preserve rbx, rbp and r12 to r15.
 */

	.macro	begin name
	.globl	\name
	.type	\name, @function
	.p2align 6
\name:
	endbr64
	.endm

	.macro	save
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	.endm

	.macro	restore
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	.endm

	.text

begin loop_syscall		/* rdi = struct loop_call *, rsi = n */
	save
	mov	%rsi, %rbx
	xor	%ebp, %ebp
	mov	0(%rdi), %r13		/* number */
	mov	8(%rdi), %r12		/* arg0 */
	mov	16(%rdi), %r8		/* arg0_step */
	mov	24(%rdi), %rsi		/* arg1 */
	mov	32(%rdi), %rdx		/* arg2 */
	mov	40(%rdi), %r10		/* arg3 */
	mov	48(%rdi), %r9		/* arg2_step */
	mov	56(%rdi), %r14		/* result */
	mov	64(%rdi), %r15		/* result_step */
	.p2align 6
1:	mov	%r13, %rax
	mov	(%r12), %rdi
	syscall
	or	%rax, %rbp
	mov	%rax, (%r14)
	add	%r8, %r12
	add	%r9, %rdx
	add	%r15, %r14
	dec	%rbx
	jnz	1b
	mov	%rbp, %rax
	restore
	ret
	.size	loop_syscall, . - loop_syscall

begin loop_function		/* rdi = function, rsi = arg0, rdx = arg1, rcx = n */
	save
	sub	$8, %rsp		/* a call expects the stack at a multiple of 16 */
	mov	%rcx, %rbx
	xor	%ebp, %ebp
	mov	%rdi, %r12
	mov	%rsi, %r13
	mov	%rdx, %r14
	.p2align 6
1:	mov	%r13, %rdi
	mov	%r14, %rsi
	call	*%r12
	or	%rax, %rbp
	dec	%rbx
	jnz	1b
	mov	%rbp, %rax
	add	$8, %rsp
	restore
	ret
	.size	loop_function, . - loop_function

begin loop_counter		/* rdi = n */
	.p2align 6
1:	rdtscp
	lfence
	dec	%rdi
	jnz	1b
	ret
	.size	loop_counter, . - loop_counter

begin loop_multiply		/* rdi = n */
	mov	$3, %eax
	.p2align 6
1:	.rept	16
	imul	%rax, %rax
	.endr
	dec	%rdi
	jnz	1b
	ret
	.size	loop_multiply, . - loop_multiply

begin loop_empty		/* rdi = n */
	.p2align 6
1:	dec	%rdi
	jnz	1b
	ret
	.size	loop_empty, . - loop_empty

	.section .note.GNU-stack, "", @progbits

	/* Says that this file keeps to -fcf-protection (endbr64 above), or the whole program
	 * would lose the mark. */
	.section .note.gnu.property, "a"
	.p2align 3
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0
