import type { WarehouseRow } from '@timelake/database/warehouses'
import type { ObjectStore } from '@timelake/storage/object-store'

/** How clients may be given access to a warehouse's objects by the catalog. */
export type DelegationMode = 'vended-credentials' | 'remote-signing'

/** What an operator may set for a warehouse beside its place and its storage. */
export interface WarehouseSettings {
  /** Location prefixes beside the warehouse's own where its tables may lie. */
  readonly allowedLocations: readonly string[]
  /** Client properties of `/v1/config`: what a client's own setting replaces, and what replaces it. */
  readonly defaults: Readonly<Record<string, string>>
  readonly overrides: Readonly<Record<string, string>>
  /** What clients may ask for with X-Iceberg-Access-Delegation; empty: they bring their own access. */
  readonly delegation: readonly DelegationMode[]
}

/** A warehouse as requests see it: its row, decoded, and the store of its objects. */
export interface Warehouse {
  readonly id: string
  readonly name: string
  readonly location: string
  readonly store: ObjectStore
  readonly settings: WarehouseSettings
  readonly row: WarehouseRow
}

const EMPTY_SETTINGS: WarehouseSettings = {
  allowedLocations: [],
  defaults: {},
  overrides: {},
  delegation: [],
}

/** The settings in a row, which `encodeWarehouseSettings` wrote; what is absent is empty. */
export function decodeWarehouseSettings(text: string): WarehouseSettings {
  // `as`: written by this file.
  return { ...EMPTY_SETTINGS, ...(JSON.parse(text) as Partial<WarehouseSettings>) }
}

/** The text for a row. */
export function encodeWarehouseSettings(settings: WarehouseSettings): string {
  return JSON.stringify(settings)
}
