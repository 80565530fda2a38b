import { countDeliveries, listWebhooks } from '@timelake/database/webhooks'
import type { SqlSession } from '@timelake/database/sql-session'
import { Counter, Gauge, type Registry } from 'prom-client'

export interface WebhookMetrics {
  readonly attempts: Counter<'outcome'>
  readonly deadLetters: Counter
  readonly lostPlaces: Counter
}

export interface WebhookMetricsOptions {
  readonly database: SqlSession
  readonly registry: Registry
  nowMs(): number
}

/** Registers the metrics of a sender; what waits and since when receivers fail is read when it is asked for. */
export function makeWebhookMetrics(options: WebhookMetricsOptions): WebhookMetrics {
  const { registry } = options
  registerStates(options)
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames: [...labelNames], registers: [registry] })
  return {
    attempts: counter(
      'timelake_webhook_attempts_total',
      'Attempts to hand an event to a receiver',
      ['outcome'],
    ),
    deadLetters: counter('timelake_webhook_dead_letters_total', 'Events that were given up', []),
    lostPlaces: counter(
      'timelake_webhook_lost_places_total',
      'Times that events were pruned before they were sent',
      [],
    ),
  }
}

function registerStates({ database, registry, nowMs }: WebhookMetricsOptions): void {
  new Gauge({
    name: 'timelake_webhook_events',
    help: 'Events that wait for another attempt, were given up, or were pruned before they were sent',
    labelNames: ['webhook', 'state'],
    registers: [registry],
    async collect() {
      const [webhooks, counts] = [await listWebhooks(database), await countDeliveries(database)]
      this.reset()
      for (const { id, name, eventsLost } of webhooks) {
        const { waiting, deadLetters } = counts(id)
        this.set({ webhook: name, state: 'waiting' }, waiting)
        this.set({ webhook: name, state: 'dead' }, deadLetters)
        this.set({ webhook: name, state: 'lost' }, Number(eventsLost))
      }
    },
  })
  new Gauge({
    name: 'timelake_webhook_failing_seconds',
    help: 'How long nothing has got through to the receiver',
    labelNames: ['webhook'],
    registers: [registry],
    async collect() {
      const webhooks = await listWebhooks(database)
      this.reset()
      for (const { name, failingSinceMs } of webhooks) {
        const sinceMs = failingSinceMs ?? nowMs()
        this.set({ webhook: name }, Math.max(0, nowMs() - sinceMs) / 1_000)
      }
    },
  })
}
