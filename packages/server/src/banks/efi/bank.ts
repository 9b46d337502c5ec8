import type { Clock } from '../../platform/clock.ts'
import { connectBank } from '../api-pix/bank.ts'
import type { ApiPixConfig } from '../api-pix/config.ts'
import { createExchange } from '../api-pix/exchange.ts'
import type { Bank } from '../bank.ts'
import { createEfiPartner } from './partner.ts'
import { refusalOf } from './refusal.ts'

/** What sending money needs besides. */
const SCOPES = ['pix.send', 'gn.pix.send.read', 'gn.qrcodes.read', 'gn.qrcodes.pay', 'gn.balance.read'] as const

/** Connects Efí. */
export function openEfiBank(config: ApiPixConfig, clock: Clock): Bank {
  return connectBank(config, clock, SCOPES, ({ link, prefix, ...options }) =>
    createEfiPartner({
      ...options,
      exchange: createExchange(link, prefix, refusalOf),
      sending: createExchange(link, '', refusalOf),
      heldBack: (call) => link.heldBack(call),
      now: () => clock.now(),
      paysQrCodes: config.paysQrCodes ?? false,
    }),
  )
}
