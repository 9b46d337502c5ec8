import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BuiltSite } from '../packages/server/src/reference/site.ts'
import { hashOfSources, isBuiltOf, STAMP } from './build/sources.ts'
import { ROOT } from './check/repository.ts'

/**
 * Builds the look, the search and the guides of `/docs` into `packages/docs/dist`, unless they are of these sources already. Run by
 * the `prepare` script: an installation without Vite serves plain pages without guides.
 */
const FOLDER = join(ROOT, 'packages/docs')
const DIST = join(FOLDER, 'dist')

const SOURCES = [
  'packages/docs/package.json',
  'packages/docs/src/*',
  'docs/**/*.md',
  'package.json',
  'package-lock.json',
  'scripts/build-docs.ts',
  'scripts/build/*.ts',
  'scripts/check/markdown.ts',
]

/** `undefined` where a library is not installed. */
const libraries = async () => {
  const [vite, guides] = await Promise.all([import('vite'), import('./build/guides.ts')])
  return { build: vite.build, pagesOf: guides.pagesOf }
}

function documents() {
  return globSync('docs/**/*.md', { cwd: ROOT }).map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

async function main(): Promise<void> {
  const hash = hashOfSources(SOURCES)
  if (isBuiltOf(hash, DIST)) return
  const { build, pagesOf } = (await libraries().catch(() => undefined)) ?? {}
  if (!build || !pagesOf) return
  const built = await build({
    configFile: false,
    root: FOLDER,
    logLevel: 'error',
    publicDir: false,
    build: {
      outDir: DIST,
      emptyOutDir: true,
      target: ['chrome125', 'firefox128', 'safari17.5'],
      assetsInlineLimit: 0,
      cssCodeSplit: false,
      reportCompressedSize: false,
      // One classic script: a sandboxed page has no origin, so it may not load modules.
      rolldownOptions: {
        input: join(FOLDER, 'src/site.ts'),
        output: { format: 'iife', entryFileNames: 'site-[hash].js', assetFileNames: 'site-[hash][extname]' },
      },
    },
  })
  const files = [built].flat().flatMap((one) => ('output' in one ? one.output.map(({ fileName }) => fileName) : []))
  const named = (extension: string) => files.find((name) => name.endsWith(extension)) ?? ''
  const site: BuiltSite = { script: named('.js'), style: named('.css'), pages: pagesOf(documents()) }
  writeFileSync(join(DIST, 'site.json'), JSON.stringify(site))
  writeFileSync(join(DIST, STAMP), hash)
}

await main()
