import type { Check } from './check.ts'
import { readText } from './repository.ts'

/** An entry of `package-lock.json`. */
interface Locked {
  /** Set for an alias. */
  readonly name?: string
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly license?: string
  readonly hasInstallScript?: boolean
}

interface LockFile {
  readonly lockfileVersion: number
  readonly packages: Readonly<Record<string, Locked>>
}

interface Manifest {
  readonly allowScripts?: Readonly<Record<string, boolean>>
}

/** Licences that only require keeping a notice. */
const LICENCES = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'PostgreSQL',
  'Unlicense',
  // Fonts; a document that embeds one is free.
  'OFL-1.1',
])

/** Required settings of `.npmrc`. */
const SETTINGS: readonly (readonly [name: string, isRight: (value: string) => boolean, wanted: string])[] = [
  ['min-release-age', (value) => Number(value) >= 7, 'at least 7'],
  ['strict-allow-scripts', (value) => value === 'true', 'true'],
]

/**
 * Supply-chain faults of a lock file: a package from elsewhere than the registry, without SHA-512, under an alias, with an
 * install script that is not allowed, or with another licence.
 */
export function lockFileProblems(lockFile: string, manifest: string): string[] {
  const { lockfileVersion, packages }: LockFile = JSON.parse(lockFile)
  const { allowScripts = {} }: Manifest = JSON.parse(manifest)
  const installed = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)
  const hosts = new Set(installed.flatMap(([, { resolved }]) => hostOf(resolved) ?? []))
  return [
    ...(lockfileVersion === 3 ? [] : [`lockfileVersion is ${lockfileVersion}, not 3`]),
    ...(hosts.size > 1 ? [`packages come from several hosts: ${[...hosts].join(', ')}`] : []),
    ...strangeFolders(packages),
    ...installed.flatMap(([path, locked]) => {
      const name = nameOf(path)
      const faults = [...originFaults(name, locked), ...licenceFaults(locked)]
      if (locked.hasInstallScript && allowScripts[name] !== true)
        faults.push('has an install script that is not allowed')
      return faults.map((fault) => `${path} ${fault}`)
    }),
  ]
}

/** Missing settings of `.npmrc`. */
export function npmSettingProblems(npmrc: string): string[] {
  const settings = new Map(
    npmrc.split('\n').flatMap((line) => {
      const [, name, value] = /^([\w-]+)=(.*)$/.exec(line) ?? []
      return name === undefined || value === undefined ? [] : [[name, value] as const]
    }),
  )
  return SETTINGS.flatMap(([name, isRight, wanted]) =>
    isRight(settings.get(name) ?? '') ? [] : [`.npmrc: ${name} must be ${wanted}`],
  )
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

/** Links to anything but our packages. */
function strangeFolders(packages: LockFile['packages']): string[] {
  return Object.entries(packages).flatMap(([path, { link, resolved }]) =>
    link && !/^packages\/[a-z-]+$/.test(resolved ?? '') ? [`${path} is a link to ${resolved}`] : [],
  )
}

/** A package without an address comes from the registry that npm is configured with. */
function originFaults(name: string, locked: Locked): string[] {
  const { version = '', resolved, integrity = '' } = locked
  const isOwn = locked.name === undefined || locked.name === name
  const tarball = `/${name}/-/${name.replace(/^@[^/]+\//, '')}-${version}.tgz`
  const isOfRegistry = resolved === undefined || (hostOf(resolved) !== undefined && resolved.endsWith(tarball))
  return [
    ...(isOwn ? [] : [`is ${locked.name} under another name`]),
    ...(/^\d+\.\d+\.\d+/.test(version) ? [] : [`has no version of the registry: ${version}`]),
    ...(isOfRegistry ? [] : [`comes from ${resolved}`]),
    ...(/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity) ? [] : ['has no SHA-512']),
  ]
}

function hostOf(resolved: string | undefined): string | undefined {
  const url = resolved === undefined ? null : URL.parse(resolved)
  return url?.protocol === 'https:' && url.username === '' ? url.host : undefined
}

/** Development dependencies are not distributed. */
function licenceFaults({ dev, license }: Locked): string[] {
  if (dev || isAllowed(license ?? '')) return []
  return [`has the licence ${license ?? '(none)'}, which is not in the list of scripts/check/lock-file.ts`]
}

/** One alternative of `OR`, with every part of `AND`, must be allowed. */
function isAllowed(expression: string): boolean {
  const choices = expression.replace(/^\((.+)\)$/, '$1').split(' OR ')
  return choices.some((choice) => choice.split(' AND ').every((licence) => LICENCES.has(licence)))
}

export const lockFile: Check = {
  name: 'lock file',
  run: async () => [
    ...lockFileProblems(readText('package-lock.json') ?? '{}', readText('package.json') ?? '{}'),
    ...npmSettingProblems(readText('.npmrc') ?? ''),
  ],
}
