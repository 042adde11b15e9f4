/** Matches the pieces into which tokenizers of current models split a text before they join letters to tokens. */
const pieces = /\d{1,3}| ?(?:[A-Z]?[a-z]+|[A-Z]+)|[ \t]+|[\r\n]+|[!-/:-@[-`{-~]+|[^\x20-\x7E]/g

/** Letters per token in words of a language, and in random letters. */
const lettersPerToken = { word: 4, random: 1.7 }
const signsPerToken = 1.5
const spacesPerToken = 8
/** Matches letters that are no word of a language: no vowel, or many consonants in a row. */
const randomLetters = /^[^aeiouy]+$|[^aeiouy]{4}/i

/**
 * Estimates the tokens of a text for current models, without their vocabulary of several megabytes. The estimate is too
 * high for most texts, and at most a fifth too low for random ones.
 */
export const estimateTokens = (text: string): number => {
  let tokens = 0
  for (const [piece] of text.matchAll(pieces)) tokens += tokensOf(piece)
  return Math.ceil(tokens)
}

const tokensOf = (piece: string): number => {
  const letters = piece.trim()
  const code = letters.charCodeAt(0)
  if (Number.isNaN(code)) return piece.length / spacesPerToken < 1 ? 1 : piece.length / spacesPerToken
  if (/^[A-Za-z]/.test(letters)) {
    const perToken = randomLetters.test(letters) ? lettersPerToken.random : lettersPerToken.word
    return Math.ceil(letters.length / perToken)
  }
  if (code > lastAscii) return tokensOfCharacter(code)
  return /^\d/.test(letters) ? 1 : Math.ceil(letters.length / signsPerToken)
}

const lastAscii = 0x7e
const firstAfterAlphabets = 0x800
/** Common Chinese characters; rarer ones have a token per byte. */
const common = { first: 0x4e00, last: 0x9fff }
const surrogates = { first: 0xd800, last: 0xdfff }

/** Returns the tokens of a UTF-16 code unit beyond ASCII. */
const tokensOfCharacter = (code: number): number => {
  if (code < firstAfterAlphabets) return 1
  if (code >= common.first && code <= common.last) return 1.5
  return code >= surrogates.first && code <= surrogates.last ? 2 : 3
}
