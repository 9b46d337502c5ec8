import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../check/repository.ts'

interface Component {
  readonly name: string
  readonly version: string
  readonly hashes?: readonly { readonly alg: string }[]
  readonly licenses?: readonly unknown[]
}

/** What of an entry of the lock file leads to others. */
interface Locked {
  readonly version: string
  readonly resolved?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))

/** Where Node.js would find a package from a folder. */
function found(packages: Readonly<Record<string, Locked>>, from: string, name: string): string {
  const path = `${from}${from && '/'}node_modules/${name}`
  const entry = packages[path]
  if (entry) return entry.link ? (entry.resolved ?? '') : path
  assert.notEqual(from, '', `${name} is not in the lock file`)
  return found(
    packages,
    from.includes('/node_modules/') ? from.replace(/\/node_modules\/(?!.*\/node_modules\/).*$/, '') : '',
    name,
  )
}

/** The paths of all that a package needs to run, itself among them. */
function closure(packages: Readonly<Record<string, Locked>>, path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen
  seen.add(path)
  const { dependencies, optionalDependencies } = packages[path] ?? {}
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies }))
    closure(packages, found(packages, path, name), seen)
  return seen
}

test('the bill of materials is CycloneDX, and has what an installation of the server has and nothing else', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'pixgate-sbom-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const said = execFileSync(process.execPath, [join(ROOT, 'scripts/sbom.ts'), folder], { encoding: 'utf8' })
  const [file = ''] = readdirSync(folder)
  const { version } = read('packages/server/package.json')
  assert.equal(file, `pixgate-server-${version}.cdx.json`)
  const { bomFormat, metadata, components } = JSON.parse(readFileSync(join(folder, file), 'utf8'))
  const { name, version: described } = metadata.component
  assert.deepEqual([bomFormat, name, described], ['CycloneDX', '@pixgate/server', version])
  assert.ok(said.endsWith(`: ${components.length} components\n`))

  const { packages } = read('package-lock.json')
  const needed = [...closure(packages, 'packages/server')].map((path) => {
    const folderName = path.includes('node_modules/')
      ? path.replace(/^.*node_modules\//, '')
      : path.replace('packages/', '')
    return `${folderName} ${packages[path].version}`
  })
  const told = (components as Component[]).map((component) => `${component.name} ${component.version}`)
  assert.deepEqual(told.toSorted(), [...new Set(needed)].toSorted(), 'one that is installed twice is told once')
  assert.ok(needed.length > 50)
  for (const component of components as Component[]) {
    if (['server', 'spec', 'brcode'].includes(component.name)) continue
    const { hashes, licenses } = component
    assert.deepEqual([hashes?.map(({ alg }) => alg), licenses?.length], [['SHA-512'], 1], component.name)
  }
})
