/** Parses a number field; null for empty or invalid text. */
export const parseNumber = (text: string): number | null => {
  const number = Number(text)
  return text.trim() === '' || !Number.isFinite(number) ? null : number
}
