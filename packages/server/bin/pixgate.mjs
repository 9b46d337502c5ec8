import './node-version.cjs'

// What an installation starts: `all`, `api`, `worker`, `migrate`, or `verify-ledger` with its options. Plain JavaScript, and
// the rest only when it is known that this Node.js runs TypeScript.
await import('../src/main.ts')
