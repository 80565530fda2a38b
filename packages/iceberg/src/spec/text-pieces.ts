const utf8 = new TextEncoder()

/**
 * A long text as UTF-8 in pieces that follow each other. Bytes that are made already, and are part of other texts too, become
 * pieces as they are; what lies between them is encoded together.
 */
export class TextPieces {
  readonly #pieces: Uint8Array[] = []
  #pending: string[] = []

  addText(text: string): void {
    this.#pending.push(text)
  }

  /** The bytes must not change afterwards. */
  addBytes(bytes: Uint8Array): void {
    this.#encodePending()
    this.#pieces.push(bytes)
  }

  /** Everything that was added, in its order. */
  finish(): readonly Uint8Array[] {
    this.#encodePending()
    return this.#pieces
  }

  #encodePending(): void {
    if (this.#pending.length === 0) return
    this.#pieces.push(utf8.encode(this.#pending.join('')))
    this.#pending = []
  }
}
