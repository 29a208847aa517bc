//## decorators
//# expect: completed or failed typescript_transform_failed syntax_error
//# language: typescript
function d(...a: any[]): any {} @d class A { @d x = 1; @d m(@d p: any) {} } return 1
//## namespaces
//# expect: completed or failed typescript_transform_failed
//# language: typescript
//# value: 1
namespace N.M { export const a = 1; export namespace O { export function f() { return a } } } return N.M.O.f()
//## jsx
//# expect: failed syntax_error typescript_transform_failed
//# language: typescript
const x = <div a={1}>{process}</div>; return x
//## generic-arrow
//# expect: completed
//# language: typescript
//# value: 1
const f = <T,>(a: T): T => a; return f(1)
//## using
//# expect: completed or failed typescript_transform_failed
//# language: typescript
{ using x = {[Symbol.dispose]() { text('disposed') }} as Disposable; } return 1
//## import-equals
//# expect: failed module_access_denied typescript_transform_failed syntax_error
//# language: typescript
import a = N.b; import fs = require('fs'); export = a
//## triple-slash
//# expect: completed
//# language: typescript
//# value: 1
/// <reference path='/etc/passwd' />
// @ts-nocheck
return 1
//## declare-global
//# expect: completed or failed typescript_transform_failed syntax_error module_access_denied
//# language: typescript
declare global { var evil: any } declare module 'fs' { export const x: 1 } return typeof evil
//## auto-accessors
//# expect: completed or failed syntax_error typescript_transform_failed
//# language: typescript
class A { accessor x = 1 } return new A().x
//## parameters-and-abstract
//# expect: completed
//# language: typescript
//# value: 2
abstract class A { abstract y: number; declare z: string; private readonly w?: number; constructor(public p = 2) {} } class B extends A { y = 3 } return new B().p
