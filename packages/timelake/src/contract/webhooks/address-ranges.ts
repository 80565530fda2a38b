/*
 * IP addresses and ranges of them, as texts and as numbers: which of them a webhook may be sent to. Whoever may describe
 * a webhook makes this process open connections, so addresses that only the inside of a network reaches are refused.
 */

export interface IpAddress {
  readonly family: 4 | 6
  readonly value: bigint
}

/** All addresses that share the first `prefixBits` bits with one. */
export interface AddressRange extends IpAddress {
  readonly prefixBits: number
}

const BITS: Readonly<Record<IpAddress['family'], number>> = { 4: 32, 6: 128 }
const V6_GROUPS = 8
const V4_IN_V6_PREFIX = 0xffffn

// Registries of special-purpose addresses (IANA), and one address that a cloud uses for its own ends.
const CLOSED_V4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4', '168.63.129.16'],
].map(knownRange)
const OPEN_V6 = knownRange('2000::/3')
const CLOSED_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map(knownRange)

/**
 * Whether the whole internet knows this address: neither loopback, private, link-local, multicast nor reserved, and no
 * IPv6 form that carries an IPv4 address inside.
 */
export function isPublicAddress(address: IpAddress): boolean {
  if (address.family === 4) return !CLOSED_V4.some((range) => isInRange(address, range))
  return isInRange(address, OPEN_V6) && !CLOSED_V6.some((range) => isInRange(address, range))
}

/** Whether the address is one of the range; never for one of the other family. */
export function isInRange(address: IpAddress, range: AddressRange): boolean {
  if (address.family !== range.family) return false
  const restBits = BigInt(BITS[range.family] - range.prefixBits)
  return address.value >> restBits === range.value >> restBits
}

/** `10.0.0.0/8`, `fd00::/8` or one address; undefined for any other text. */
export function parseRange(text: string): AddressRange | undefined {
  const [addressText = '', bitsText, ...rest] = text.split('/')
  const address = parseAddress(addressText)
  if (address === undefined || rest.length > 0) return undefined
  const bitCount = BITS[address.family]
  if (bitsText === undefined) return { ...address, prefixBits: bitCount }
  const prefixBits = /^(0|[1-9]\d{0,2})$/.test(bitsText) ? Number(bitsText) : bitCount + 1
  return prefixBits > bitCount ? undefined : { ...address, prefixBits }
}

/**
 * An address as people and resolvers write it, without port, brackets or zone; undefined for any other text. An IPv4
 * address in IPv6 clothes (`::ffff:10.0.0.1`) is the IPv4 address.
 */
export function parseAddress(text: string): IpAddress | undefined {
  if (!text.includes(':')) {
    const value = parseV4(text)
    return value === undefined ? undefined : { family: 4, value }
  }
  const value = parseV6(text)
  if (value === undefined) return undefined
  const isV4Inside = value >> 32n === V4_IN_V6_PREFIX
  return isV4Inside ? { family: 4, value: value & 0xffff_ffffn } : { family: 6, value }
}

function parseV4(text: string): bigint | undefined {
  const parts = text.split('.')
  const isV4 = parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))
  if (!isV4 || parts.some((part) => Number(part) > 255)) return undefined
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n)
}

function parseV6(text: string): bigint | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map(groupsOf)
  if (head === undefined) return undefined
  if (halves.length === 1) return head.length === V6_GROUPS ? joinGroups(head) : undefined
  if (tail === undefined || head.length + tail.length >= V6_GROUPS) return undefined
  const zeros = Array.from({ length: V6_GROUPS - head.length - tail.length }, () => 0n)
  return joinGroups([...head, ...zeros, ...tail])
}

function groupsOf(text: string): bigint[] | undefined {
  if (text === '') return []
  const parts = text.split(':')
  const last = parts.at(-1) ?? ''
  const v4 = last.includes('.') ? parseV4(last) : undefined
  const v4Groups = v4 === undefined ? [] : [v4 >> 16n, v4 & 0xffffn]
  const words = v4 === undefined ? parts : parts.slice(0, -1)
  if (!words.every((word) => /^[0-9a-f]{1,4}$/i.test(word))) return undefined
  return [...words.map((word) => BigInt(`0x${word}`)), ...v4Groups]
}

function joinGroups(groups: readonly bigint[]): bigint {
  return groups.reduce((value, group) => (value << 16n) | group, 0n)
}

function knownRange(text: string): AddressRange {
  const range = parseRange(text)
  if (range === undefined) throw new TypeError(`${text} is no range of addresses`)
  return range
}
