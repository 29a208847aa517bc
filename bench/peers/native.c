/*
 * The guest's own engine without its sandbox: `native RUNS NAME FILE...` runs each file as the body of an
 * async function, in a fresh runtime each time, and prints the medians in microseconds as one JSON line.
 * Linked with the sources of the guest's crate, so that nothing differs but the compilation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "quickjs.h"

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The file between the two halves of an async function that is called. */
static char *program(const char *path)
{
    static const char before[] = "(async () => {\n", after[] = "\n})()";
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        return NULL;
    size_t length = ftell(file);
    char *text = malloc(length + sizeof before + sizeof after);
    rewind(file);
    strcpy(text, before);
    length = fread(text + strlen(before), 1, length, file);
    strcpy(text + strlen(before) + length, after);
    fclose(file);
    return text;
}

/* Whether the program came to its end; fulfilled with anything but undefined. */
static int run(const char *text)
{
    JSRuntime *runtime = JS_NewRuntime();
    JSContext *context = JS_NewContext(runtime), *other;
    JSValue promise = JS_Eval(context, text, strlen(text), "program", JS_EVAL_TYPE_GLOBAL);
    while (JS_ExecutePendingJob(runtime, &other) > 0)
        ;
    int done = JS_PromiseState(context, promise) == JS_PROMISE_FULFILLED;
    JSValue value = done ? JS_PromiseResult(context, promise) : JS_UNDEFINED;
    done = done && !JS_IsUndefined(value);
    JS_FreeValue(context, value);
    JS_FreeValue(context, promise);
    JS_FreeContext(context);
    JS_FreeRuntime(runtime);
    return done;
}

int main(int count, char **words)
{
    int runs = count > 1 ? atoi(words[1]) : 0;
    if (runs < 1 || count % 2 != 0) {
        fprintf(stderr, "usage: native RUNS NAME FILE...\n");
        return 2;
    }
    double *times = calloc(runs, sizeof *times);
    printf("{\"peer\": \"native quickjs-ng\", \"medians\": {");
    for (int at = 2; at < count; at += 2) {
        char *text = program(words[at + 1]);
        for (int round = -1 - runs / 10; round < runs; round++) {
            double begun = now_us();
            if (!text || !run(text)) {
                fprintf(stderr, "%s does not run\n", words[at + 1]);
                return 1;
            }
            if (round >= 0)
                times[round] = now_us() - begun;
        }
        qsort(times, runs, sizeof *times, ascending);
        printf("%s\"%s\": %.1f", at > 2 ? ", " : "", words[at], times[runs / 2]);
        free(text);
    }
    printf("}}\n");
    free(times);
    return 0;
}
