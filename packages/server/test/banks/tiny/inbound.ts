import { endpoint } from '@pixgate/spec'
import { Type } from 'typebox'
import type { BankEvent, Inbound } from '../../../src/banks/inbound.ts'

/** Where the tiny bank calls. */
export const TINY_PATH = '/api/tiny/news'

const receiveNews = endpoint({
  id: 'receiveTinyNews',
  method: 'POST',
  path: TINY_PATH,
  auth: 'partner',
  tag: 'Partner',
  summary: 'Take news of the tiny bank',
  body: Type.String(),
  responses: { 204: { description: 'Stored' } },
  errors: [],
})

/** Its callbacks: unsigned, a line for each event. What it says of money is only that there is something to be seen. */
export const tinyInbound: Inbound = {
  routes: [{ name: 'tiny/news', endpoint: receiveNews, acknowledgement: { status: 204 } }],
  authenticate: () => 'unproven',
  parse: (_route, body) =>
    String(body)
      .split('\n')
      .filter((line) => line !== '')
      .map(readLine),
}

function readLine(line: string): BankEvent {
  const [word, id = '', detail = ''] = line.split(' ')
  const subject = ({ PIX: 'charge', DEV: 'refund' } as const)[word ?? '']
  if (!subject)
    return { kind: 'unreadable', fault: 'an unknown word', named: undefined, key: ['', line], content: line }
  const references = { transactionId: null, externalId: id, endToEndId: null }
  const about = { references, key: [word ?? '', '', id, detail], content: line, evidence: { word, id } }
  return { ...about, subject, kind: 'changed', saysMoneyMoved: word === 'PIX' }
}
