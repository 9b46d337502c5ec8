import { randomUUID } from 'node:crypto'
import type { PartnerLink } from '../link.ts'
import { concealedJson, concealing } from './conceal.ts'

/** What a bank wants on each call besides what the standard has. */
export interface AddedPart {
  readonly in: 'header' | 'query'
  readonly name: string
  readonly value: AddedValue
  /** Left out where there is none. */
  readonly isOptional?: true
}

/** What such a part says: something of our contract with the bank, or an id that no other call has. */
export type AddedValue = 'client id' | 'application key' | 'account' | 'new id'

/** What of it is known; absent: nobody said. */
export interface AddedValues {
  readonly clientId: string
  readonly applicationKey: string | undefined
  readonly account: string | undefined
}

/** How the calls of a bank differ from the standard's. */
export interface CallForm {
  readonly added: readonly AddedPart[]
  readonly values: AddedValues
  /** What a call with PATCH has before its path in place of something else. */
  readonly patchPath?: { readonly from: string; readonly to: string } | undefined
}

/** Makes calls as a bank wants them; the key is not repeated where a bank that refuses one repeats its address. @source rules#api-pix.14 */
export function linkWithAdditions(link: PartnerLink, { added, values, patchPath }: CallForm): PartnerLink {
  const conceal = concealing(values.applicationKey === undefined ? [] : [values.applicationKey])
  return {
    exchange: async (call, deadline, window) => {
      const path = patchPath && call.method === 'PATCH' ? call.path.replace(patchPath.from, patchPath.to) : call.path
      const headers = { ...call.headers, ...Object.fromEntries(partsOf('header')) }
      const outcome = await link.exchange(
        { ...call, path: withQuery(path, partsOf('query')), headers },
        deadline,
        window,
      )
      if (outcome.kind !== 'answered' || outcome.httpStatus < 400) return outcome
      return { ...outcome, json: concealedJson(outcome.json, conceal) }
    },
    close: () => link.close(),
  }

  function partsOf(where: AddedPart['in']): [name: string, value: string][] {
    return added.flatMap((part) => {
      const value = part.in === where ? wanted(part.value, values) : undefined
      return value === undefined ? [] : [[part.name, value]]
    })
  }
}

function wanted(value: AddedValue, { clientId, applicationKey, account }: AddedValues): string | undefined {
  switch (value) {
    case 'client id':
      return clientId
    case 'application key':
      return applicationKey
    case 'account':
      return account
    case 'new id':
      return randomUUID()
  }
}

function withQuery(path: string, parameters: [name: string, value: string][]): string {
  if (parameters.length === 0) return path
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(parameters)}`
}
