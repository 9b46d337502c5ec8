import { BlockList, isIP } from 'node:net'

/**
 * What strangers are counted by: an IPv4 address, or the 64 bits of an IPv6 address that tell one customer of a provider from
 * another, as each has all the addresses behind them. What is no address is itself.
 * @source rules#strangers.1
 */
export function clientNetwork(address: string): string {
  const mapped = MAPPED.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  return isIP(address) === 6 ? `${firstGroups(address).join(':')}::/64` : address
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

const GROUPS_OF_NETWORK = 4

function firstGroups(address: string): string[] {
  const [before = '', behind] = address.split('::')
  const groups = groupsOf(before)
  // A last part in the form of IPv4 is two groups; it is never among the first four of a whole address.
  const missing =
    behind === undefined ? 0 : 8 - groups.length - groupsOf(behind).length - (behind.includes('.') ? 1 : 0)
  const all = [...groups, ...Array<string>(missing).fill('0'), ...groupsOf(behind ?? '')]
  return all.slice(0, GROUPS_OF_NETWORK).map((group) => Number.parseInt(group, 16).toString(16))
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':')
}

/**
 * Whether an address is one of these.
 * @param networks addresses, or CIDRs, that were checked when they were read
 */
export function networkTest(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}
