import type { Clock } from '../../platform/clock.ts'
import { connectBank } from '../api-pix/bank.ts'
import type { ApiPixConfig } from '../api-pix/config.ts'
import { createExchange } from '../api-pix/exchange.ts'
import type { Bank } from '../bank.ts'
import { createEfiPartner } from './partner.ts'
import { EFI_REFUSALS } from './refusal.ts'

/** What sending money needs besides. */
const SCOPES = ['pix.send', 'gn.pix.send.read', 'gn.qrcodes.read', 'gn.qrcodes.pay', 'gn.balance.read'] as const

/** Connects Efí. */
export function openEfiBank(config: ApiPixConfig, clock: Clock): Bank {
  return connectBank(config, clock, SCOPES, ({ link, prefix, ...options }) =>
    createEfiPartner({
      ...options,
      exchange: createExchange(link, prefix, EFI_REFUSALS),
      sending: createExchange(link, '', EFI_REFUSALS),
      heldBack: (call) => link.heldBack(call),
      now: () => clock.now(),
      paysQrCodes: config.paysQrCodes ?? false,
    }),
  )
}
