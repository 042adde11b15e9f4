import { sliceText, convertToLowerCase, readCharCode, type Keyword, findKeyword } from './keywords.ts'
import { Rejection } from './rejection.ts'

/**
 * A token: `name` is a bare word, `quoted` a quoted identifier without its quotes, `literal` a string or number, and
 * `sign` an operator or punctuation character.
 */
export interface Token {
  kind: 'name' | 'quoted' | 'literal' | 'sign'
  text: string
  /** The keyword of a bare word, in upper case; else empty. */
  word: Keyword | ''
  position: number
}

/** Returns whether a token is the operator or punctuation character `text`. */
export const isPunctuation = (token: Token | undefined, text: string): boolean =>
  token?.kind === 'sign' && token.text === text

/**
 * Splits a statement into tokens exactly as the lexer of ClickHouse does, without comments and whitespace.
 * Throws a `Rejection` for text that the lexer of ClickHouse rejects or treats as the end of the statement.
 */
export const lex = (sql: string): Token[] => {
  const tokens: Token[] = []
  let position = 0
  while (position < sql.length) {
    // The first character classifies most tokens; the slow path handles the rest.
    const traits = traitsAt(sql, position)
    if (traits & isBlank) position++
    else if (traits & beginsWord) position = readWord(sql, position, tokens)
    else if (traits & isSingleCharacterToken) position = pushSign(sql, position, tokens)
    else position = readOther(sql, position, tokens)
  }
  return tokens
}

const isBlank = 1
const beginsWord = 2
const continuesWord = 4
/** Marks operators and punctuation characters that cannot begin a comment, number or quoted token. */
const isSingleCharacterToken = 8

const letters = 'abcdefghijklmnopqrstuvwxyz'
const groups: readonly (readonly [characters: string, traits: number])[] = [
  [' \n', isBlank],
  [`${letters}${letters.toUpperCase()}_`, beginsWord | continuesWord],
  ['0123456789$', continuesWord],
  ['()[]{},=<>*+%!:?|&^~@;', isSingleCharacterToken],
]

/** Traits of ASCII characters as bit masks, by character code. */
const traitsOf: number[] = Array.from({ length: 128 }, () => 0)
for (const [characters, traits] of groups) {
  for (const character of characters) traitsOf[character.charCodeAt(0)] = traits
}

const traitsAt = (sql: string, position: number): number => {
  const code = readCharCode(sql, position)
  return code < traitsOf.length ? (traitsOf[code] ?? 0) : 0
}

const readWord = (sql: string, start: number, tokens: Token[]): number => {
  const end = endOfWord(sql, start)
  if (end - start === 1 && sql[end] === "'" && codedString.has(convertToLowerCase(sliceText(sql, start, end))))
    return readCodedString(sql, start, tokens)
  const text = sliceText(sql, start, end)
  tokens.push({ kind: 'name', text, word: findKeyword(text), position: start })
  return end
}

/** Hexadecimal and binary string literals, which have no escapes: `x'41'`. */
const codedString: ReadonlyMap<string, RegExp> = new Map([
  ['x', /'[\da-fA-F]*'/y],
  ['b', /'[01]*'/y],
])

const readCodedString = (sql: string, start: number, tokens: Token[]): number => {
  const pattern = codedString.get(convertToLowerCase(sliceText(sql, start, start + 1)))
  const end = pattern ? endOf(pattern, sql, start + 1) : start + 1
  if (end === start + 1) throw new Rejection('unreadable', start, 'the hexadecimal or binary string is not closed')
  tokens.push({ kind: 'literal', text: sliceText(sql, start + 2, end - 1), word: '', position: start })
  return end
}

const endOfWord = (sql: string, start: number): number => {
  let end = start
  while (end < sql.length && traitsAt(sql, end) & continuesWord) end++
  return end
}

const pushSign = (sql: string, position: number, tokens: Token[]): number => {
  tokens.push({ kind: 'sign', text: sql[position] ?? '', word: '', position })
  return position + 1
}

/** Matches whitespace as ClickHouse defines it; JavaScript's `\s` lacks the zero-width characters. */
const space = /[\s\u0085\u00a0\u180e\u2000-\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]+/y
const lineComment = /(?:--|\/\/|#[ !])[^\n]*/y
const digits = String.raw`\d+(?:_\d+)*`
const hexDigits = String.raw`[\da-fA-F]+(?:_[\da-fA-F]+)*`
/**
 * Returns the pattern of an exponent. Its digits are optional except at the end of the text: in `1e--x`, the number is
 * `1e-`, so no comment follows.
 */
const exponent = (letter: string): string => `(?:${letter}(?=[^])(?:[+-](?=[^]))?(?:${digits})?)?`
export const numberPattern = new RegExp(
  String.raw`0[xX]${hexDigits}(?:\.(?:${hexDigits})?)?${exponent('[pP]')}|(?:0[bB](?=[01]))?${digits}(?:\.(?:${digits})?)?${exponent('[eE]')}`,
  'y',
)
const fraction = new RegExp(String.raw`\.${digits}${exponent('[eE]')}`, 'y')
const wholeNumber = new RegExp(digits, 'y')
const numberedWord = /\w+/y
const heredocTag = /\$\w*\$/y
const signs = new Set('+-*/%<>=!()[]{},.:?|&^~@;\u2212')

/** Returns the end of a match at `position`; `position` itself without a match. */
const endOf = (pattern: RegExp, sql: string, position: number): number => {
  pattern.lastIndex = position
  return pattern.test(sql) ? pattern.lastIndex : position
}

const readOther = (sql: string, start: number, tokens: Token[]): number => {
  const opening = sql[start] ?? ''
  const quote = quotes.get(opening)
  if (quote) return readQuoted(sql, start, quote, tokens)
  if (opening === '$') return readHeredoc(sql, start, tokens)
  if (opening === '.' || traitsAt(sql, start) & continuesWord) {
    const end = readNumber(sql, start, tokens)
    if (end > start) return end
  }
  const end = skipSpaceAndComments(sql, start)
  return end > start ? end : readSign(sql, start, tokens)
}

const skipSpaceAndComments = (sql: string, position: number): number => {
  if (sql.startsWith('/*', position)) return endOfBlockComment(sql, position)
  const end = endOf(lineComment, sql, position)
  return end > position ? end : endOf(space, sql, position)
}

const commentMarks = /\/\*|\*\//g

/** Returns the end of a block comment. Block comments can be nested. */
const endOfBlockComment = (sql: string, start: number): number => {
  commentMarks.lastIndex = start
  for (let depth = 0; commentMarks.test(sql);) {
    const opens = sql[commentMarks.lastIndex - 1] === '*'
    depth += opens ? 1 : -1
    if (depth === 0) return commentMarks.lastIndex
  }
  throw new Rejection('unreadable', start, 'the comment is not closed')
}

interface Quote {
  close: string
  kind: 'quoted' | 'literal'
  escapes: boolean
}

/** Quotes by opening character. Curly quotes have no escapes. */
const quotes: ReadonlyMap<string, Quote> = new Map([
  ["'", { close: "'", kind: 'literal', escapes: true }],
  ['"', { close: '"', kind: 'quoted', escapes: true }],
  ['`', { close: '`', kind: 'quoted', escapes: true }],
  ['\u2018', { close: '\u2019', kind: 'literal', escapes: false }],
  ['\u201c', { close: '\u201d', kind: 'quoted', escapes: false }],
])

const readQuoted = (sql: string, start: number, { close, kind, escapes }: Quote, tokens: Token[]): number => {
  for (let end = start + 1; end < sql.length; end++) {
    const character = sql[end]
    if (character === '\\' && escapes) end++
    else if (character === close) {
      if (!escapes || sql[end + 1] !== close) {
        tokens.push({ kind, text: sliceText(sql, start + 1, end), word: '', position: start })
        return end + 1
      }
      end++
    }
  }
  throw new Rejection('unreadable', start, `the quote ${sql.charAt(start)} is not closed`)
}

const readHeredoc = (sql: string, start: number, tokens: Token[]): number => {
  const textStart = endOf(heredocTag, sql, start)
  const tag = sliceText(sql, start, textStart)
  const close = tag === '' ? -1 : sql.indexOf(tag, textStart)
  if (close < 0) throw new Rejection('unreadable', start, 'the heredoc is not closed')
  tokens.push({ kind: 'literal', text: sliceText(sql, textStart, close), word: '', position: start })
  return close + tag.length
}

/**
 * Reads a number and returns its end. Only a whole number may follow a dot, as in `tuple.1.2`. Digits followed by
 * letters are read as a name.
 */
const readNumber = (sql: string, start: number, tokens: Token[]): number => {
  const previous = tokens.at(-1)
  if (sql[start] === '.') {
    const end = previous && isQualified(previous, sql) ? start : endOf(fraction, sql, start)
    return end > start ? pushNumber('literal', sql, start, end, tokens) : start
  }
  const end = endOf(isPunctuation(previous, '.') ? wholeNumber : numberPattern, sql, start)
  if (endOf(numberedWord, sql, end) === end) return pushNumber('literal', sql, start, end, tokens)
  const endOfName = endOf(numberedWord, sql, start)
  if (endOfName < end) throw new Rejection('unreadable', start, 'letters follow the number')
  return pushNumber('name', sql, start, endOfName, tokens)
}

const pushNumber = (kind: Token['kind'], sql: string, start: number, end: number, tokens: Token[]): number => {
  tokens.push({ kind, text: sliceText(sql, start, end), word: '', position: start })
  return end
}

/** Returns whether a dot after the token qualifies it, as in `x.1`; otherwise the dot begins a number. */
const isQualified = ({ kind, text, position }: Token, sql: string): boolean => {
  if (kind === 'sign') return text === ')' || text === ']'
  return kind !== 'literal' || /[\d.]/.test(sql.charAt(position))
}

const readSign = (sql: string, start: number, tokens: Token[]): number => {
  const text = sql[start] ?? ''
  if (signs.has(text)) return pushSign(sql, start, tokens)
  if (text === '\\')
    throw new Rejection('several-statements', start, 'a backslash ends a statement; send one statement')
  throw new Rejection('unreadable', start, 'the character is only allowed inside quotes')
}
