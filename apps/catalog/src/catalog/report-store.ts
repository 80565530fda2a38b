import { probeStore } from '@timelake/storage/probe-store'
import type { Logger } from 'pino'
import type { BackgroundTasks } from '../background-tasks.ts'
import type { Warehouse } from './warehouse.ts'

/**
 * Tries, in the background, what the catalog needs of a warehouse's object store, and logs what it does not do. Commits stay
 * right on a store that ignores conditions, because the database decides; whoever runs it should know all the same.
 * Local directories are not tried.
 */
export function reportStore(
  { background, log }: { readonly background: BackgroundTasks; readonly log: Logger },
  { name, location, store }: Warehouse,
): void {
  if (location.startsWith('file:')) return
  background.start('probe the store of a warehouse', async () => {
    const findings = await probeStore(store, location)
    for (const { check, detail } of findings.filter(({ ok }) => !ok)) {
      log.warn({ warehouse: name, check, detail }, 'the store of a warehouse lacks something')
    }
  })
}
