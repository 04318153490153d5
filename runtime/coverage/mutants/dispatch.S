// Where the hooks of hooks.py lead, with the function's number in %r11: to the
// function itself, but for the one that hooks.cpp has chosen to answer wrongly.
// Arguments stay where the caller has put them, whatever they are.
    .text

    .globl coverage_dispatch
    .type coverage_dispatch, @function
coverage_dispatch:
    movq coverage_called(%rip), %r10
    movb $1, (%r10,%r11)
    cmpl %r11d, coverage_mutant(%rip)
    je 1f
    leaq coverage_hooked(%rip), %r10
    jmp *(%r10,%r11,8)

    // Does nothing, and says that it went well.
1:  cmpl $0, coverage_mutant_status(%rip)
    jne 2f
    xorl %eax, %eax
    ret

    // Does its work, and says that it failed: returns by way of 3.
2:  pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    subq $136, %rsp
    movups %xmm0, (%rsp)
    movups %xmm1, 16(%rsp)
    movups %xmm2, 32(%rsp)
    movups %xmm3, 48(%rsp)
    movups %xmm4, 64(%rsp)
    movups %xmm5, 80(%rsp)
    movups %xmm6, 96(%rsp)
    movups %xmm7, 112(%rsp)
    movq 184(%rsp), %rdi
    call coverage_enter
    movups (%rsp), %xmm0
    movups 16(%rsp), %xmm1
    movups 32(%rsp), %xmm2
    movups 48(%rsp), %xmm3
    movups 64(%rsp), %xmm4
    movups 80(%rsp), %xmm5
    movups 96(%rsp), %xmm6
    movups 112(%rsp), %xmm7
    addq $136, %rsp
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
    leaq 3f(%rip), %r10
    movq %r10, (%rsp)
    movslq coverage_mutant(%rip), %r11
    leaq coverage_hooked(%rip), %r10
    jmp *(%r10,%r11,8)

3:  subq $16, %rsp
    call coverage_leave
    addq $8, %rsp
    movq %rax, (%rsp)
    movl coverage_mutant_status(%rip), %eax
    ret
    .size coverage_dispatch, . - coverage_dispatch

    .section .note.GNU-stack,"",@progbits
