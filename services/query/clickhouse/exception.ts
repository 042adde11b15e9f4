/** An exception as ClickHouse words it. */
export interface Exception {
  code: number
  name: string
  /** Its own sentence, cut to `maxSentence` characters, without the server's version. */
  sentence: string
}

const maxSentence = 500
const pattern = /Code:\s*(\d+)\.\s*DB::(?:\w+)?Exception:\s*([\s\S]*)/
/** What ClickHouse did not throw itself, as it words that: `Poco::Exception. Code: 1000, e.code() = 111, Connection refused (version …)`. */
const foreign = /(?:Poco::Exception|std::exception|Unknown exception)\. Code:\s*(\d+),\s*([\s\S]*)/
const foreignNames: Readonly<Record<string, string>> = {
  1000: 'POCO_EXCEPTION',
  1001: 'STD_EXCEPTION',
  1002: 'UNKNOWN_EXCEPTION',
}
/** The last of its kind: a sentence may quote words in parentheses too. */
const nameAtEnd = /^([\s\S]*)\(([A-Z][A-Z0-9_]{2,})\)/

/** Reads `Code: 60. DB::Exception: … (UNKNOWN_TABLE) (version …)`, wherever it stands in a text. */
export const parseException = (text: string): Exception | undefined => {
  const [, code, rest = ''] = pattern.exec(text) ?? foreign.exec(text) ?? []
  if (code === undefined) return undefined
  const [, named, name] = nameAtEnd.exec(rest) ?? []
  const end = rest.lastIndexOf('(version ')
  const sentence = (named ?? (end < 0 ? rest : rest.slice(0, end))).replace(/\s*__exception__[\s\S]*$/, '').trim()
  return {
    code: Number(code),
    name: name ?? foreignNames[code] ?? 'UNKNOWN',
    sentence: cut(sentence.replace(credentials, '://')),
  }
}

/** Who a table of other data signs in as, where a sentence quotes its address. */
const credentials = /:\/\/[^\s/]*@/g

const cut = (sentence: string): string =>
  sentence.length > maxSentence ? `${sentence.slice(0, maxSentence - 1)}…` : sentence
