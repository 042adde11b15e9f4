/** A text that was made of another one: for each of its UTF-16 units, the range of the source that it stands for. */
export interface MappedText {
  text: string
  starts: readonly number[]
  ends: readonly number[]
}

/** The source itself. */
export const unmapped = (text: string): MappedText => ({
  text,
  starts: Array.from({ length: text.length }, (_, index) => index),
  ends: Array.from({ length: text.length }, (_, index) => index + 1),
})

/** Replaces each match; every unit of a replacement stands for the whole match. */
export const replacedIn = (source: MappedText, pattern: RegExp, replacement: (match: string) => string): MappedText => {
  const texts: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  const keep = (from: number, to: number): void => {
    texts.push(source.text.slice(from, to))
    for (let at = from; at < to; at += 1) append(source.starts[at] ?? 0, source.ends[at] ?? 0, 1)
  }
  const append = (start: number, end: number, length: number): void => {
    for (let count = 0; count < length; count += 1) {
      starts.push(start)
      ends.push(end)
    }
  }
  let from = 0
  for (const { 0: match, index } of source.text.matchAll(pattern)) {
    keep(from, index)
    const text = replacement(match)
    texts.push(text)
    from = index + match.length
    append(source.starts[index] ?? 0, source.ends[from - 1] ?? 0, text.length)
  }
  keep(from, source.text.length)
  return { text: texts.join(''), starts, ends }
}

/**
 * Letters and digits alone, in lower case, without accents and in their compatibility form, so that neither punctuation nor another way
 * to write a character hides a text.
 */
export const lettersOf = (source: MappedText): MappedText =>
  replacedIn(source, /[^a-z0-9]/gu, (character) =>
    character
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]/gu, ''),
  )
