import { findWarehouse, findWarehouseById, type WarehouseRow } from '@timelake/database/warehouses'
import { AgingReads } from '../cache/aging-reads.ts'
import type { CatalogContext } from '../context.ts'
import { NoSuchWarehouseError } from './catalog-errors.ts'
import { decodeWarehouseSettings, type Warehouse } from './warehouse.ts'

export interface WarehousesOptions {
  readonly maxAgeMs: number
  /** Called once for each version of a warehouse that this process comes across. */
  readonly onMet?: (warehouse: Warehouse) => void
}

/** Warehouses that are remembered at most, each under its name and its id. */
const REMEMBERED_MAX = 10_000

/**
 * Warehouses by name and by id, remembered for `maxAgeMs`: they are few and change seldom, and a change by this process
 * is told with `forget`. What another process changed is seen after that age. Many requests that find one too old share one
 * query.
 */
export class Warehouses {
  readonly #context: CatalogContext
  readonly #options: WarehousesOptions
  /** Newest version of each warehouse that this process has met. */
  readonly #met = new Map<string, bigint>()
  readonly #byName: AgingReads
  readonly #byId: AgingReads

  constructor(context: CatalogContext, options: WarehousesOptions) {
    this.#context = context
    this.#options = options
    const { maxAgeMs } = options
    const reads = { maxAgeMs, entriesMax: REMEMBERED_MAX, nowMs: context.nowMs }
    this.#byName = new AgingReads(reads)
    this.#byId = new AgingReads(reads)
  }

  /** Throws NoSuchWarehouseError. */
  async byName(name: string): Promise<Warehouse> {
    return this.#byName.find(name, async () =>
      this.#opened(name, await findWarehouse(this.#context.database, name)),
    )
  }

  /** Whether `byName` would answer without a look-up. */
  remembers(name: string): boolean {
    return this.#byName.remembers(name)
  }

  /** Throws NoSuchWarehouseError. */
  async byId(id: string): Promise<Warehouse> {
    return this.#byId.find(id, async () =>
      this.#opened(id, await findWarehouseById(this.#context.database, id)),
    )
  }

  /** A warehouse was changed or removed. */
  forget(): void {
    this.#byName.forget()
    this.#byId.forget()
  }

  #opened(wanted: string, row: WarehouseRow | undefined): Warehouse {
    if (row === undefined) throw new NoSuchWarehouseError(wanted)
    const { id, name, location } = row
    const store = this.#context.stores.storeOf(row)
    const settings = decodeWarehouseSettings(row.settings)
    const warehouse = { id, name, location, store, settings, row }
    this.#meet(warehouse)
    return warehouse
  }

  #meet(warehouse: Warehouse): void {
    const { id, version } = warehouse.row
    const met = this.#met.get(id)
    if (met !== undefined && met >= version) return
    this.#met.set(id, version)
    this.#options.onMet?.(warehouse)
  }
}
