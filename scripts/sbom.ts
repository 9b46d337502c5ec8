import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { ROOT } from './check/repository.ts'

/**
 * `npm run sbom`: writes what an installation of the server consists of, with licences and SHA-512, as a CycloneDX document into
 * `dist`, or into the folder given after `--`. It is read from the lock file: nothing is asked of anybody.
 */
const folder = resolve(process.argv[2] ?? 'dist')

/** A `package.json`, or what the lock file has of one. */
type Manifest = Readonly<Record<string, unknown>>

const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))

/** npm's own way to leave them out, `--omit=dev`, leaves out what the server needs and another package is developed with, too. */
function withoutDevelopment({ devDependencies: _, ...manifest }: Manifest): Manifest {
  return manifest
}

/** The lock file and all `package.json`, with nothing that is only developed with. */
function productionCopy(copy: string): void {
  const write = (path: string, content: Manifest) => {
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    writeFileSync(join(copy, path), JSON.stringify(content))
  }
  for (const path of globSync('{package.json,packages/*/package.json}', { cwd: ROOT })) {
    write(path, withoutDevelopment(read(path)))
  }
  const lock: { packages: Readonly<Record<string, Manifest>> } = read('package-lock.json')
  const packages = Object.entries(lock.packages).map(([path, entry]) => [path, withoutDevelopment(entry)])
  write('package-lock.json', { ...lock, packages: Object.fromEntries(packages) })
}

function bomOfServer() {
  const copy = mkdtempSync(join(tmpdir(), 'pixgate-sbom-'))
  try {
    productionCopy(copy)
    const parameters = ['--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only']
    return JSON.parse(
      execFileSync('npm', ['sbom', ...parameters, '--workspace=@pixgate/server'], {
        cwd: copy,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    )
  } finally {
    rmSync(copy, { recursive: true })
  }
}

const { version }: { version: string } = read('packages/server/package.json')
const bom = bomOfServer()
// npm calls it by the folder that it was asked in.
Object.assign(bom.metadata.component, { name: '@pixgate/server', version })
mkdirSync(folder, { recursive: true })
const path = join(folder, `pixgate-server-${version}.cdx.json`)
writeFileSync(path, `${JSON.stringify(bom, null, 2)}\n`)
console.log(`${path}: ${bom.components.length} components`)
