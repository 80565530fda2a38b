/**
 * A lossless JSON tree. An integer literal is a `bigint`, a literal with a point or an exponent is
 * a `number` and is printed with a point again (Java refuses a float without one), so
 * `print(parse(text))` keeps every 64-bit id and every float. Members that are `undefined` are not printed.
 */
export type JsonValue =
  null | boolean | string | bigint | number | readonly JsonValue[] | JsonObject

export interface JsonObject {
  readonly [member: string]: JsonValue | undefined
}
