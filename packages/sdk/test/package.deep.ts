import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { ROOT } from '../../../scripts/check/repository.ts'
import { oldestNode, projectWith } from '../../../scripts/test/pack/project.ts'
import { ADMIN_TOKEN, type World, world } from '../../server/test/support/world.ts'

/** An empty project that has installed the packed SDK, and nothing else. */
let project = ''
const run = promisify(execFile)

test.before(() => {
  project = projectWith(['sdk'], '--offline')
})
test.after(() => rmSync(project, { recursive: true }))

const blocksIn = (path: string) =>
  [...readFileSync(join(ROOT, path), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code)

const BLOCKS = [...blocksIn('packages/sdk/README.md'), ...blocksIn('docs/guides/sdk.md')]

/** The environment of a program that uses a sandbox with some money. */
async function environmentOf(pix: World): Promise<Record<string, string>> {
  await pix.paid('100')
  const operator = { PIXGATE_OPERATOR_URL: pix.operatorUrl, PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN, PIXGATE_CHECKOUT: ROOT }
  return { PATH: process.env.PATH ?? '', PIXGATE_URL: pix.url, PIXGATE_API_KEY: pix.apiKey, ...operator }
}

const SHOP = `
const pixgate = new Pixgate()
const charge = await pixgate.cashIns.create({ externalId: process.argv[2], value: cents(15025) })
await pixgate.sandbox.pay(charge.id)
const { outcome, operation } = await pixgate.cashIns.waitForEnd(charge.id)
const { headers, body } = await signTestWebhook(exampleEvent('pix_cash_in'), { secret: 'whsec_AAEC' })
const event = await verifyWebhook({ headers, body }, { secret: 'whsec_AAEC' })
console.log(process.version, outcome, operation.valueCents, event.event.status)
`

const PROGRAMS = {
  'import.mjs': `import { cents, Pixgate } from '@pixgate/sdk'
import { exampleEvent, signTestWebhook } from '@pixgate/sdk/testing'
import { verifyWebhook } from '@pixgate/sdk/webhooks'
${SHOP}`,
  'require.cjs': `const { cents, Pixgate } = require('@pixgate/sdk')
const { exampleEvent, signTestWebhook } = require('@pixgate/sdk/testing')
const { verifyWebhook } = require('@pixgate/sdk/webhooks')
const { PixgateOperator } = require('@pixgate/sdk/operator')
void (async () => {${SHOP}})()`,
}

for (const [name, nodeOf] of [
  ['22.12', oldestNode],
  ['24', async () => process.execPath],
] as const) {
  test(`[sdk.13] the packed SDK sells under Node.js ${name}, by import and by require`, async (t) => {
    const node = await nodeOf(t, project)
    if (node === undefined) return
    const env = await environmentOf(await world(t))
    for (const [file, code] of Object.entries(PROGRAMS)) {
      writeFileSync(join(project, file), code)
      const { stdout } = await run(node, [file, `packed-${file}`], { cwd: project, env })
      assert.match(stdout, new RegExp(`^v${name}\\S* confirmed 15025 PAID\\n$`), file)
    }
  })
}

test('[sdk.13] what README and guide show runs, and sells in fifteen lines', async (t) => {
  const env = await environmentOf(await world(t))
  for (const [index, code] of BLOCKS.entries()) {
    writeFileSync(join(project, `block-${index}.mts`), code)
    await run(process.execPath, [`block-${index}.mts`], { cwd: project, env }).catch((error) =>
      assert.fail(`${code}${error}`),
    )
  }
  assert.ok((BLOCKS[0] ?? '').trim().split('\n').length <= 15)
})

test('[sdk.13] it compiles for strict users, for the strictest, and for browsers and workers', async () => {
  const files = BLOCKS.map((code, index) => {
    writeFileSync(join(project, `typed-${index}.mts`), `${code}\nexport {}\n`)
    return `typed-${index}.mts`
  })
  // A worker has no process, and the types of Node.js are not there.
  const worker = "import { cents, Pixgate } from '@pixgate/sdk'\nimport { webhookRoute } from '@pixgate/sdk/webhooks'\n"
  const uses = 'void new Pixgate().cashIns.create({ externalId: "a", value: cents(1) })\nwebhookRoute({}, () => 1)\n'
  writeFileSync(join(project, 'worker.mts'), worker + uses)
  const common = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--pretty',
    'false',
    '--skipLibCheck',
    'false',
  ]
  const node = ['--target', 'es2024', '--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')]
  const compile = (...options: string[]) =>
    run(join(ROOT, 'node_modules/.bin/tsc'), [...common, ...options], { cwd: project }).catch(({ stdout }) =>
      assert.fail(stdout),
    )
  await compile(...node, ...files)
  await compile(...node, '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', ...files)
  await compile('--target', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--types', '', 'worker.mts')
})
