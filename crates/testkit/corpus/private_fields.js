class Account { #cents = 0; static #made = 0; #log = []; constructor() { Account.#made++; }
  async add(k) { this.#cents += await tools.step({ k }); this.#note("add"); return this; }
  #note(w) { this.#log.push(w + this.#cents); } get log() { return this.#log; } static get made() { return Account.#made; } static is(o) { return #cents in o; } }
const a = new Account(); const b = new Account();
await a.add(1); await b.add(5); await Promise.all([a.add(2), a.add(3)]);
return { a: a.log, b: b.log, made: Account.made, is: [Account.is(a), Account.is({})] };
