/** How large files are cut. Each call in flight holds one piece in memory. */
export interface S3Sizes {
  /** A file up to this size is written by one PUT, a larger one in parts. */
  readonly singlePutBytesMax: number
  /** Length of an uploaded part; longer when a file would need too many of them. Stores want at least 5 MiB. */
  readonly partBytes: number
  /** Length of the pieces in which an object is read into a local file. */
  readonly pieceBytes: number
}

export const DEFAULT_S3_SIZES: S3Sizes = {
  singlePutBytesMax: 16_777_216,
  partBytes: 16_777_216,
  pieceBytes: 8_388_608,
}
