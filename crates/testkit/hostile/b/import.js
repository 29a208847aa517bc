//## static
//# expect: failed module_access_denied
import fs from 'fs'
//## static-with-text-after
//# expect: failed module_access_denied
import * as os from "node:os"; return os
//## dynamic
//# expect: failed module_access_denied
return await import('fs')
//## dynamic-computed
//# expect: failed module_access_denied
const name = 'f' + 's'; return await import(name)
//## dynamic-with-comment
//# expect: failed module_access_denied
return await import/* a comment */('fs')
//## dynamic-in-a-template
//# expect: failed module_access_denied
return `${await import('fs')}`
//## dynamic-in-a-default
//# expect: failed module_access_denied
const f = (a = import('fs')) => a; return 1
//## dynamic-in-a-class-key
//# expect: failed module_access_denied
class A { static [import('fs')] = 1 } return 1
//## meta
//# expect: failed module_access_denied
return import.meta.url
//## source-phase
//# expect: failed module_access_denied syntax_error
return import.source('x')
//## deferred
//# expect: failed module_access_denied syntax_error
return import.defer('x')
//## export
//# expect: failed module_access_denied
export default 1
//## require
//# expect: failed module_access_denied
const fs = require('fs'); return fs.readFileSync('/etc/passwd', 'utf8')
//## require-by-property
//# expect: completed or failed guest_error module_access_denied
return globalThis['req' + 'uire']('fs')
//## require-aliased
//# expect: failed guest_error module_access_denied
const r = require; return r('fs')
//## require-optional
//# expect: failed guest_error module_access_denied
return require?.('fs')
//## require-escaped
//# expect: failed guest_error module_access_denied
return \u0072equire('fs')
//## import-escaped
//# expect: failed module_access_denied syntax_error
return await \u0069mport('fs')
//## in-typescript
//# expect: failed module_access_denied
//# language: typescript
import type { A } from './a'; import x = require('fs'); return x
//## dynamic-in-typescript
//# expect: failed module_access_denied
//# language: typescript
const x: any = await import('fs'); return x
//## import-type-is-no-import
//# expect: completed or failed module_access_denied
//# language: typescript
type A = import('fs').Stats; const a: A | null = null; return a
