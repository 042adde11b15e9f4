const decoder = new TextDecoder()

/** A JSON value as bytes. Throws for what JSON cannot say, such as a cycle. */
export const encodeJson = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value) ?? 'null')

/** The JSON value of a body; throws when it is none. */
export const decodeJson = (body: Uint8Array): unknown => JSON.parse(decoder.decode(body))

/** Several bodies as one. */
export const joinBodies = (parts: readonly Uint8Array[]): Uint8Array => {
  const [only] = parts
  return only !== undefined && parts.length === 1 ? only : Buffer.concat(parts)
}

/** Views of at most `size` bytes that together are `body`; an empty body is none. */
export function* cutBody(body: Uint8Array, size: number): Generator<Uint8Array, void, void> {
  for (let start = 0; start < body.byteLength; start += size) yield body.subarray(start, start + size)
}

/**
 * Releases the memory of bytes immediately, instead of leaving it to the garbage collector, which would scan the heap more often.
 * Other references to the bytes see them empty. Memory shared with other bytes is left alone.
 */
export const giveBack = ({ buffer, byteLength }: Uint8Array): void => {
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
