/**
 * Gives the memory of bytes back at once, which else waits for the collector and makes it look through the whole heap so
 * much more often. Whoever still holds them finds them empty. Memory that other bytes share is left alone.
 */
export const giveBack = ({ buffer, byteLength }: Uint8Array): void => {
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
