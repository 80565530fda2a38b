/** Where a Redis or Valkey server is and how to log in. */
export interface RedisAddress {
  readonly host: string
  readonly port: number
  readonly username?: string
  readonly password?: string
  /** Number of the logical database. */
  readonly db: number
  readonly tls?: Readonly<Record<string, never>>
}

/** A Redis URL that cannot be used. The message never holds the URL, which may hold a password. */
export class RedisUrlError extends Error {
  override readonly name = 'RedisUrlError'
}

const PORT = 6379
const SCHEMES = ['redis:', 'rediss:', 'valkey:', 'valkeys:']
const TLS_SCHEMES = ['rediss:', 'valkeys:']

/** Reads `redis://[[user]:password@]host[:port][/db]`; `rediss` and `valkeys` for TLS. Throws RedisUrlError. */
export function redisAddressOf(url: string): RedisAddress {
  if (!URL.canParse(url)) throw new RedisUrlError('cannot read the Redis URL: it is no URL')
  const { protocol, hostname, port, username, password, pathname } = new URL(url)
  if (!SCHEMES.includes(protocol)) {
    throw new RedisUrlError(
      `cannot read the Redis URL: expected redis:// or rediss://, got ${protocol}//`,
    )
  }
  if (hostname === '') throw new RedisUrlError('cannot read the Redis URL: it names no host')
  const db = /^\/?(\d{0,3})$/.exec(pathname)?.[1]
  if (db === undefined) {
    throw new RedisUrlError('cannot read the Redis URL: its path must be the number of a database')
  }
  return {
    // `new URL` keeps the brackets of an IPv6 address.
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? PORT : Number(port),
    ...(username === '' ? {} : { username: decoded(username) }),
    ...(password === '' ? {} : { password: decoded(password) }),
    db: Number(db),
    ...(TLS_SCHEMES.includes(protocol) ? { tls: {} } : {}),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new RedisUrlError(
      'cannot read the Redis URL: its user or password is not percent-encoded',
    )
  }
}
