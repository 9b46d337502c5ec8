import type { After, Benchmark } from './benchmark.ts'
import { chargeMaker } from './charges.ts'
import { type Figures, inRounds, type Load, measure, ratio, tableOf } from './measure.ts'
import { startMerchant } from './merchant.ts'
import { type OpenBank, simulatedBank, standardBank } from './open-bank.ts'
import { fund, payoutMaker } from './payouts.ts'
import { startPixgate } from './pixgate.ts'

const ROUNDS = 5

/** Callers at once: alone a life tells how long it takes, together what the service carries. */
const CALLERS = [1, 16] as const

/**
 * The whole life of a payment over each kind of bank: of a charge until its payment was notified, of a payout until its
 * confirmation was. Client, merchant and settings are the same; our own protocol is the yardstick.
 */
export const banks: Benchmark = {
  name: 'banks',
  summary: 'a charge created, paid, notified; a payout created, sent, confirmed, notified: over each kind of bank',
  run: async (after) => {
    const pixgate = await livesOver(after, simulatedBank)
    const apiPix = await livesOver(after, standardBank('api-pix'), { paysOut: false })
    const efi = await livesOver(after, standardBank('efi'))
    const rounds = await inRounds(ROUNDS, () => measureRound({ pixgate, apiPix, efi }))
    return {
      figures: tableOf(rounds).map((line) => ({ ...line, ...againstOwn(rounds, line['who, callers']) })),
      targets: [],
    }
  },
}

/** What a line is as a multiple of the same over our own protocol, in the same round. */
function againstOwn(rounds: readonly Round[], name: Name) {
  const own = name.replace(/by [a-z-]+/, 'by pixgate') as Name
  return {
    'speed / pixgate': ratio(rounds, 'perSecond', name, own),
    'p50 / pixgate': ratio(rounds, 'p50Ms', name, own),
  }
}

/** One life a call. */
interface Lives {
  readonly charge: () => Promise<unknown>
  readonly payout: () => Promise<unknown>
}

async function livesOver(after: After, open: OpenBank, { paysOut } = { paysOut: true }): Promise<Lives> {
  const pixgate = await startPixgate(after, { bank: open })
  const { notified } = await startMerchant(after, pixgate)
  if (paysOut) await fund(pixgate)
  const makeCharge = chargeMaker(pixgate.send, pixgate.apiKey)
  const makePayout = payoutMaker(pixgate.send, pixgate.apiKey)
  return {
    charge: async () => {
      const { id } = JSON.parse(await makeCharge())
      await pixgate.payCharge(id)
      await notified(id)
    },
    payout: async () => notified(JSON.parse(await makePayout()).id),
  }
}

type Name =
  | `charge by ${'pixgate' | 'api-pix' | 'efi'}, ${(typeof CALLERS)[number]}`
  | `payout by ${'pixgate' | 'efi'}, ${(typeof CALLERS)[number]}`

type Round = Readonly<Record<Name, Figures>>

async function measureRound({ pixgate, apiPix, efi }: Record<'pixgate' | 'apiPix' | 'efi', Lives>): Promise<Round> {
  return {
    'charge by pixgate, 1': await measure(pixgate.charge, from(1)),
    'charge by api-pix, 1': await measure(apiPix.charge, from(1)),
    'charge by efi, 1': await measure(efi.charge, from(1)),
    'payout by pixgate, 1': await measure(pixgate.payout, from(1)),
    'payout by efi, 1': await measure(efi.payout, from(1)),
    'charge by pixgate, 16': await measure(pixgate.charge, from(16)),
    'charge by api-pix, 16': await measure(apiPix.charge, from(16)),
    'charge by efi, 16': await measure(efi.charge, from(16)),
    'payout by pixgate, 16': await measure(pixgate.payout, from(16)),
    'payout by efi, 16': await measure(efi.payout, from(16)),
  }
}

function from(callers: (typeof CALLERS)[number]): Load {
  return { callers, warmUpMs: 500, measuredMs: 3_000 }
}
