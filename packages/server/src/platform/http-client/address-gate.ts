import { lookup, Resolver } from 'node:dns/promises'
import { NotConnected } from './not-connected.ts'
import { isPublicAddress } from './public-address.ts'

/** Decides which addresses this process connects to. */
export interface AddressGate {
  allows(address: string): boolean
  /**
   * Every address of a name, all of them allowed.
   * @throws NotConnected `dns` where it has none, `address_not_allowed` where any of them is not allowed
   */
  addressesOf(hostname: string): Promise<readonly string[]>
}

/** The name servers did not tell whether a name has addresses; asked again they may. */
export class NoAnswerOfDns extends Error {
  override readonly name = 'NoAnswerOfDns'
}

/**
 * Looks up all addresses of a name; an empty list where there are none.
 * @throws NoAnswerOfDns where nobody tells
 */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/**
 * Public addresses only. One answer that is not public refuses the name, whatever the others are.
 * @source rules#webhooks.1
 */
export function publicAddressGate(resolve: Resolve = resolveByDns): AddressGate {
  return createGate(resolve, isPublicAddress)
}

/** Any address, with names as this machine knows them: for the sandbox. */
export function openGate(): AddressGate {
  return createGate(resolveBySystem, () => true)
}

/** What to throw for an address the gate does not allow. */
export function addressNotAllowed(address: string): NotConnected {
  return new NotConnected('address_not_allowed', `${address} is not a public address`)
}

function createGate(resolve: Resolve, allows: AddressGate['allows']): AddressGate {
  return {
    allows,
    addressesOf: async (hostname) => {
      const addresses = await resolve(hostname).catch((error) => {
        throw new NotConnected('dns', `${hostname} cannot be resolved`, error)
      })
      const refused = addresses.find((address) => !allows(address))
      if (refused !== undefined) throw addressNotAllowed(refused)
      if (addresses.length === 0) throw new NotConnected('dns', `${hostname} has no address`)
      return addresses
    },
  }
}

/** Asks the name servers directly: a stalled one holds no thread of the pool, and /etc/hosts has no say. */
async function resolveByDns(hostname: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: 500, tries: 2 })
  return addressesIn(await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]))
}

/** What a name server says of a name that has no such address. */
const HAS_NONE: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * The addresses in the answers to several questions about one name.
 * @throws NoAnswerOfDns where there are none, and one of the questions was not answered
 */
export function addressesIn(answers: readonly PromiseSettledResult<readonly string[]>[]): readonly string[] {
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const unanswered = answers.find((answer) => answer.status === 'rejected' && !HAS_NONE.has(answer.reason?.code))
  if (addresses.length === 0 && unanswered?.status === 'rejected') {
    throw new NoAnswerOfDns(String(unanswered.reason?.code), { cause: unanswered.reason })
  }
  return addresses
}

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address)
}
