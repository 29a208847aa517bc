/*
 * Included before every C file of the engine (clang's -include), so that its sources stay untouched.
 *
 * 1. The engine's build pretends to be Emscripten, which turns computed-goto dispatch off. The define is
 *    undone; the one for DJGPP, which the engine tests in just four places, keeps atomics and threads off.
 * 2. The engine measures its stack by the address of a frame. A frame without locals in memory does not
 *    move WebAssembly's shadow stack, so deep recursion would pass unseen and overflow the native stack.
 *    Each check therefore takes some bytes of the shadow stack itself.
 * 3. Whether it was the engine that ran out of stack or memory must not be a matter of an error's text,
 *    which a program can forge. The two functions that throw these errors are renamed, and every call of
 *    them tells the guest's own code which error object was made. A declaration's argument starts with
 *    `JSContext`, a call's with one of three names, so pasting the first token tells them apart.
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

unsigned long long codecell_engine_error(unsigned long long thrown, int kind, void *context);

#define JS_ThrowStackOverflow(context) CODECELL_STACK_##context )
#define CODECELL_STACK_JSContext codecell_stack_overflow(JSContext
#define CODECELL_STACK_ctx codecell_engine_error(codecell_stack_overflow(ctx), 0, ctx
#define CODECELL_STACK_caller_ctx codecell_engine_error(codecell_stack_overflow(caller_ctx), 0, caller_ctx
#define CODECELL_STACK_s codecell_engine_error(codecell_stack_overflow(s->ctx), 0, s

#define JS_ThrowOutOfMemory(context) CODECELL_MEMORY_##context )
#define CODECELL_MEMORY_JSContext codecell_out_of_memory(JSContext
#define CODECELL_MEMORY_ctx codecell_engine_error(codecell_out_of_memory(ctx), 1, ctx

#endif
