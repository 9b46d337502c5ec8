/**
 * CRC-16/CCITT-FALSE (polynomial 0x1021, start 0xFFFF, not reflected) over the UTF-8 bytes of `text`, as four
 * upper-case hex digits, zeros in front kept: `crc16('123456789') === '29B1'`. A BR Code's CRC covers everything up
 * to and including `6304`.
 * @source BCB, Manual do BR Code (object 63)
 */
export function crc16(text: string): string {
  let crc = 0xffff
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
    crc &= 0xffff
  }
  return crc.toString(16).toUpperCase().padStart(4, '0')
}
