import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/**
 * What happens to the connections. `pass`: nothing. `refuse`: they are cut, and so is every new one. `lose-requests`: the next
 * thing a client says is not passed on, and its connection is cut. `lose-answers`: it is passed on, and the connection is
 * cut when the answer comes. `delay-requests`: the connection is cut at once, and what the client said is passed on by
 * `release`.
 */
export type ProxyMode = 'pass' | 'refuse' | 'lose-requests' | 'lose-answers' | 'delay-requests'

export interface TcpProxy {
  readonly port: number
  /** All modes but `refuse` go back to `pass` when they have struck once. */
  setMode(mode: ProxyMode): void
  /** How often a mode has struck. */
  readonly struckCount: number
  /** Passes on what was delayed; resolves when the server has answered it. */
  release(): Promise<void>
  close(): Promise<void>
}

interface Link {
  readonly client: Socket
  readonly server: Socket
}

/** A proxy in front of a TCP server, for tests of lost connections. */
export async function openTcpProxy(target: {
  readonly host: string
  readonly port: number
}): Promise<TcpProxy> {
  let mode: ProxyMode = 'pass'
  let struckCount = 0
  const links = new Set<Link>()
  const delayed: { server: Socket; bytes: Buffer }[] = []

  function strike(): void {
    struckCount += 1
    mode = 'pass'
  }

  function cut({ client, server }: Link): void {
    client.destroy()
    server.destroy()
  }

  function onRequest(link: Link, bytes: Buffer): void {
    if (mode === 'lose-requests') {
      strike()
      cut(link)
    } else if (mode === 'delay-requests') {
      strike()
      delayed.push({ server: link.server, bytes })
      // The server must not notice that the client is gone.
      links.delete(link)
      link.client.destroy()
    } else link.server.write(bytes)
  }

  function onAnswer(link: Link, bytes: Buffer): void {
    if (mode === 'lose-answers') {
      strike()
      cut(link)
    } else if (!link.client.destroyed) link.client.write(bytes)
  }

  const proxy = createServer((client) => {
    client.on('error', () => {})
    if (mode === 'refuse') {
      client.destroy()
      return
    }
    const link = { client, server: connect(target) }
    links.add(link)
    client.on('data', (bytes) => onRequest(link, bytes))
    link.server.on('data', (bytes) => onAnswer(link, bytes))
    link.server.on('error', () => {})
    for (const socket of [client, link.server]) {
      socket.setNoDelay(true)
      socket.on('close', () => {
        if (links.delete(link)) cut(link)
      })
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    port: (proxy.address() as AddressInfo).port, // `as`: a TCP server has no other kind of address
    setMode(next) {
      mode = next
      if (next === 'refuse') for (const link of links) cut(link)
    },
    get struckCount() {
      return struckCount
    },
    async release() {
      for (const { server, bytes } of delayed.splice(0)) {
        const answered = new Promise((resolve) => server.once('data', resolve))
        server.write(bytes)
        await answered
        server.destroy()
      }
    },
    async close() {
      for (const link of links) cut(link)
      for (const { server } of delayed) server.destroy()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}
