/*
 * Functions that need the engine's inner types; included by engine.h.
 *
 * Rows of data have the same keys in the same order. The engine's own interface makes each of them property by
 * property, through a chain of shapes that it takes down again for every row, and reads them by a list of names that it
 * allocates. The functions below make an object of a known shape at once, and read all slots of an object at once.
 *
 * A call's promise is settled by the host, with a value that is no promise and whose `then` must not be asked for. The
 * engine's own interface gives two functions for each promise, which look for that `then`; here the promise is all there
 * is, and it is settled directly.
 *
 * The functions are placed in quickjs.c, before `js_btoa`: it is defined in one place near
 * the end, and elsewhere only its address is used. Should that change, the guest no longer links.
 */
#ifndef CODECELL_INNER_H
#define CODECELL_INNER_H

#define js_btoa(...) js_btoa(__VA_ARGS__); CODECELL_INNER static JSValue js_btoa(__VA_ARGS__)

#define CODECELL_INNER \
    _Static_assert(sizeof(JSProperty) == sizeof(JSValue), "a slot is a value"); \
\
    /* An ordinary object with the keys of `model`, an ordinary object whose properties are all plain data. Takes \
       over one reference of each value. Undefined, and nothing taken, when the shape cannot be shared or has \
       another number of keys. */ \
    JSValue codecell_object_like(JSContext *ctx, JSValueConst model, int count, JSValue *values) \
    { \
        JSShape *shape = JS_VALUE_GET_OBJ(model)->shape; \
        if (!shape->is_hashed || shape->prop_count != count) \
            return JS_UNDEFINED; \
        return JS_NewObjectFromShape(ctx, js_dup_shape(shape), JS_CLASS_OBJECT, (JSProperty *)values); \
    } \
\
    /* The own properties of an ordinary object, if all are enumerable data and there are at most `room`: their number, \
       else -1. The caller gets a reference of each value and none of the atoms. */ \
    int codecell_slots(JSContext *ctx, JSValueConst object, int room, JSAtom *atoms, JSValue *values) \
    { \
        JSObject *p = JS_VALUE_GET_OBJ(object); \
        JSShapeProperty *slots = get_shape_prop(p->shape); \
        int count = p->shape->prop_count; \
        if (p->class_id != JS_CLASS_OBJECT || p->is_exotic || count > room) \
            return -1; \
        for (int i = 0; i < count; i++) { \
            if ((slots[i].flags & (JS_PROP_TMASK | JS_PROP_ENUMERABLE)) != JS_PROP_ENUMERABLE || \
                slots[i].atom == JS_ATOM_NULL) \
                return -1; \
            atoms[i] = slots[i].atom; \
        } \
        for (int i = 0; i < count; i++) \
            values[i] = js_dup(p->prop[i].u.value); \
        return count; \
    } \
\
    /* Whether the atom is a string that is no array index, so that objects list it in the order of their slots. */ \
    int codecell_is_name(JSContext *ctx, JSAtom atom) \
    { \
        uint32_t index; \
        return JS_AtomGetKind(ctx, atom) == JS_ATOM_KIND_STRING && !JS_AtomIsArrayIndex(ctx, &index, atom); \
    } \
\
    /* An element of an array without holes, with a reference; `uninitialized` for every other array or index. */ \
    JSValue codecell_element(JSContext *ctx, JSValueConst array, uint32_t index) \
    { \
        JSObject *p = JS_VALUE_GET_OBJ(array); \
        if (p->class_id != JS_CLASS_ARRAY || !p->fast_array || index >= p->u.array.count) \
            return JS_UNINITIALIZED; \
        return js_dup(p->u.array.u.values[index]); \
    } \
\
    /* The text of a string that is in one piece and of Latin-1; null for every other value. */ \
    const uint8_t *codecell_latin1(JSContext *ctx, JSValueConst value, uint32_t *length) \
    { \
        JSString *text; \
        if (JS_VALUE_GET_TAG(value) != JS_TAG_STRING) \
            return NULL; \
        text = JS_VALUE_GET_STRING(value); \
        *length = text->len; \
        return text->is_wide_char ? NULL : str8(text); \
    } \
\
    /* A pending promise, made as the engine makes them, but without functions that settle it. */ \
    JSValue codecell_promise(JSContext *ctx) \
    { \
        JSPromiseData *data; \
        JSValue promise = JS_NewObjectClass(ctx, JS_CLASS_PROMISE); \
        if (JS_IsException(promise)) \
            return promise; \
        data = js_mallocz(ctx, sizeof(*data)); \
        if (!data) { \
            JS_FreeValue(ctx, promise); \
            return JS_EXCEPTION; \
        } \
        data->promise_state = JS_PROMISE_PENDING; \
        data->promise_result = JS_UNDEFINED; \
        init_list_head(&data->promise_reactions[0]); \
        init_list_head(&data->promise_reactions[1]); \
        JS_SetOpaqueInternal(promise, data); \
        return promise; \
    } \
\
    /* Settles such a promise; a second time has no effect. */ \
    void codecell_settle(JSContext *ctx, JSValueConst promise, JSValueConst value, int is_reject) \
    { \
        fulfill_or_reject_promise(ctx, promise, value, is_reject != 0); \
    } \
\
    /* Appends to a fresh array, which nobody else has seen; takes over the reference. Negative when it throws. */ \
    int codecell_append(JSContext *ctx, JSValueConst array, JSValue value) \
    { \
        return add_fast_array_element(ctx, JS_VALUE_GET_OBJ(array), value, 0); \
    }

#endif
