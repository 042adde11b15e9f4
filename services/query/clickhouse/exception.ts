/** An exception as ClickHouse words it. */
export interface Exception {
  code: number
  name: string
  /** Its own sentence, cut to `maxSentence` characters, without the server's version. */
  sentence: string
}

const maxSentence = 500
const pattern = /Code:\s*(\d+)\.\s*DB::(?:\w+)?Exception:\s*([\s\S]*)/
const nameAtEnd = /\(([A-Z][A-Z0-9_]{2,})\)\s*(?:\(version [^)]*\))?/

/** Reads `Code: 60. DB::Exception: … (UNKNOWN_TABLE) (version …)`, wherever it stands in a text. */
export const parseException = (text: string): Exception | undefined => {
  const found = pattern.exec(text)
  if (!found) return undefined
  const [, code = '', rest = ''] = found
  const name = nameAtEnd.exec(rest)
  const sentence = (name ? rest.slice(0, name.index) : rest).replace(/\s*__exception__[\s\S]*$/, '').trim()
  return { code: Number(code), name: name?.[1] ?? 'UNKNOWN', sentence: cut(sentence) }
}

const cut = (sentence: string): string =>
  sentence.length > maxSentence ? `${sentence.slice(0, maxSentence - 1)}…` : sentence
