import assert from 'node:assert/strict'
import test from 'node:test'
import { createSending, type SentClaim } from '../../../src/webhooks/deliveries/sending.ts'
import { capturedLog } from '../../support/captured-log.ts'

const UNSIGNABLE = 'unsignable'

function claimOf(id: string, body = 'b'): SentClaim {
  return { subscriptionId: 's', id, notificationId: id, body: Buffer.from(body), secrets: [] }
}

/** Sends these claims once, and tells what was done in its order. */
async function send(claims: readonly SentClaim[]) {
  const done: string[] = []
  const sign = (bytes: Uint8Array) => {
    const text = Buffer.from(bytes).toString()
    if (text === UNSIGNABLE) throw new Error('no signature')
    done.push(`sign ${text}`)
    return `signed ${text}`
  }
  const sending = createSending<SentClaim, string>({
    keyring: { signer: () => ({ keyId: 'k', publicPem: '', sign }), refresh: async () => {} },
    logger: capturedLog().logger,
    unrecordedMax: 10,
    lanes: { exclusively: (claim) => claim() },
    claim: async () => ({ claims, signingKeyId: 'k' }),
    attempt: async ({ id }, { text }) => {
      done.push(`send ${id} ${text}`)
      return id
    },
    record: async (ended) => void done.push(`record ${ended.join(' ')}`),
    report: () => {},
    onAttemptEnded: () => {},
  })
  const failure = await sending.processNext().then(() => undefined, String)
  await sending.settled()
  return { done, failure }
}

test('[signing-keys.5] what is claimed together is signed before the first of it is sent, and a notification once for all of its receivers', async () => {
  const { done } = await send([claimOf('1', 'x'), claimOf('1', 'x'), claimOf('2', 'y')])
  assert.deepEqual(done, ['sign x', 'sign y', 'send 1 signed x', 'send 1 signed x', 'send 2 signed y', 'record 1 1 2'])
})

test('[webhooks.5] a notification that cannot be signed fails the step, and holds up none that was claimed with it', async () => {
  const { done, failure } = await send([claimOf('1', UNSIGNABLE), claimOf('2', 'y')])
  assert.deepEqual(done, ['sign y', 'send 2 signed y', 'record 2'])
  assert.equal(failure, 'Error: the notification 1 cannot be signed: Error: no signature')
})
