import { BlockList, isIP } from 'node:net'

/**
 * Says whether an address is in one of some networks; one of IPv4 that IPv6 maps is that of IPv4. Any other text is in none.
 * @param networks addresses of the Internet Protocol, each alone or with the length of its prefix
 */
export function addressList(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
}
