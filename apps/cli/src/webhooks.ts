import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonValue } from '@timelake/iceberg/spec/json-value'
import {
  askAdmin,
  type AdminRequest,
  type AdminWebhook,
  type WebhookTrial,
} from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import { EXIT_CODES, type ExitCode } from './exit-code.ts'
import { printTime } from './print-quantities.ts'
import type { WebhooksCommand } from './webhooks-command.ts'

const WEBHOOKS = '/admin/v1/webhooks'

/**
 * Shows and changes the webhooks of a running server. Errors: CommandError; the exit code is `failed` when a receiver does
 * not take the trial.
 */
export async function webhooks(
  command: WebhooksCommand,
  context: CommandContext,
): Promise<ExitCode> {
  const { settings, print, send, nowMs } = context
  const { uri = settings.uri } = command
  const ask = (request: AdminRequest) => askAdmin({ uri, token: settings.token, send }, request)
  const show = (answer: JsonValue, lines: readonly string[]): ExitCode => {
    print(command.isJson ? printJson(answer) : lines.join('\n'))
    return EXIT_CODES.done
  }
  switch (command.action) {
    case 'list': {
      const answer = await ask({ method: 'GET', path: WEBHOOKS })
      const { webhooks: all } = as<{ webhooks: AdminWebhook[] }>(answer)
      return show(answer, all.length === 0 ? ['no webhooks'] : all.map(shortLine))
    }
    case 'create': {
      const answer = await ask({ method: 'POST', path: WEBHOOKS, body: command.body })
      const { secret, ...made } = as<AdminWebhook & { secret: string }>(answer)
      return show(answer, [...describe(made, nowMs()), `  secret (shown this once)  ${secret}`])
    }
    case 'show': {
      const answer = await ask({ method: 'GET', path: pathOf(command.name) })
      return show(answer, describe(as<AdminWebhook>(answer), nowMs()))
    }
    case 'pause':
    case 'resume': {
      const path = `${pathOf(command.name)}/${command.action}`
      const answer = await ask({ method: 'POST', path })
      return show(answer, describe(as<AdminWebhook>(answer), nowMs()))
    }
    case 'rotate': {
      const answer = await ask({ method: 'POST', path: `${pathOf(command.name)}/secret` })
      return show(answer, [`secret (shown this once)  ${as<{ secret: string }>(answer).secret}`])
    }
    case 'test': {
      const answer = await ask({ method: 'POST', path: `${pathOf(command.name)}/test` })
      const { delivered, reason } = as<WebhookTrial>(answer)
      show(answer, [delivered === true ? 'the receiver took it' : `not taken: ${reason}`])
      return delivered === true ? EXIT_CODES.done : EXIT_CODES.failed
    }
    case 'replay': {
      const path = `${pathOf(command.name)}/replay`
      const answer = await ask({ method: 'POST', path, body: command.body })
      return show(answer, [`${command.name} sends again`])
    }
    case 'dead-letters': {
      const answer = await ask({ method: 'GET', path: `${pathOf(command.name)}/dead-letters` })
      return show(answer, deadLetterLines(answer, nowMs()))
    }
    case 'delete':
      await ask({ method: 'DELETE', path: pathOf(command.name) })
      if (!command.isJson) print(`webhook ${command.name} is forgotten`)
      return EXIT_CODES.done
  }
}

function pathOf(name: string): string {
  return `${WEBHOOKS}/${encodeURIComponent(name)}`
}

// `as`: the description from which the types are made is tested against the routes.
function as<T>(answer: JsonValue): T {
  return answer as unknown as T
}

function shortLine(webhook: AdminWebhook): string {
  const { host } = new URL(webhook.url)
  const waiting = webhook['waiting-events']
  const dead = webhook['dead-letters']
  return `${webhook.name}  ${webhook.state}  ${host}  ${waiting} waiting, ${dead} dead`
}

function describe(webhook: AdminWebhook, nowMs: number): string[] {
  const { state, url, filter } = webhook
  const at = (ms: bigint | null): string => (ms === null ? 'never' : printTime(ms, nowMs))
  const failure = webhook['last-failure']
  const paused = webhook['paused-reason']
  return [
    shortLine(webhook),
    `  url             ${url}`,
    `  filter          ${JSON.stringify(filter)}`,
    `  cursor          ${webhook.cursor}`,
    `  delivered       ${webhook['delivered-events']}, last ${at(webhook['last-delivered-ms'])}`,
    ...(failure === null ? [] : [`  last failure    ${failure}, ${at(webhook['last-failed-ms'])}`]),
    ...(state === 'failing' ? [`  next attempt    ${at(webhook['next-attempt-ms'])}`] : []),
    ...(paused === null ? [] : [`  paused          ${paused}`]),
  ]
}

interface ShownLetters {
  readonly 'dead-letters': readonly {
    readonly 'event-id': string
    readonly kind: string
    readonly attempts: bigint
    readonly 'given-up-ms': bigint
    readonly 'last-failure': string | null
  }[]
  readonly 'next-page-token': string | null
}

function deadLetterLines(answer: JsonValue, nowMs: number): string[] {
  const { 'dead-letters': letters, 'next-page-token': token } = as<ShownLetters>(answer)
  if (letters.length === 0) return ['no dead letters']
  const lines = letters.map((letter) => {
    const when = printTime(letter['given-up-ms'], nowMs)
    const why = `${letter.attempts} attempts, ${letter['last-failure'] ?? 'no reason'}`
    return `${letter['event-id']}  ${letter.kind}  given up ${when}: ${why}`
  })
  return token === null ? lines : [...lines, 'and more: --json, or the admin routes, page by page']
}
