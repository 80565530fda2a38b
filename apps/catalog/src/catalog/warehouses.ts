import { findWarehouse, findWarehouseById, type WarehouseRow } from '@timelake/database/warehouses'
import type { CatalogContext } from '../context.ts'
import { NoSuchWarehouseError } from './catalog-errors.ts'
import { decodeWarehouseSettings, type Warehouse } from './warehouse.ts'

export interface WarehousesOptions {
  readonly maxAgeMs: number
  /** Called once for each version of a warehouse that this process comes across. */
  readonly onMet?: (warehouse: Warehouse) => void
}

interface Known {
  readonly warehouse: Warehouse
  readonly readAtMs: number
}

/**
 * Warehouses by name and by id, remembered for `maxAgeMs`: they are few and change seldom, and a change by this process
 * is told with `forget`. What another process changed is seen after that age.
 */
export class Warehouses {
  readonly #context: CatalogContext
  readonly #options: WarehousesOptions
  /** Newest version of each warehouse that this process has met. */
  readonly #met = new Map<string, bigint>()
  readonly #byName = new Map<string, Known>()
  readonly #byId = new Map<string, Known>()

  constructor(context: CatalogContext, options: WarehousesOptions) {
    this.#context = context
    this.#options = options
  }

  /** Throws NoSuchWarehouseError. */
  async byName(name: string): Promise<Warehouse> {
    const known = this.#fresh(this.#byName.get(name))
    if (known !== undefined) return known
    const row = await findWarehouse(this.#context.database, name)
    if (row === undefined) throw new NoSuchWarehouseError(name)
    return this.#keep(row)
  }

  /** Whether `byName` would answer without a look-up. */
  remembers(name: string): boolean {
    return this.#fresh(this.#byName.get(name)) !== undefined
  }

  /** Throws NoSuchWarehouseError. */
  async byId(id: string): Promise<Warehouse> {
    const known = this.#fresh(this.#byId.get(id))
    if (known !== undefined) return known
    const row = await findWarehouseById(this.#context.database, id)
    if (row === undefined) throw new NoSuchWarehouseError(id)
    return this.#keep(row)
  }

  /** A warehouse was changed or removed. */
  forget(): void {
    this.#byName.clear()
    this.#byId.clear()
  }

  #meet(warehouse: Warehouse): void {
    const { id, version } = warehouse.row
    const met = this.#met.get(id)
    if (met !== undefined && met >= version) return
    this.#met.set(id, version)
    this.#options.onMet?.(warehouse)
  }

  #fresh(known: Known | undefined): Warehouse | undefined {
    if (known === undefined) return undefined
    return this.#context.nowMs() - known.readAtMs <= this.#options.maxAgeMs
      ? known.warehouse
      : undefined
  }

  #keep(row: WarehouseRow): Warehouse {
    const { id, name, location } = row
    const store = this.#context.stores.storeOf(row)
    const settings = decodeWarehouseSettings(row.settings)
    const known = {
      warehouse: { id, name, location, store, settings, row },
      readAtMs: this.#context.nowMs(),
    }
    this.#byName.set(name, known)
    this.#byId.set(id, known)
    this.#meet(known.warehouse)
    return known.warehouse
  }
}
