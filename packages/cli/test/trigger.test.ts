import assert from 'node:assert/strict'
import test from 'node:test'
import { world } from '../../server/test/support/world.ts'
import { STORIES } from '../src/commands/trigger.ts'
import { folderOf, json, shell } from './support/running.ts'

/** How the operations of a story stand at its end. */
const ENDS: Readonly<Record<keyof typeof STORIES, readonly string[]>> = {
  'cash-in.created': ['PENDING'],
  'cash-in.paid': ['PAID'],
  'cash-in.paid-by-itself': ['PAID'],
  'cash-in.overpaid': ['RECONCILIATION_REQUIRED'],
  'cash-in.underpaid': ['RECONCILIATION_REQUIRED'],
  'cash-in.paid-twice': ['PAID'],
  'cash-in.cancelled': ['FAILED'],
  'cash-in.failed': ['FAILED'],
  'cash-in.refused': [],
  'cash-in.event-twice': ['PAID'],
  'cash-in.event-late': ['PAID'],
  'cash-in.med': ['PAID', 'CONFIRMED'],
  'cash-in.med-part': ['PAID', 'CONFIRMED'],
  'cash-out.confirmed': ['CONFIRMED'],
  'cash-out.qr-code': ['CONFIRMED'],
  'cash-out.waiting': ['DISPATCHED'],
  'cash-out.waited': ['CONFIRMED'],
  'cash-out.failed': ['FAILED'],
  'cash-out.timed-out': ['FAILED'],
  'cash-out.refused': ['FAILED'],
  'cash-out.lost-answer': ['CONFIRMED'],
  'cash-out.reversed': ['REVERSED'],
  'cash-out.reversed-part': ['REVERSED'],
  'cash-out.no-balance': [],
  'refund.confirmed': ['PAID', 'CONFIRMED'],
  'refund.part': ['PAID', 'CONFIRMED'],
  'refund.failed': ['PAID', 'FAILED'],
  'refund.refused': ['PAID', 'FAILED'],
  'refund.lost-answer': ['PAID', 'CONFIRMED'],
}

test('[cli.8] every story happens at the sandbox, and the books agree', async (t) => {
  const pix = await world(t)
  await pix.balance(1_000_00)
  const pixgate = shell(folderOf(t), { PIXGATE_URL: pix.url, PIXGATE_API_KEY: pix.apiKey })
  const ends: Record<string, unknown> = {}
  const stories = Object.keys(STORIES)
  const lane = async () => {
    for (let story = stories.pop(); story !== undefined; story = stories.pop()) {
      const { code, stdout, stderr } = await pixgate(`pixgate trigger ${story} --json`)
      ends[story] = code === 0 ? json(stdout).operations.map((one: { status: string }) => one.status) : stderr
    }
  }
  await Promise.all([lane(), lane(), lane(), lane()])
  assert.deepEqual(ends, ENDS)
  await pix.assertBooksAgree()
})
