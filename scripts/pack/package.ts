import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { extname, join } from 'node:path'
import { ROOT } from '../check/repository.ts'

/** The packages that others may install, by their folders; each needs only those before it. */
export const PUBLISHED = ['brcode', 'spec', 'bank-simulator', 'server', 'sandbox', 'sdk', 'cli'] as const

/** Programs, published without types. */
const PROGRAMS: readonly string[] = ['server', 'sandbox']

/** Folders of a package that are published. Others, such as `.pixgate`, may have secrets. */
const PACKED = ['bin', 'migrations', 'schema', 'src']

/** Builds of `npm run prepare`, by their folder in the server's package. */
const BUILT = { console: 'packages/console/dist', docs: 'packages/docs/dist' }

/** What a `package.json` has of interest here. */
interface Manifest {
  readonly name: string
  readonly version: string
  readonly exports: string | Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  /** Where it runs on older versions of Node.js than the rest. */
  readonly engines?: object
}

/**
 * Compiles a package to JavaScript, with types unless it is a program, because Node.js runs no TypeScript below `node_modules`, and packs it.
 * @param folder gets the tarball, and in `build` what is in it
 * @returns the path of the tarball
 */
export function packPackage(name: (typeof PUBLISHED)[number], folder: string): string {
  const source = join(ROOT, 'packages', name)
  const built = join(folder, 'build', name)
  rmSync(built, { recursive: true, force: true })
  mkdirSync(built, { recursive: true })
  compile(source, built, !PROGRAMS.includes(name))
  const folders = foldersOf(name)
  for (const [place, path] of Object.entries(folders)) copyFiles(join(ROOT, path), join(built, place))
  for (const file of globSync('**/*.{d.ts,mjs}', { cwd: built })) renameImports(join(built, file))
  copyFileSync(join(source, 'README.md'), join(built, 'README.md'))
  copyFileSync(join(ROOT, 'LICENSE'), join(built, 'LICENSE'))
  const manifest = publishedManifest(manifestIn(source), manifestIn(ROOT), name, Object.keys(folders))
  writeFileSync(join(built, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: built, encoding: 'utf8' })
  const tarballs: { readonly filename: string }[] = Object.values(JSON.parse(packed))
  return join(folder, tarballs.map(({ filename }) => filename).join())
}

function manifestIn(folder: string) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function foldersOf(name: (typeof PUBLISHED)[number]): Readonly<Record<string, string>> {
  const own = readdirSync(join(ROOT, 'packages', name), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && PACKED.includes(entry.name))
    .map((entry) => [entry.name, `packages/${name}/${entry.name}`])
  return { ...Object.fromEntries(own), ...(name === 'server' && BUILT) }
}

/** Files that are not compiled, such as SQL and styles. Of JSON, the compiler has written what is imported. */
function copyFiles(from: string, to: string): void {
  if (!existsSync(from)) throw new Error(`${from} is missing: run npm run prepare`)
  const filter = (path: string, copy: string) =>
    extname(path) !== '.ts' && !(extname(path) === '.json' && existsSync(copy))
  cpSync(from, to, { recursive: true, force: false, errorOnExist: true, filter })
}

/** Types of our other packages are read from what was built of them: their sources are no part of this one. */
export function compile(source: string, built: string, hasTypes = true): void {
  const config = join(built, '..', 'tsconfig.json')
  // Also what the types of our other packages import is found from where they were built.
  const libraries = join(built, '..', 'node_modules')
  const compilerOptions = {
    noEmit: false,
    noEmitOnError: true,
    declaration: hasTypes,
    noCheck: !hasTypes,
    rewriteRelativeImportExtensions: true,
    rootDir: source,
    outDir: built,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    paths: Object.fromEntries(
      PUBLISHED.filter((name) => !PROGRAMS.includes(name)).flatMap((name) => typesOf(name, join(built, '..', name))),
    ),
  }
  const extended = join(ROOT, 'tsconfig.json')
  writeFileSync(config, JSON.stringify({ extends: extended, compilerOptions, include: [join(source, 'src')] }))
  rmSync(libraries, { force: true })
  symlinkSync(join(ROOT, 'node_modules'), libraries)
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', config], { stdio: 'inherit' })
  for (const path of [config, libraries]) rmSync(path)
}

/** Of each entry of a package that was built. */
function typesOf(name: (typeof PUBLISHED)[number], built: string): [entry: string, files: [string]][] {
  return Object.entries(entriesOf(manifestIn(join(ROOT, 'packages', name)))).map(([entry, path]) => [
    `@pixgate/${name}${entry.slice(1)}`,
    [join(built, typesOfFile(path))],
  ])
}

function entriesOf({ exports }: Manifest): Readonly<Record<string, string>> {
  return typeof exports === 'string' ? { '.': exports } : exports
}

/** The compiler rewrites `./x.ts` to `./x.js` in what it compiles, and leaves it in types. */
function renameImports(file: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(/(?<=(?:from |import\()["']\.{1,2}\/[^"']+)\.ts(?=["'])/g, '.js'))
}

/** The manifest of the sources, with the paths of what was compiled and with what all packages have in common. */
function publishedManifest(
  { private: _private, scripts: _scripts, devDependencies: _development, ...own }: Manifest & Record<string, unknown>,
  common: { readonly engines: unknown; readonly repository: object },
  name: (typeof PUBLISHED)[number],
  files: readonly string[],
) {
  const entries = entriesOf(own)
  const hasTypes = !PROGRAMS.includes(name)
  return {
    ...own,
    ...(hasTypes && { types: typesOfFile(entries['.'] ?? '') }),
    exports: Object.fromEntries(
      Object.entries(entries).map(([entry, path]) => [
        entry,
        hasTypes ? { types: typesOfFile(path), default: compiled(path) } : compiled(path),
      ]),
    ),
    ...(own.bin && { bin: Object.fromEntries(Object.entries(own.bin).map(([word, path]) => [word, compiled(path)])) }),
    files,
    engines: own.engines ?? common.engines,
    repository: { ...common.repository, directory: `packages/${name}` },
    publishConfig: { access: 'public' },
  }
}

function compiled(path: string): string {
  return path.replace(/\.ts$/, '.js')
}

function typesOfFile(path: string): string {
  return path.replace(/\.ts$/, '.d.ts')
}
