import { cut } from '#shared/cut.ts'

/** An exception as ClickHouse words it. */
export interface Exception {
  code: number
  name: string
  /** Its own sentence, cut to `maxSentence` characters, without the server's version. */
  sentence: string
}

const maxSentence = 500
/** What Keeper's client threw is called `Coordination::Exception`. */
const pattern = /Code:\s*(\d+)\.\s*(?:DB|Coordination)::(?:\w+)?Exception:\s*([\s\S]*)/
/** What ClickHouse did not throw itself, as it words that: `Poco::Exception. Code: 1000, e.code() = 111, Connection refused (version …)`. */
const foreign = /(?:Poco::Exception|std::exception|Unknown exception)\. Code:\s*(\d+),\s*([\s\S]*)/
const foreignNames: Readonly<Record<string, string>> = {
  1000: 'POCO_EXCEPTION',
  1001: 'STD_EXCEPTION',
  1002: 'UNKNOWN_EXCEPTION',
}
/** The last of its kind: a sentence may quote words in parentheses too. */
const nameAtEnd = /^([\s\S]*)\(([A-Z][A-Z0-9_]{2,})\)/

/** Servers before 26 put the exception of an answer in JSON into it, as its member `exception`. */
const inJson = /"exception":\s*("(?:[^"\\]|\\.)*")/

/** Reads `Code: 60. DB::Exception: … (UNKNOWN_TABLE) (version …)`, wherever it stands in a text. */
export const parseException = (text: string): Exception | undefined => {
  const told = asText(text)
  const [, code, rest = ''] = pattern.exec(told) ?? foreign.exec(told) ?? []
  if (code === undefined) return undefined
  const [, named, name] = nameAtEnd.exec(rest) ?? []
  const end = rest.lastIndexOf('(version ')
  const sentence = (named ?? (end < 0 ? rest : rest.slice(0, end))).replace(/\s*__exception__[\s\S]*$/, '').trim()
  return {
    code: Number(code),
    name: name ?? foreignNames[code] ?? 'UNKNOWN',
    sentence: cut(sentence.replace(credentials, '://'), maxSentence),
  }
}

const asText = (text: string): string => {
  const [, quoted] = inJson.exec(text) ?? []
  try {
    // A text in quotes can only become a text.
    return quoted === undefined ? text : (JSON.parse(quoted) as string)
  } catch {
    return text
  }
}

/** Who a table of other data signs in as, where a sentence quotes its address. */
const credentials = /:\/\/[^\s/]*@/g
