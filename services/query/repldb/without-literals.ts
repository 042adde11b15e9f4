/** Texts in dollars and in quotes, comments, numbers: one expression, since what begins within another is no literal. */
const literal =
  /\$(?<tag>[A-Za-z_]\w*)?\$.*?(?:\$\k<tag>\$|$)|(?:\b[EBXN])?'(?:[^'\\]|''|\\.)*(?:'|$)|"(?:[^"]|"")*"|--[^\n]*|\/\*.*?(?:\*\/|$)|(?<![\w.$])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])/gis

/** A statement without the values and comments that it was sent with: they may be anything that people keep in a database. */
export const withoutLiterals = (statement: string): string =>
  statement.replaceAll(literal, (found) => (found.startsWith('"') ? found : '?'))
