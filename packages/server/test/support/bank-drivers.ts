import type { TestContext } from 'node:test'
import type { PartnerCapability } from '../../src/banks/port.ts'
import { connectTinyBank } from '../banks/tiny/connector.ts'
import { TINY_PATH } from '../banks/tiny/inbound.ts'
import { TinyBank } from '../banks/tiny/tiny-bank.ts'
import { assertBooks, balances } from './books.ts'
import { type World, world } from './world.ts'

/** The same stories at every bank that there is a connector for: what a payer and a bank do in them. */
export interface BankDriver {
  readonly pix: World
  readonly capabilities: ReadonlySet<PartnerCapability>
  /** Lets somebody pay a charge; the bank tells of it, or keeps silent. */
  pay(chargeId: string, isSilent?: boolean): Promise<void>
  /** Lets a refund arrive; the bank tells of it. */
  settleRefund(id: string): Promise<void>
  /** The bank carries out the next order, its answer is lost, and nothing tells of it until something is paid. */
  loseNextAnswer(): Promise<void>
  /** How many charges and refunds the bank has made. */
  made(): Promise<{ readonly charges: number; readonly refunds: number }>
  /** Our books against all invariants and against the bank's own. */
  assertBooksAgree(): Promise<void>
}

/** A bank of the stories, in a world without workers. */
export type OpenDriver = (t: TestContext) => Promise<BankDriver>

const STEPPED = { isStepped: true } as const
const HOUR_MS = 3_600_000

/** The simulated bank, through our own protocol or by the Central Bank's standard. */
async function simulatedDriver(t: TestContext, standard?: 'api-pix' | 'efi'): Promise<BankDriver> {
  let capabilities: BankDriver['capabilities'] = new Set()
  const pix = await world(
    t,
    {},
    {
      ...STEPPED,
      ...(standard && { standard }),
      bank: (bank) => {
        capabilities = bank.capabilities
        return bank
      },
    },
  )
  await pix.behave({ refundIn: 'manual' })
  return {
    pix,
    capabilities,
    pay: async (chargeId, isSilent = false) => {
      await pix.behave({ eventDelayMs: isSilent ? HOUR_MS : 0 })
      await pix.bankAction(`charges/${chargeId}/pay`)
    },
    settleRefund: async (id) => {
      await pix.bankAction(`refunds/${id}/confirm`)
    },
    loseNextAnswer: () => pix.behave({ cashIn: 'lost-response', refundIn: 'lost-response', eventDelayMs: HOUR_MS }),
    made: async () => {
      const { charges, refunds } = (await pix.bank('GET', '/control/book')).body
      return { charges: charges.length, refunds: refunds.length }
    },
    assertBooksAgree: pix.assertBooksAgree,
  }
}

/** A driver that knows its bank. */
export interface TinyDriver extends BankDriver {
  readonly bank: TinyBank
  /** Sends a callback, whoever does. @returns the status of the answer */
  callBack(...lines: readonly string[]): Promise<number>
}

/** The tiny bank. */
export async function tinyDriver(t: TestContext): Promise<TinyDriver> {
  let nowMs = () => 0
  const bank = new TinyBank(() => nowMs())
  const connector = connectTinyBank(bank, () => nowMs())
  const pix = await world(t, {}, { ...STEPPED, bank: () => connector })
  nowMs = pix.clock.now
  const callBack: TinyDriver['callBack'] = async (...lines) => {
    const { status } = await fetch(pix.url + TINY_PATH, { method: 'POST', body: lines.join('\n') })
    return status
  }
  return {
    pix,
    bank,
    callBack,
    capabilities: connector.capabilities,
    pay: async (chargeId, isSilent = false) => {
      const line = bank.pay(await pix.orderIdOf(chargeId))
      if (!isSilent) await callBack('PIX nobody E9', line)
    },
    settleRefund: async (id) => {
      await callBack(bank.settle(await pix.orderIdOf(id), 'DEVOLVIDO'))
    },
    loseNextAnswer: async () => bank.loseNextAnswer(),
    made: async () => bank.made,
    assertBooksAgree: async () => {
      await assertBooks(pix.database)
      const { settlement = 0n } = await balances(pix.database)
      if (BigInt(bank.heldCents) !== -settlement)
        throw new Error(`the bank holds ${bank.heldCents}, not ${-settlement}`)
    },
  }
}

/** Every bank, by its name. */
export const drivers: Readonly<Record<string, OpenDriver>> = {
  pixgate: simulatedDriver,
  'api-pix': (t) => simulatedDriver(t, 'api-pix'),
  efi: (t) => simulatedDriver(t, 'efi'),
  tiny: tinyDriver,
}
