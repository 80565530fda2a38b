import { BlockList, isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isInRange, isPublicAddress, parseAddress, parseRange } from './address-ranges.ts'

const isPublic = (text: string): boolean => {
  const address = parseAddress(text)
  if (address === undefined) throw new Error(`${text} is no address`)
  return isPublicAddress(address)
}

describe('a public address', () => {
  it.each([
    ...['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.0', '172.15.255.255', '172.32.0.0'],
    ...['192.0.1.0', '198.17.255.255', '198.20.0.0', '223.255.255.255', '168.63.129.17'],
    ...['2001:4860:4860::8888', '2606:4700::1111', '2a00::', '3ffe::1'],
  ])('is %s', (text) => expect(isPublic(text)).toBe(true))

  it.each([
    ...['0.0.0.0', '0.255.0.1', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.100.100.200'],
    ...['127.0.0.1', '127.255.255.255', '169.254.169.254', '172.16.0.0', '172.31.255.255'],
    ...['192.0.0.192', '192.0.2.1', '192.168.1.1', '198.18.0.1', '198.51.100.1', '203.0.113.9'],
    ...['224.0.0.1', '239.1.1.1', '240.0.0.1', '255.255.255.255', '168.63.129.16'],
    ...['::', '::1', '::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '::127.0.0.1', '64:ff9b::7f00:1'],
    ...['100::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', 'fc00::1', 'fd00:ec2::254'],
    ...['fe80::1', 'fec0::1', 'ff02::1', '4000::1'],
  ])('is not %s', (text) => expect(isPublic(text)).toBe(false))

  it('is not one of the forms in which IPv6 carries any IPv4 address', () => {
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        const inside = parseAddress(`::ffff:${text}`)
        expect(inside).toEqual(parseAddress(text))
        expect(isPublic(`64:ff9b::${text}`)).toBe(false)
        expect(isPublic(`::${text}`)).toBe(false)
      }),
    )
  })
})

describe('addresses and ranges as texts', () => {
  it('are read as Node reads them', () => {
    const odd = fc.stringMatching(/^[0-9a-f:.]{1,24}$/)
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), odd), (text) => {
        expect(parseAddress(text) !== undefined).toBe(isIP(text) !== 0)
      }),
    )
  })

  it('hold the addresses that Node finds in them', () => {
    const cases = [
      [fc.ipV4(), 'ipv4', 32],
      [fc.ipV6(), 'ipv6', 128],
    ] as const
    for (const [addresses, family, bits] of cases) {
      fc.assert(
        fc.property(addresses, addresses, fc.nat(bits), (first, second, prefixBits) => {
          const [range, address] = [parseRange(`${first}/${prefixBits}`), parseAddress(second)]
          // Node takes an IPv4 address in IPv6 clothes for an IPv6 one here.
          if (range?.family !== address?.family || range?.family !== (bits === 32 ? 4 : 6)) return
          const list = new BlockList()
          list.addSubnet(first, prefixBits, family)
          const isIn = range !== undefined && address !== undefined && isInRange(address, range)
          expect(isIn).toBe(list.check(second, family))
        }),
      )
    }
  })

  it.each([
    '',
    '1.2.3',
    '1.2.3.4/33',
    '1.2.3.4/',
    '1.2.3.4/08',
    '1.2.3.4/8/8',
    '::1/129',
    '01.2.3.4',
    'x',
  ])('are not %j', (text) => expect(parseRange(text)).toBeUndefined())

  it('without a prefix stand for one address', () => {
    expect(parseRange('10.0.0.1')?.prefixBits).toBe(32)
    expect(parseRange('::1')?.prefixBits).toBe(128)
  })
})
