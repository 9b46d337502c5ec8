import { BlockList, isIP } from 'node:net'

/**
 * Whether an IP address is one that anybody on the Internet can reach. IPv6 is allowed only inside 2000::/3, which
 * leaves out loopback, IPv4-mapped, NAT64 (64:ff9b::), unique local, link local, site local and multicast.
 * @param address the text of an IP address; anything else is not public
 * @source rules#webhooks.1
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4')
    case 6:
      return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
    default:
      return false
  }
}

const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

const special = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT, and a cloud's metadata
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // Azure's host
  ['169.254.0.0', 16], // link local, and the clouds' metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
] as const) {
  special.addSubnet(network, prefix, 'ipv4')
}
for (const [network, prefix] of [
  ['2001::', 23], // protocol assignments; Teredo carries an IPv4 address
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4 carries an IPv4 address
  ['3fff::', 20], // documentation
] as const) {
  special.addSubnet(network, prefix, 'ipv6')
}
