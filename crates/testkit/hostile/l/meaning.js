//## type-arguments-and-calls
//# expect: completed
//# language: typescript
//# value: [2,2]
const f = (...a: any[]) => a.length; const A = 1, B = 2; return [f(A < B, B > 3), f<number>(1, 2)]
//## asi-after-a-type
//# expect: completed
//# language: typescript
//# value: 3
let x = 1
type A = string
;[2].forEach(n => x += n)
return x
//## as-and-satisfies
//# expect: completed
//# language: typescript
//# value: [1,2,3,4]
const as = 1, satisfies = 2, type = 3, of = 4; return [as as any, satisfies satisfies number, type, of]
//## non-null
//# expect: completed
//# language: typescript
//# value: [1,2]
const o: any = {a: null}; let n = 0; o.a! ?? n++; o!.b! = 2; return [n, o.b]
//## arrow-return-type
//# expect: completed
//# language: typescript
//# value: 5
const c = true; const a = c ? (x: number): number => x : null; return a!(5)
//## strings-that-look-like-types
//# expect: completed
//# language: typescript
//# value: ["a as any","x: number",": string"]
return ['a as any', `x: number`, /: string/.source]
//## this-parameter
//# expect: completed
//# language: typescript
//# value: [3,1]
function f(this: {n: number}, a: number) { return [this.n + a, f.length] } return f.call({n: 1}, 2)
//## overloads
//# expect: completed
//# language: typescript
//# value: 1
function f(a: string): string; function f(a: number): number; function f(a: any) { return a } return f(1)
//## optional-chain-with-types
//# expect: completed
//# language: typescript
//# value: 7
const o: any = {f: <T,>(a: T) => a}; return o?.f<number>?.(7)
