import { Rejection } from './rejection.ts'

/** `name` is a bare word, `quoted` an identifier in quotes (its text without them), `literal` a string or number. */
export interface Token {
  kind: 'name' | 'quoted' | 'literal' | 'sign'
  text: string
  /** A bare word in upper case, as keywords are compared; empty for all else. */
  word: string
  position: number
}

/**
 * Cuts a statement into tokens exactly as ClickHouse's own lexer does, comments and space left out.
 * Throws a `Rejection` for whatever that lexer would not read, or would read as the end of the statement.
 */
export const lex = (sql: string): Token[] => {
  const tokens: Token[] = []
  let position = 0
  while (position < sql.length) {
    // Most of a statement is words with a space between; nothing else begins like them.
    const code = sql.charCodeAt(position)
    if (code === blank || code === newline) {
      position++
      continue
    }
    if (beginsWord(code)) {
      const end = endOfWord(sql, position)
      const text = sql.slice(position, end)
      tokens.push({ kind: 'name', text, word: text.toUpperCase(), position })
      position = end
      continue
    }
    if (plainSigns.has(code)) {
      tokens.push({ kind: 'sign', text: sql.charAt(position), word: '', position })
      position++
      continue
    }
    const skipped = skipSpaceAndComments(sql, position)
    if (skipped > position) {
      position = skipped
      continue
    }
    const token = readQuoted(sql, position) ?? readNumber(sql, position, tokens.at(-1)) ?? readSign(sql, position)
    tokens.push(token.token)
    position = token.end
  }
  return tokens
}

const blank = 0x20
const newline = 0x0a
const underscore = 0x5f
const dollar = 0x24

/** Signs with which no comment, number or quote begins. */
const plainSigns: ReadonlySet<number> = new Set([...'()[]{},=<>*+%!:?|&^~@;'].map((sign) => sign.charCodeAt(0)))

const isLetter = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39
const beginsWord = (code: number): boolean => isLetter(code) || code === underscore

const endOfWord = (sql: string, start: number): number => {
  let end = start + 1
  for (; end < sql.length; end++) {
    const code = sql.charCodeAt(end)
    if (!beginsWord(code) && !isDigit(code) && code !== dollar) break
  }
  return end
}

interface Lexed {
  token: Token
  end: number
}

/** What ClickHouse takes for space; JavaScript's `\s` lacks the zero-width ones. */
const space = /[\s\u00a0\u180e\u2000-\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]+/y
const lineComment = /(?:--|\/\/|#[ !])[^\n]*/y
const number =
  /0[xX][\da-fA-F_]*(?:\.[\da-fA-F]*)?(?:[pP][+-]?\d+)?|0b[01_]+|(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y
const wholeNumber = /\d+/y
const wordCharacters = /[\w$]*/y
const heredocTag = /\$\w*\$/y
const signs = new Set('+-*/%<>=!()[]{},.:?|&^~@;\u2212')

const match = (pattern: RegExp, sql: string, position: number): string | undefined => {
  pattern.lastIndex = position
  return pattern.exec(sql)?.[0]
}

const skipSpaceAndComments = (sql: string, position: number): number => {
  const skipped = match(space, sql, position) ?? match(lineComment, sql, position)
  if (skipped !== undefined) return position + skipped.length
  return sql.startsWith('/*', position) ? skipBlockComment(sql, position) : position
}

/** Block comments nest. */
const skipBlockComment = (sql: string, start: number): number => {
  const marks = /\/\*|\*\//g
  marks.lastIndex = start
  for (let depth = 0, mark = marks.exec(sql); mark; mark = marks.exec(sql)) {
    depth += mark[0] === '/*' ? 1 : -1
    if (depth === 0) return marks.lastIndex
  }
  throw new Rejection('unreadable', start, 'a comment is not closed')
}

/** Opening character → closing character and kind. Curly quotes know no escapes. */
const quotes: Readonly<Record<string, { close: string; kind: 'quoted' | 'literal'; escapes: boolean }>> = {
  "'": { close: "'", kind: 'literal', escapes: true },
  '"': { close: '"', kind: 'quoted', escapes: true },
  '`': { close: '`', kind: 'quoted', escapes: true },
  '\u2018': { close: '\u2019', kind: 'literal', escapes: false },
  '\u201c': { close: '\u201d', kind: 'quoted', escapes: false },
}

const readQuoted = (sql: string, start: number): Lexed | undefined => {
  const opening = sql.charAt(start)
  if (opening === '$') return readHeredoc(sql, start)
  const quote = quotes[opening]
  if (!quote) return undefined
  for (let end = start + 1; end < sql.length; end++) {
    const character = sql[end]
    if (character === '\\' && quote.escapes) end++
    else if (character === quote.close) {
      if (!quote.escapes || sql[end + 1] !== quote.close) {
        return { token: { kind: quote.kind, text: sql.slice(start + 1, end), word: '', position: start }, end: end + 1 }
      }
      end++
    }
  }
  throw new Rejection('unreadable', start, `a quote (${opening}) is not closed`)
}

const readHeredoc = (sql: string, start: number): Lexed => {
  const tag = match(heredocTag, sql, start)
  const close = tag === undefined ? -1 : sql.indexOf(tag, start + tag.length)
  if (tag === undefined || close < 0) throw new Rejection('unreadable', start, 'a $ that opens no closed heredoc')
  return {
    token: { kind: 'literal', text: sql.slice(start + tag.length, close), word: '', position: start },
    end: close + tag.length,
  }
}

/** After a dot only a whole number may follow, as in `tuple.1.2`. Digits run together with letters are a name. */
const readNumber = (sql: string, start: number, previous: Token | undefined): Lexed | undefined => {
  const afterDot = previous?.text === '.' && previous.kind === 'sign'
  if (sql[start] === '.' && previous && endsOperand(previous)) return undefined
  const digits = match(afterDot ? wholeNumber : number, sql, start)
  if (digits === undefined) return undefined
  const end = start + digits.length
  if (match(wordCharacters, sql, end) === '')
    return { token: { kind: 'literal', text: digits, word: '', position: start }, end }
  const word = match(wordCharacters, sql, start)
  if (!word) throw new Rejection('unreadable', start, 'a number that runs into a word')
  return { token: { kind: 'name', text: word, word: word.toUpperCase(), position: start }, end: start + word.length }
}

const endsOperand = ({ kind, text }: Token): boolean => kind !== 'sign' || text === ')' || text === ']' || text === '}'

const readSign = (sql: string, start: number): Lexed => {
  const text = sql.charAt(start)
  if (signs.has(text)) return { token: { kind: 'sign', text, word: '', position: start }, end: start + 1 }
  if (text === '\\')
    throw new Rejection('several-statements', start, 'a backslash ends a statement; send one statement')
  throw new Rejection('unreadable', start, 'a character that may stand only inside quotes')
}
