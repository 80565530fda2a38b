import { LRUCache } from 'lru-cache'
import type { PlanPage } from './plan-page.ts'

const BYTES_PER_PAGE = 80
const ENTRY_OVERHEAD_BYTES = 256
/** Memory for what is known of plans that were answered at once. */
const BYTES_MAX = 16 * 1024 * 1024

/** What is scanned, and where its pages begin and end. */
export interface FoundPlan {
  /** See PinnedScan. */
  readonly scanText: string
  readonly pages: readonly PlanPage[]
}

/**
 * Plans that were answered at once, by their UUID: this process can say the same again until it needs the memory. Nobody
 * depends on it, because the answer was complete and its plan tasks describe themselves.
 */
export class RecentPlans {
  readonly #plans = new LRUCache<string, FoundPlan>({ maxSize: BYTES_MAX })

  get(uuid: string): FoundPlan | undefined {
    return this.#plans.get(uuid)
  }

  put(uuid: string, plan: FoundPlan): void {
    const size =
      2 * plan.scanText.length + BYTES_PER_PAGE * plan.pages.length + ENTRY_OVERHEAD_BYTES
    this.#plans.set(uuid, plan, { size })
  }

  delete(uuid: string): void {
    this.#plans.delete(uuid)
  }

  get sizeBytes(): number {
    return this.#plans.calculatedSize
  }
}
