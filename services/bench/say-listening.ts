/** Tells whoever started this process where it listens. */
export const sayListening = (url: string): void => {
  process.stdout.write(`${JSON.stringify({ listening: { url } })}\n`)
}
