import { networksOf } from '../../platform/networks.ts'
import type { Bank } from '../bank.ts'
import { openPartnerLink } from '../link.ts'
import type { PixgateBankConfig } from './config.ts'
import { createHttpPartner } from './http-partner.ts'
import { createPixgateInbound } from './inbound.ts'

/** Connects a bank that speaks our own protocol, as the simulator does. */
export function openPixgateBank(config: PixgateBankConfig): Bank {
  let latestDate: number | undefined
  const onDate = (dateMs: number) => {
    latestDate = dateMs
  }
  let bankEndsAt: number | undefined
  const onCertificate = (endsAt: number) => {
    bankEndsAt = endsAt
  }
  const link = openPartnerLink({ ...config, onDate, onCertificate })
  const secrets = [config.secret, config.secretPrevious].filter((secret) => secret !== undefined)
  const isFromBank = config.addresses === undefined ? () => true : networksOf(config.addresses).include
  return {
    ...createHttpPartner(link, config.hasIdempotentOrders),
    inbound: createPixgateInbound({
      secrets,
      apiKey: config.inboundApiKey,
      apiKeyPrevious: config.inboundApiKeyPrevious,
      isFromBank,
    }),
    latestDate: () => latestDate,
    certificates: () => [
      ...(bankEndsAt === undefined ? [] : [{ of: 'bank', endsAt: bankEndsAt } as const]),
      ...config.certificates,
    ],
    close: () => link.close(),
  }
}
