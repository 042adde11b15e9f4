/** Splits a name or a text into words in lower case and singular. */
export const splitIntoWords = (text: string): string[] =>
  (
    text
      .replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}\p{Ll})/gu, ' ')
      .match(/\bp\d{2,4}(?=_|\b)|(?<=_)p\d{2,4}\b|\p{L}+|µs/giu) ?? []
  ).map(toSingular)

const toSingular = (word: string): string => {
  const lower = word.toLowerCase()
  if (lower === 'bytes') return 'byte'
  if (lower.endsWith('ies')) return `${lower.slice(0, -3)}y`
  return /[^s]s$/.test(lower) && lower.length > 3 ? lower.slice(0, -1) : lower
}

/** Forms of verbs that share no ending with their infinitive. */
const irregular: Readonly<Record<string, string>> = {
  ran: 'run',
  wrote: 'write',
  written: 'write',
  sent: 'send',
  held: 'hold',
  took: 'take',
  taken: 'take',
  lost: 'lose',
  broken: 'break',
}

/** Removes endings, so that `failed` and `failures`, or `used` and `usage`, are the same word. */
export const toStem = (word: string): string =>
  (irregular[word] ?? word)
    .replace(/(?<=\p{L})ied$/u, 'y')
    .replace(/(?<=\p{L}{2})(?:ed|ures?|ing|age|e)$/u, '')
    .replace(/(?<=\p{L}{2})([bdgmnprt])\1$/u, '$1')
