import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { promisify } from 'node:util'
import { KEYS_KNOWN_AFTER_MS } from '../../src/webhooks/breaker.ts'
import { ADMIN_TOKEN, world } from '../support/world.ts'

const GUIDE = new URL('../../../../docs/guides/rotation.md', import.meta.url)

/** The commands of a section, block by block. */
function commandsOf(heading: string): readonly string[] {
  const [, section = ''] = readFileSync(GUIDE, 'utf8').split(`\n## ${heading}\n`)
  const [text = ''] = section.split('\n## ')
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, commands = '']) => commands)
}

test('[signing-keys.1] the commands of the guide exchange the signing key, as they stand there', async (t) => {
  const pix = await world(t)
  const [make = '', promote = '', retire = '', ...more] = commandsOf('The signing key')
  assert.deepEqual(more, [])
  const [operate = ''] = make.split('\n')
  const run = async (commands: string, KEY_ID = '') => {
    const env = { ...process.env, PIXGATE_URL: pix.url, ADMIN: ADMIN_TOKEN, KEY_ID }
    const { stdout } = await promisify(execFile)('sh', ['-euc', `${operate}\n${commands}`], { env })
    return stdout
  }
  const states = async () => {
    const answer = await pix.call('GET', '/operator/signing-keys', undefined, {
      authorization: `Bearer ${ADMIN_TOKEN}`,
    })
    return Object.fromEntries(answer.body.data.map(({ id, state }: { id: string; state: string }) => [state, id]))
  }
  const { current: first } = await states()
  const { id } = JSON.parse(await run(make))
  await assert.rejects(run(promote, id), /409/)
  pix.clock.advance(KEYS_KNOWN_AFTER_MS)
  assert.match(await run(promote, id), /"state":"current".*"state":"previous"/s)
  pix.clock.advance(KEYS_KNOWN_AFTER_MS)
  await run(retire, first)
  assert.deepEqual(await states(), { current: id, retired: first })
})
