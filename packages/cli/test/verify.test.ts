import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { exampleEvent, signTestWebhook } from '../../sdk/src/testing.ts'
import { folderOf, json, shell } from './support/running.ts'

const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODw=='

interface Changed {
  readonly headers?: (headers: Record<string, string>) => Record<string, string | undefined>
  readonly body?: (body: string) => string
  readonly secret?: string
  readonly sentAt?: number
}

async function verified(t: TestContext, changed: Changed, more = '') {
  const folder = folderOf(t)
  const signed = await signTestWebhook(exampleEvent('pix_cash_in'), {
    secret: SECRET,
    ...(changed.sentAt !== undefined && { sentAt: changed.sentAt }),
  })
  const headers = { ...signed.headers, ...changed.headers?.({ ...signed.headers }) }
  const lines = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\n`]))
  writeFileSync(join(folder, 'headers'), lines.join(''))
  writeFileSync(join(folder, 'body'), changed.body?.(signed.body) ?? signed.body)
  writeFileSync(join(folder, 'secret'), changed.secret ?? SECRET)
  const files = `--secret-file ${folder}/secret --headers ${folder}/headers`
  const { code, stdout } = await shell(folder, {})(`pixgate verify ${files}${more} --json < ${folder}/body`)
  const { findings } = json(stdout)
  return {
    code,
    wrong: findings.flatMap((found: { isRight: boolean; part: string; code: string }) =>
      found.isRight ? [] : [`${found.part} ${found.code}`],
    ),
    says: findings.map(({ says }: { says: string }) => says).join(),
  }
}

test('[cli.9] a webhook is verified', async (t) => {
  const { code, wrong } = await verified(t, {})
  assert.deepEqual([code, wrong], [0, []])
})

for (const [what, changed, expected] of [
  ['another secret', { secret: 'whsec_AAAA' }, ['webhook-signature signature_wrong']],
  ['no secret', { secret: 'nothing!' }, ['webhook-signature secret_invalid']],
  ['another id', { headers: () => ({ 'webhook-id': 'other' }) }, ['webhook-signature signature_wrong']],
  ['no signature', { headers: () => ({ 'webhook-signature': undefined }) }, ['webhook-signature signature_missing']],
  ['another body', { body: (body) => body.replace('PAID', 'FAILED') }, ['webhook-signature signature_wrong']],
  ['an old time', { sentAt: 1_000_000 }, ['webhook-timestamp timestamp_invalid']],
] as readonly (readonly [string, Changed, readonly string[]])[]) {
  test(`[cli.9] exit code 3, and the part that is wrong: ${what}`, async (t) => {
    const { code, wrong } = await verified(t, changed)
    assert.deepEqual([code, wrong], [3, expected])
  })
}

test('[cli.9] a body that was changed on its way is told from a wrong secret', async (t) => {
  const plain = await verified(t, { secret: 'whsec_AAAA' })
  const changes: readonly ((body: string) => string)[] = [
    (body) => `${body}\n`,
    (body) => JSON.stringify(JSON.parse(body), null, 2),
  ]
  const says = await Promise.all(changes.map(async (body) => (await verified(t, { body })).says))
  assert.equal(new Set([plain.says, ...says].map((text) => text.split(',').slice(1).join())).size, 3)
})

test('[cli.9] a webhook that was kept is judged without its age', async (t) => {
  assert.equal((await verified(t, { sentAt: 1_000_000 }, ' --ignore-age')).code, 0)
})
