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
 * 4. Every call out of the guest makes an error that remembers where that was, and most of its time went into
 *    printing the stack's lines with `vsnprintf`, which knows so much more than their texts and numbers. Formats that
 *    have nothing but `%s` and `%d` are printed here.
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

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The barrier keeps the loop from becoming a `memory.copy`, which leaves the module's code. */
static inline __attribute__((unused)) void codecell_copy(char *out, const char *text, size_t bytes)
{
    while (bytes-- > 0) {
        *out++ = *text++;
        __asm__ volatile("" : : : "memory");
    }
}

static inline __attribute__((unused)) int codecell_vsnprintf(char *out, size_t room, const char *format, va_list list)
{
    size_t length = 0;
    const char *at;

    for (at = format; (at = strchr(at, '%')) != NULL; at += 2) {
        if (at[1] != 's' && at[1] != 'd')
            return vsnprintf(out, room, format, list);
    }
    for (at = format; *at; at++) {
        char digits[12], *start = digits + sizeof(digits);
        const char *text = at;
        size_t bytes = 1;
        if (at[0] == '%' && at[1] == 's') {
            at++;
            text = va_arg(list, const char *);
            text = text ? text : "(null)";
            bytes = strlen(text);
        } else if (at[0] == '%') {
            at++;
            int number = va_arg(list, int);
            unsigned int rest = number < 0 ? 0u - (unsigned int)number : (unsigned int)number;
            do {
                *--start = '0' + rest % 10;
                rest /= 10;
            } while (rest > 0);
            if (number < 0)
                *--start = '-';
            text = start;
            bytes = digits + sizeof(digits) - start;
        }
        if (length < room)
            codecell_copy(out + length, text, bytes < room - length ? bytes : room - length);
        length += bytes;
    }
    if (room > 0)
        out[length < room ? length : room - 1] = '\0';
    return (int)length;
}

#define vsnprintf codecell_vsnprintf

#include "inner.h"

#endif
