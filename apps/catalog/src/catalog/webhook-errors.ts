export class NoSuchWebhookError extends Error {
  override readonly name = 'NoSuchWebhookError'
  constructor(webhook: string) {
    super(`Webhook does not exist: ${webhook}`)
  }
}

export class WebhookExistsError extends Error {
  override readonly name = 'WebhookExistsError'
  constructor(webhook: string) {
    super(`Webhook already exists: ${webhook}`)
  }
}

/** Somebody else changed the webhook since the caller read it. */
export class WebhookChangedError extends Error {
  override readonly name = 'WebhookChangedError'
  constructor(webhook: string, expectedVersion: bigint) {
    super(
      `cannot change webhook ${webhook}: expected version ${expectedVersion}, found a newer one`,
    )
  }
}
