/** What the changes of properties need of a draft, be it of a table or a view. */
export interface PropertiesDraft {
  readonly properties: Map<string, string>
  record(
    change:
      | { readonly action: 'set-properties'; readonly updates: Readonly<Record<string, string>> }
      | { readonly action: 'remove-properties'; readonly removals: readonly string[] },
  ): void
}

/** Sets properties; those that have the value already are no change. */
export function setProperties(
  draft: PropertiesDraft,
  updates: Readonly<Record<string, string>>,
): void {
  const changed = Object.entries(updates).filter(
    ([key, value]) => draft.properties.get(key) !== value,
  )
  changed.forEach(([key, value]) => draft.properties.set(key, value))
  if (changed.length > 0)
    draft.record({ action: 'set-properties', updates: Object.fromEntries(changed) })
}

/** Removes properties; keys that are not set are ignored. */
export function removeProperties(draft: PropertiesDraft, removals: readonly string[]): void {
  const removed = removals.filter((key) => draft.properties.delete(key))
  if (removed.length > 0) draft.record({ action: 'remove-properties', removals: removed })
}
