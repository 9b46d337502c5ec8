/** A program of a client who has the functions that `oazapfts` made in `api.ts`: text, as that file is made anew. */
export const program = `import * as api from './api.ts'

export async function sell(url: string, adminToken: string): Promise<api.CashIn> {
  const as = (token: string) => ({ baseUrl: url, headers: { authorization: 'Bearer ' + token } })
  const { apiKey } = await api.generateApiKey({}, as(adminToken))
  const charge = await api.createCashIn(
    { cashInRequest: { transaction: { value: 30_000_000, externalId: 'generated-1' } } },
    as(apiKey),
  )
  await api.payCashIn({ id: charge.id, payCashInRequest: { payerName: 'Maria da Silva' } }, as(apiKey))
  for (;;) {
    const now = await api.getCashIn({ id: charge.id }, as(apiKey))
    if (now.status === 'PAID') return now
  }
}

export const read = (url: string, token: string, id: string): Promise<api.CashIn> =>
  api.getCashIn({ id }, { baseUrl: url, headers: { authorization: 'Bearer ' + token } })
`
