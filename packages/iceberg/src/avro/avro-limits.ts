/** Longest decompressed block. Declared sizes are checked against it before anything is allocated. */
export const AVRO_BLOCK_BYTES_MAX = 128 * 1024 * 1024

/** Decompressed bytes of all blocks of one file together. */
export const AVRO_DECODED_BYTES_MAX = 1024 * 1024 * 1024

/** Schema and key-values before the first block; a schema of thousands of columns stays far below. */
export const AVRO_HEADER_BYTES_MAX = 64 * 1024 * 1024

/** Key-values of the header. */
export const AVRO_HEADER_KEYS_MAX = 1_000

/** Nesting of the writer schema, and of the values that are read or skipped by it. */
export const AVRO_DEPTH_MAX = 64

/** Elements of all lists and maps of one file that are kept in memory, about 60 bytes each. */
export const AVRO_ITEMS_MAX = 16_000_000

/** Records of one file that are kept in memory, about 1 kB each. */
export const AVRO_RECORDS_MAX = 1_000_000

/** Fields of one record of the writer schema. */
export const AVRO_FIELDS_MAX = 5_000
