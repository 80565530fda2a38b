import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import {
  isInRange,
  isPublicAddress,
  parseAddress,
  type AddressRange,
  type IpAddress,
} from './address-ranges.ts'

const URL_CHARACTERS_MAX = 2_048
const LOOPBACK: IpAddress = { family: 4, value: 0x7f00_0001n }

/**
 * The address of a receiver, normalized. What can be said of it before its name is resolved: https (http only where the
 * settings name addresses), no credentials, no fragment, and no address literal that may not be reached. Throws
 * InvalidInputError, which never holds the text: a path or query may carry a token.
 */
export function checkWebhookUrl(text: string, path: string, allowed: readonly AddressRange[]): URL {
  const url = parseUrl(text, path)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new InvalidInputError('expected an https URL', path)
  }
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new InvalidInputError('expected a URL without user, password and fragment', path)
  }
  if (url.protocol === 'http:' && allowed.length === 0) {
    throw new InvalidInputError(
      'expected an https URL: http is for addresses that TIMELAKE_WEBHOOK_ALLOWED_ADDRESSES names',
      path,
    )
  }
  const address = isLocalName(url) ? LOOPBACK : literalAddress(url)
  if (address === undefined) return url
  const refusal = refusalOfAddress(address, url, allowed)
  if (refusal !== undefined) throw new InvalidInputError(refusal, path)
  return url
}

/** Why a connection to this address must not be opened for the URL; undefined when it may. */
export function refusalOfAddress(
  address: IpAddress,
  { protocol }: Pick<URL, 'protocol'>,
  allowed: readonly AddressRange[],
): string | undefined {
  if (allowed.some((range) => isInRange(address, range))) return undefined
  if (!isPublicAddress(address)) {
    return 'expected a public address, or one that TIMELAKE_WEBHOOK_ALLOWED_ADDRESSES names'
  }
  return protocol === 'https:' ? undefined : 'expected https for a public address'
}

/** The address that the host of the URL is written as, without brackets; undefined for a name that is to be resolved. */
export function literalAddress({ hostname }: Pick<URL, 'hostname'>): IpAddress | undefined {
  return parseAddress(hostname.replace(/^\[(.*)\]$/, '$1'))
}

function isLocalName({ hostname }: URL): boolean {
  return /(^|\.)localhost\.?$/.test(hostname)
}

function parseUrl(text: string, path: string): URL {
  const isShort = text.length <= URL_CHARACTERS_MAX
  const url = isShort && URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined) return url
  throw new InvalidInputError(`expected a URL of at most ${URL_CHARACTERS_MAX} characters`, path)
}
