import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashOfSources, isBuiltOf, STAMP } from './build/sources.ts'
import { ROOT } from './check/repository.ts'

/**
 * Builds the web console into `packages/console/dist`, unless that is of these sources already. Run by the `prepare` script: an
 * installation without Vite has no console to build, and the server says so where one is asked for.
 * With `--dev` serves it with reloads instead, beside a running sandbox on `PORT`.
 */
const FOLDER = join(ROOT, 'packages/console')
const DIST = join(FOLDER, 'dist')

/** Sources of the bundle, the specification's words included. */
const SOURCES = [
  'packages/console/{index.html,package.json,tsconfig.json}',
  'packages/console/src/**/*',
  'packages/spec/src/**/*.ts',
  'scripts/build-console.ts',
  'scripts/build/sources.ts',
  'package-lock.json',
]

/** `undefined` where Vite, or a part of it for this platform, is not installed. */
const vite = () => import('vite').catch(() => undefined)

type Vite = NonNullable<Awaited<ReturnType<typeof vite>>>

/** One file of what every page needs: fewer requests before the first one. */
function isOfEveryPage(path: string): boolean {
  return /node_modules|rolldown\/runtime|spec\/src\/access\.ts$|console\/src\/(?!pages\/|words\/(?:en|help|said))/.test(
    path,
  )
}

const BROWSERS = ['chrome125', 'firefox128', 'safari17.5']

function configuration({ dev }: { readonly dev: boolean }): Parameters<Vite['build']>[0] {
  const service = { target: `http://127.0.0.1:${process.env.PORT ?? '8080'}`, changeOrigin: false }
  return {
    configFile: false,
    root: FOLDER,
    base: '/console/',
    logLevel: dev ? 'info' : 'error',
    publicDir: false,
    build: {
      outDir: DIST,
      emptyOutDir: true,
      target: BROWSERS,
      cssTarget: BROWSERS,
      // The policy of the pages allows no text as an image, a font or a script.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      manifest: true,
      reportCompressedSize: false,
      cssCodeSplit: false,
      rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'main', test: isOfEveryPage }] } } },
    },
    server: { proxy: { '/operator': service, '/console/session': service } },
  }
}

async function main(): Promise<void> {
  const dev = process.argv.includes('--dev')
  const hash = hashOfSources(SOURCES)
  if (!dev && isBuiltOf(hash, DIST)) return
  const { build, createServer } = (await vite()) ?? {}
  if (!build || !createServer) return
  if (dev) {
    const server = await createServer(configuration({ dev }))
    await server.listen()
    server.printUrls()
    return
  }
  await build(configuration({ dev }))
  writeFileSync(join(DIST, STAMP), hash)
}

await main()
