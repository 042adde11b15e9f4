const decoder = new TextDecoder()

/** Encodes a value as JSON. Throws if JSON cannot represent the value, for example because of a cycle. */
export const encodeJson = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value) ?? 'null')

/** Decodes a JSON body; throws if it is invalid. */
export const decodeJson = (body: Uint8Array): unknown => JSON.parse(decoder.decode(body))

/** Concatenates bodies; a single body is returned without a copy. */
export const joinBodies = (parts: readonly Uint8Array[]): Uint8Array => {
  const [only] = parts
  return only !== undefined && parts.length === 1 ? only : Buffer.concat(parts)
}

/** Splits a body into views of at most `size` bytes; yields nothing for an empty body. */
export function* splitBody(body: Uint8Array, size: number): Generator<Uint8Array, void, void> {
  for (let start = 0; start < body.byteLength; start += size) yield body.subarray(start, start + size)
}

/**
 * Frees the memory of bytes immediately, so that the garbage collector runs less often. All references to the bytes are
 * empty afterwards. Does nothing if the bytes are part of a larger buffer.
 */
export const releaseBytes = ({ buffer, byteLength }: Uint8Array): void => {
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
