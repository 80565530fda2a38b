export class NoSuchAccountError extends Error {
  override readonly name = 'NoSuchAccountError'
  constructor(account: string) {
    super(`Account does not exist: ${account}`)
  }
}

export class NoSuchGrantError extends Error {
  override readonly name = 'NoSuchGrantError'
  constructor(id: string) {
    super(`Grant does not exist: ${id}`)
  }
}

/** The name is taken, or another account stands for the same subject of the identity provider. */
export class AccountExistsError extends Error {
  override readonly name = 'AccountExistsError'
  constructor(account: string) {
    super(`Account already exists: ${account}`)
  }
}

/** Somebody else changed the account since the caller read it. */
export class AccountChangedError extends Error {
  override readonly name = 'AccountChangedError'
  constructor(account: string, expectedVersion: bigint) {
    super(
      `cannot change account ${account}: expected version ${expectedVersion}, found a newer one`,
    )
  }
}
