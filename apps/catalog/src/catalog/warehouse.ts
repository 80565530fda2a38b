import type { WarehouseRow } from '@timelake/database/warehouses'
import type { ObjectStore } from '@timelake/storage/object-store'

/**
 * How clients may be given access to a warehouse's objects by the catalog: with sessions that reach one table, with the
 * warehouse's own keys, or by signing each of their requests.
 */
export const DELEGATION_MODES = ['vended-credentials', 'static-keys', 'remote-signing'] as const
export type DelegationMode = (typeof DELEGATION_MODES)[number]

/** What an operator may set for a warehouse beside its place and its storage. */
export interface WarehouseSettings {
  /** Location prefixes beside the warehouse's own where its tables may lie. */
  readonly allowedLocations: readonly string[]
  /** Client properties of `/v1/config`: what a client's own setting replaces, and what replaces it. */
  readonly defaults: Readonly<Record<string, string>>
  readonly overrides: Readonly<Record<string, string>>
  /** What clients may be given that ask for it, the first that can be; empty: they bring their own access. */
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
  /** For a caller whose role does not reach through the whole warehouse: the only locations below which it may place something. */
  readonly confinedTo?: readonly string[]
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
