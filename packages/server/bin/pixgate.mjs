import './node-version.cjs'

// What an installation starts: `all`, `api`, `worker`, `migrate`, or `verify-ledger` with its options. Plain JavaScript, and
// the rest only when it is known that this Node.js runs TypeScript.
const [, , word, ...parameters] = process.argv

if (word === 'verify-ledger') {
  const { readEnvironment } = await import('../src/process.ts')
  const { configuredDatabase, verifyLedger } = await import('../src/verify-ledger.ts')
  process.exitCode = await verifyLedger(parameters, 'pixgate verify-ledger', () =>
    configuredDatabase(readEnvironment().environment),
  )
} else {
  await import('../src/main.ts')
}
