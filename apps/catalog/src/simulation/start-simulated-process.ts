import { openSecretBox } from '@timelake/storage/secret-box'
import { sameStoreForAll } from '@timelake/storage/warehouse-stores'
import type { ServerAnswer, ServerRequest } from '@timelake/testing/simulation/simulated-server'
import type { ProcessParts, StartProcess } from '@timelake/testing/simulation/simulated-world'
import { noFaults } from '@timelake/timelake/contract/fault-points'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { defaultCatalogConfig } from '../catalog-config.ts'
import { makeDispatch, type Dispatch } from '../http/dispatch.ts'
import { type HttpRequest, isBodyPieces, isBodyStream } from '../http/exchange.ts'
import { ROUTES } from '../routes.ts'
import { makeCatalog } from '../start-catalog.ts'

/** 32 bytes. */
const SECRET_KEY = Buffer.alloc(32, 7).toString('base64')
/** Far more names than a world has: memory for more is reserved at each start. */
const POINTERS_MAX = 100
const LOG = pino({ level: 'silent' })

/** The catalog as a process of a simulated world: all of it but the sockets. */
export const startSimulatedProcess: StartProcess = (parts) => {
  const dispatch = makeDispatch(makeCatalog(optionsOf(parts)), ROUTES)
  return (request, signal) => answer(dispatch, request, signal)
}

function optionsOf(parts: ProcessParts) {
  const { database, store, isOnlyWriter, nowMs, delay, newUuid } = parts
  return {
    config: { ...defaultCatalogConfig, isOnlyWriter, pointerCacheEntriesMax: POINTERS_MAX },
    context: {
      database,
      stores: sameStoreForAll(store),
      secretBox: openSecretBox({ key: SECRET_KEY }),
      nowMs,
      delay,
      newUuid,
      log: LOG,
      registry: new Registry(),
      reachFaultPoint: noFaults,
    },
  }
}

async function answer(
  dispatch: Dispatch,
  { method, path, headers = {}, body }: ServerRequest,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const request: HttpRequest = {
    method,
    target: path,
    header: (name) => headers[name],
    readBody: () => Promise.resolve(Buffer.from(body ?? '')),
    connection: undefined,
    aborted: () => signal,
  }
  const { status, body: content = '' } = (await dispatch(request)).answer
  if (isBodyStream(content)) throw new Error(`${path} answers a stream`)
  const bytes = isBodyPieces(content) ? Buffer.concat(content) : content
  return { status, body: bytes.toString() }
}
