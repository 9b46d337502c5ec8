import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adjustment, caseKinds, cashIn, cashOut, journals, type Machine, refundIn } from '@pixgate/spec'
import { ptBR } from '../src/words/pt-BR.ts'
import { said } from '../src/words/said-pt-BR.ts'

const machines: readonly Machine[] = [cashIn, cashOut, refundIn, adjustment]

/** Conditions that an option of a case may lack. */
function guardsOfDecisions({ rows, guards }: Machine): string[] {
  return rows
    .filter(({ decides = [] }) => decides.length > 0)
    .flatMap(({ when, unless }) => [...when, ...unless].map((guard) => guards[guard] ?? guard))
}

/** Sentences that the service sends in English and a page shows. */
const sentences = new Set<string>([
  ...machines.flatMap(({ lines, meanings, reasons }) => [
    ...lines.map(({ says }) => says),
    ...Object.values(meanings),
    ...Object.values(reasons),
  ]),
  ...Object.values(caseKinds).flatMap((kind) => [
    kind.meaning,
    ...('decisions' in kind ? Object.values<string>(kind.decisions) : []),
  ]),
  ...Object.values(journals).map(({ meaning }) => meaning),
  ...machines.flatMap(guardsOfDecisions),
])

test('every sentence of the specification that a page shows has a Portuguese one', () => {
  assert.deepEqual(
    [...sentences].filter((sentence) => !said[sentence]),
    [],
  )
})

test('no Portuguese sentence is left of one that the specification no longer has', () => {
  assert.deepEqual(
    Object.keys(said).filter((sentence) => !sentences.has(sentence)),
    [],
  )
})

test('a refund without a name of its payer takes no label for one', () => {
  const { facts, refund } = ptBR.payment
  assert.ok(refund.hint('Ana').includes('Ana'))
  for (const label of [facts.payer, 'null']) assert.ok(!refund.hint(null).includes(label))
})
