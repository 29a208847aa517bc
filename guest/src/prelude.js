// The pure globals that are written in JavaScript: text codecs, URLs, structuredClone. Evaluated once,
// before any user code. All that it uses later is taken here; it reads no intrinsic by name after that,
// adds to arrays and objects through `native.define` only, and iterates nothing of its own.
((native) => {
  'use strict';
  const { Map, Set, Date, RegExp, Uint8Array, ArrayBuffer, DataView, TypeError, RangeError } = globalThis;
  const { apply } = Reflect;
  const { Object: object } = globalThis;
  const bind = (method) => (self, ...rest) => apply(method, self, rest);
  const getter = (object, key) => bind(Object.getOwnPropertyDescriptor(object, key).get);
  const TypedArray = Object.getPrototypeOf(Uint8Array);
  const { keys } = Object;
  const mapGet = bind(Map.prototype.get);
  const mapSet = bind(Map.prototype.set);
  const mapHas = bind(Map.prototype.has);
  const setAdd = bind(Set.prototype.add);
  const time = bind(Date.prototype.getTime);
  const sourceOf = getter(RegExp.prototype, 'source');
  const bufferSlice = bind(ArrayBuffer.prototype.slice);
  const bufferLength = getter(ArrayBuffer.prototype, 'byteLength');
  const viewBuffer = getter(DataView.prototype, 'buffer');
  const viewOffset = getter(DataView.prototype, 'byteOffset');
  const viewLength = getter(DataView.prototype, 'byteLength');
  const typedBuffer = getter(TypedArray.prototype, 'buffer');
  const typedOffset = getter(TypedArray.prototype, 'byteOffset');
  const typedLength = getter(TypedArray.prototype, 'length');
  const typedTag = getter(TypedArray.prototype, Symbol.toStringTag);
  const { iterator, toStringTag } = Symbol;
  const typedConstructors = new Map();
  for (const one of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
    BigInt64Array, BigUint64Array, Float16Array, Float32Array, Float64Array]) {
    typedConstructors.set(one.name, one);
  }
  const errorConstructors = new Map();
  for (const one of [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]) {
    errorConstructors.set(one.name, one);
  }
  const { define, kind, kinds, regexpFlags, dataCloneError } = native;

  // Text codecs.

  const bytesOf = (input) => {
    const what = kind(input);
    if (what === kinds.typed) return new Uint8Array(typedBuffer(input), typedOffset(input), typedByteLength(input));
    if (what === kinds.buffer) return new Uint8Array(input);
    if (what === kinds.view) return new Uint8Array(viewBuffer(input), viewOffset(input), viewLength(input));
    throw new TypeError('expected an ArrayBuffer or a view of one');
  };
  const typedByteLength = getter(TypedArray.prototype, 'byteLength');

  class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(input = '') { return native.encode(`${input}`); }
    encodeInto(source, destination) {
      if (kind(destination) !== kinds.typed || typedTag(destination) !== 'Uint8Array') {
        throw new TypeError('encodeInto needs a Uint8Array');
      }
      const done = native.encodeInto(`${source}`, destination);
      return { read: done[0], written: done[1] };
    }
  }

  class TextDecoder {
    #encoding; #fatal; #ignoreBOM; #rest; #started = false;
    constructor(label = 'utf-8', options = {}) {
      const known = native.encodingName(`${label}`);
      if (known === undefined) throw new RangeError(`the encoding ${label} is not supported; use utf-8 or utf-16le`);
      this.#encoding = known;
      this.#fatal = !!options?.fatal;
      this.#ignoreBOM = !!options?.ignoreBOM;
    }
    get encoding() { return this.#encoding; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }
    decode(input, options = {}) {
      const stream = !!options?.stream;
      const bytes = input === undefined ? undefined : bytesOf(input);
      const keepMark = this.#ignoreBOM || this.#started;
      const rest = this.#rest;
      this.#rest = undefined;
      this.#started = false;
      const done = native.decode(this.#encoding, this.#fatal, keepMark, stream, rest, bytes);
      if (stream) {
        this.#rest = done[1];
        this.#started = keepMark || done[2];
      }
      return done[0];
    }
  }

  // URLs. A URL is its href; search parameters are a query string. Both are parsed by native code.

  const PARTS = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];
  let queryOf, setQuery, attach;

  class URLSearchParams {
    #query = ''; #url;
    static {
      queryOf = (params) => params.#query;
      setQuery = (params, query) => { params.#query = query; };
      attach = (params, url) => { params.#url = url; };
    }
    constructor(init = '') {
      if (typeof init === 'object' && init !== null || typeof init === 'function') {
        if (init[iterator] !== undefined && init[iterator] !== null) {
          for (const pair of init) {
            let count = 0; let name; let value;
            for (const part of pair) {
              if (count === 0) name = `${part}`; else value = `${part}`;
              count += 1;
            }
            if (count !== 2) throw new TypeError('each query pair must be an iterable of a name and a value');
            this.#query = native.queryAppend(this.#query, name, value);
          }
        } else {
          const names = keys(init);
          for (let i = 0; i < names.length; i += 1) {
            this.#query = native.queryAppend(this.#query, `${names[i]}`, `${init[names[i]]}`);
          }
        }
      } else {
        this.#query = native.queryNormal(`${init}`);
      }
    }
    #update(query) {
      this.#query = query;
      if (this.#url !== undefined) setSearch(this.#url, query);
    }
    get size() { return native.queryEntries(this.#query).length / 2; }
    append(name, value) { this.#update(native.queryAppend(this.#query, `${name}`, `${value}`)); }
    delete(name, value) { this.#update(native.queryDelete(this.#query, `${name}`, value === undefined ? undefined : `${value}`)); }
    get(name) { return native.queryGet(this.#query, `${name}`); }
    getAll(name) { return native.queryGetAll(this.#query, `${name}`); }
    has(name, value) { return native.queryHas(this.#query, `${name}`, value === undefined ? undefined : `${value}`); }
    set(name, value) { this.#update(native.querySet(this.#query, `${name}`, `${value}`)); }
    sort() { this.#update(native.querySort(this.#query)); }
    forEach(callback, self) {
      const list = native.queryEntries(this.#query);
      for (let i = 0; i < list.length; i += 2) apply(callback, self, [list[i + 1], list[i], this]);
    }
    *entries() {
      for (let i = 0; ; i += 2) {
        const list = native.queryEntries(this.#query);
        if (i >= list.length) return;
        yield [list[i], list[i + 1]];
      }
    }
    *keys() {
      for (let i = 0; ; i += 2) {
        const list = native.queryEntries(this.#query);
        if (i >= list.length) return;
        yield list[i];
      }
    }
    *values() {
      for (let i = 0; ; i += 2) {
        const list = native.queryEntries(this.#query);
        if (i >= list.length) return;
        yield list[i + 1];
      }
    }
    toString() { return this.#query; }
  }

  let setSearch;

  class URL {
    #parts; #params;
    static {
      setSearch = (url, query) => { url.#parts = native.urlSet(url.#parts[0], 9, query); };
    }
    constructor(url, base) {
      this.#parts = native.urlParse(`${url}`, base === undefined ? undefined : `${base}`);
    }
    static canParse(url, base) {
      return native.urlCanParse(`${url}`, base === undefined ? undefined : `${base}`);
    }
    static parse(url, base) {
      return URL.canParse(url, base) ? new URL(url, base) : null;
    }
    static part(url, index) { return url.#parts[index]; }
    static change(url, index, value) {
      url.#parts = native.urlSet(url.#parts[0], index, `${value}`);
      if (url.#params !== undefined) setQuery(url.#params, native.queryNormal(url.#parts[9]));
    }
    get searchParams() {
      if (this.#params === undefined) {
        this.#params = new URLSearchParams(this.#parts[9]);
        attach(this.#params, this);
      }
      return this.#params;
    }
    toString() { return this.#parts[0]; }
    toJSON() { return this.#parts[0]; }
  }
  {
    const { part, change } = URL;
    delete URL.part;
    delete URL.change;
    PARTS.forEach((name, index) => {
      Object.defineProperty(URL.prototype, name, {
        enumerable: true,
        configurable: true,
        get() { return part(this, index); },
        set: name === 'origin' ? undefined : function (value) { change(this, index, value); },
      });
    });
  }

  // structuredClone.

  const refuseClone = (what) => { throw dataCloneError(`${what} could not be cloned`); };

  const cloneFields = (from, to, seen) => {
    const names = keys(from);
    for (let i = 0; i < names.length; i += 1) define(to, names[i], cloneValue(from[names[i]], seen));
    return to;
  };

  const keep = (seen, from, to) => { mapSet(seen, from, to); return to; };

  const cloneError = (from, seen) => {
    const name = `${from.name}`;
    const Constructor = mapGet(errorConstructors, mapHas(errorConstructors, name) ? name : 'Error');
    const to = keep(seen, from, new Constructor());
    const message = native.ownData(from, 'message');
    if (message !== undefined) native.defineHidden(to, 'message', `${message}`);
    const cause = native.ownData(from, 'cause');
    if (cause !== undefined) native.defineHidden(to, 'cause', cloneValue(cause, seen));
    return to;
  };

  const cloneBuffer = (from, seen) => (mapHas(seen, from) ? mapGet(seen, from)
    : keep(seen, from, bufferSlice(from, 0, bufferLength(from))));

  const cloneObject = (from, seen) => {
    switch (kind(from)) {
      case kinds.array: {
        const to = keep(seen, from, []);
        native.setLength(to, from.length);
        return cloneFields(from, to, seen);
      }
      case kinds.date: return keep(seen, from, new Date(time(from)));
      case kinds.regexp: return keep(seen, from, new RegExp(sourceOf(from), regexpFlags(from)));
      case kinds.map: {
        const to = keep(seen, from, new Map());
        const list = native.mapItems(from);
        for (let i = 0; i < list.length; i += 2) mapSet(to, cloneValue(list[i], seen), cloneValue(list[i + 1], seen));
        return to;
      }
      case kinds.set: {
        const to = keep(seen, from, new Set());
        const list = native.setItems(from);
        for (let i = 0; i < list.length; i += 1) setAdd(to, cloneValue(list[i], seen));
        return to;
      }
      case kinds.error: return cloneError(from, seen);
      case kinds.buffer: return cloneBuffer(from, seen);
      case kinds.typed: {
        const Constructor = mapGet(typedConstructors, typedTag(from));
        const buffer = cloneBuffer(typedBuffer(from), seen);
        return keep(seen, from, new Constructor(buffer, typedOffset(from), typedLength(from)));
      }
      case kinds.view: {
        const buffer = cloneBuffer(viewBuffer(from), seen);
        return keep(seen, from, new DataView(buffer, viewOffset(from), viewLength(from)));
      }
      case kinds.boxed: return keep(seen, from, object(native.unbox(from)));
      case kinds.plain: return cloneFields(from, keep(seen, from, {}), seen);
      case kinds.proxy: return refuseClone('a proxy');
      default: return refuseClone('the value');
    }
  };

  const cloneValue = (value, seen) => {
    if (typeof value === 'symbol') return refuseClone('a symbol');
    if (typeof value === 'function') return refuseClone('a function');
    if (typeof value !== 'object' || value === null) return value;
    if (mapHas(seen, value)) return mapGet(seen, value);
    return cloneObject(value, seen);
  };

  const wrapper = {
    structuredClone(value, options) {
      if (options?.transfer?.length > 0) throw dataCloneError('transferring is not supported; leave transfer out');
      return cloneValue(value, new Map());
    },
  };

  const tag = (target, name) => Object.defineProperty(target.prototype, toStringTag, { value: name, configurable: true });
  tag(TextEncoder, 'TextEncoder');
  tag(TextDecoder, 'TextDecoder');
  tag(URL, 'URL');
  tag(URLSearchParams, 'URLSearchParams');
  Object.defineProperty(URLSearchParams.prototype, iterator, {
    value: URLSearchParams.prototype.entries, writable: true, configurable: true,
  });
  return [TextEncoder, TextDecoder, URL, URLSearchParams, wrapper.structuredClone];
})
