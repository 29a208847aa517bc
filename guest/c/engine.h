/*
 * Included before every C file of the engine (clang's -include), so that its sources stay untouched.
 *
 * 1. The engine's build pretends to be Emscripten, which turns computed-goto dispatch off. The define is
 *    undone; the one for DJGPP, which the engine tests in just four places, keeps atomics and threads off.
 * 2. The engine measures its stack by the address of a frame. A frame without locals in memory does not
 *    move WebAssembly's shadow stack, so deep recursion would pass unseen and overflow the native stack.
 *    Each check therefore takes some bytes of the shadow stack itself.
 */
#ifndef CODECELL_ENGINE_H
#define CODECELL_ENGINE_H

#undef EMSCRIPTEN
#define __DJGPP 1

#define CODECELL_FRAME_BYTES 160

static inline __attribute__((always_inline, unused)) void *codecell_keep(void *frame)
{
    __asm__ volatile("" : "+r"(frame) : : "memory");
    return frame;
}

#define __builtin_frame_address(level) \
    (__extension__({ char codecell_pad[CODECELL_FRAME_BYTES]; codecell_keep(codecell_pad); }))

#endif
