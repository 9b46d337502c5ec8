import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { PLANTED_BUGS } from './planted.ts'

/**
 * A process of its own that looks for one planted bug: what it loads reads otherwise in one place. Ends with what it found on
 * its last line; see programme.ts.
 *
 * `node plant.ts <number of the bug> <seeds>`
 */
const [number = '', seeds = ''] = process.argv.slice(2)
const bug = PLANTED_BUGS[Number(number)]
assert.ok(bug, `there is no bug ${number}`)
const packages = fileURLToPath(new URL('../../../', import.meta.url))
let isPlanted = bug.change === undefined

registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context)
    const { change } = bug
    if (!change || !url.startsWith('file:') || fileURLToPath(url) !== packages + change.file) return loaded
    const source = String(loaded.source)
    assert.equal(source.split(change.from).length, 2, `${change.file} does not have the place once: ${change.from}`)
    isPlanted = true
    return { ...loaded, source: source.replace(change.from, () => change.to) }
  },
})

const { run } = await import('./run.ts')
assert.ok(isPlanted, `${bug.change?.file} was not loaded`)
let found = {}
for (let seed = 1; seed <= Number(seeds); seed++) {
  const { failure } = await run(seed, bug.lacking ? { lacking: bug.lacking } : {})
  if (failure === undefined) continue
  const invariant = nameOf(failure)
  found = { seed, invariant, message: String(failure) }
  break
}
console.log(JSON.stringify(found))

/** What found it: an invariant, or an assertion of the core itself. */
function nameOf(failure: unknown): unknown {
  if (!(failure instanceof Error)) return 'error'
  if ('invariant' in failure) return failure.invariant
  return 'code' in failure && failure.code === 'ERR_ASSERTION' ? 'assertion' : 'error'
}
