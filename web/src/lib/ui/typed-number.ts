/** A field that takes a number: empty, which is null, or one. */
export const typedNumber = (text: string): number | null => {
  const number = Number(text)
  return text.trim() === '' || !Number.isFinite(number) ? null : number
}
