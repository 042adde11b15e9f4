import type { Figure } from './figures.ts'

/** Returns the value of an operand; undefined if it does not follow from the results. */
type ReadOperand = (operand: Figure) => number | undefined

const operatorGap = /^[\s()~≈]*[-+−–*/×÷·][\s()~≈]*$/
const equalsGap = /^[\s()]*[=≈][\s(~≈]*$/
const introductionGap = /^[^,;.+*/×÷]*[(:=]\s*\(*\s*$/

/** Returns the figures of the expression whose result a figure is: `120 / 480 = 25 %`, or `25 %: 120 / (120 + 360)`. */
export const findExpression = (figure: Figure, figures: readonly Figure[]): readonly Figure[] => {
  const place = figures.indexOf(figure)
  const isJoined = (index: number) => operatorGap.test(figures[index]?.gap ?? '')
  if (equalsGap.test(figures[place - 1]?.gap ?? '')) {
    const first = figures.slice(0, place - 1).findLastIndex((_figure, index) => !isJoined(index)) + 1
    return first < place - 1 ? figures.slice(first, place) : []
  }
  const length = figures.slice(place + 1).findIndex((_figure, index) => !isJoined(place + 1 + index)) + 1
  return introductionGap.test(figure.gap) && length > 1 ? figures.slice(place + 1, place + 1 + length) : []
}

/** Evaluates an expression with its parentheses; undefined if an operand is unknown or the parentheses do not match. */
export const evaluateExpression = (operands: readonly Figure[], read: ReadOperand): number | undefined => {
  const values = operands.map(read)
  if (values.some((value) => value === undefined)) return undefined
  const tokens = operands.flatMap(({ lead, gap }, index) => [
    ...(index === 0 ? (/\(*\s*$/.exec(lead)?.[0].match(/\(/g) ?? []) : []),
    String(values[index]),
    ...(index < operands.length - 1
      ? (gap.match(/[-+−–*/×÷·()]/g) ?? [])
      : (/^\s*\)*/.exec(gap)?.[0].match(/\)/g) ?? [])),
  ])
  // A parenthesis around the whole expression may begin before its result.
  const parse = createParser(balance(tokens))
  const value = parse()
  return Number.isFinite(value) ? value : undefined
}

const balance = (tokens: readonly string[]): string[] => {
  const count = (token: string) => tokens.filter((each) => each === token).length
  const extra = count('(') - count(')')
  const opened =
    extra > 0
      ? tokens.slice(
          Math.min(
            extra,
            tokens.findIndex((token) => token !== '('),
          ),
        )
      : [...tokens]
  return extra < 0 ? opened.slice(0, extra) : opened
}

const createParser = (tokens: string[]): (() => number) => {
  const parseProduct = (): number => {
    let value = parseOperand()
    while (/^[*×·/÷]$/.test(tokens[0] ?? '')) {
      const isDivision = /[/÷]/.test(tokens.shift() ?? '')
      const other = parseOperand()
      value = isDivision ? value / other : value * other
    }
    return value
  }
  const parseSum = (): number => {
    let value = parseProduct()
    while (/^[-+−–]$/.test(tokens[0] ?? '')) value += (tokens.shift() === '+' ? 1 : -1) * parseProduct()
    return value
  }
  const parseOperand = (): number => {
    const token = tokens.shift()
    if (token !== '(') return Number(token)
    const value = parseSum()
    tokens.shift()
    return value
  }
  return parseSum
}
