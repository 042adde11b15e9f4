import { isWithinTolerance } from './figure-tolerance.ts'
import { type Figure, type FigureKind } from './figures.ts'

/** A figure that follows from the cited results, with the value from which it was rounded. */
export interface TracedFigure {
  kind: FigureKind
  value: number
}

interface ClaimFigures {
  claim: string
  figures: readonly Figure[]
  traced: ReadonlyMap<Figure, TracedFigure>
}

/** Pattern for words that express a difference. */
export const differencePattern =
  /\b(?:more|less|fewer|difference|gap|left|remaining|free|grew|grown|growth|increased?|decreased?|higher|lower|larger|smaller|longer|shorter|faster|slower|drop(?:ped)?|rise|rose|up|down|above|below|over|exceeds?)\b/i

const sumWords = /\b(?:total(?:ling)?|sum|together|combined|altogether|overall|in all)\b/i
const remainderWords = /\b(?:left|remaining|remains?|rest|free|others?|available|without)\b/i
const averageWords = /\b(?:average|mean|avg|per|each|every)\b/i
const ratioWords = /\b(?:ratio|factor)\b/i

/** Computes a figure from other figures of the claim that were traced to results; undefined if this fails. */
export const computeFromFigures = (figure: Figure, claimed: ClaimFigures): TracedFigure | undefined => {
  if (isConstant(figure, claimed)) return { kind: 'plain', value: figure.readings[0]?.value ?? 0 }
  for (const reading of figure.readings) {
    const values = [...evaluateExpression(figure, claimed), ...combineFigures(figure, reading.kind, claimed)]
    const value = values.find((each) => Number.isFinite(each) && isWithinTolerance(figure, reading, { value: each }))
    if (value !== undefined) return { kind: reading.kind, value }
  }
  return undefined
}

/** Numbers that convert units in a stated computation. */
const constants: ReadonlySet<number> = new Set([
  2,
  24,
  60,
  100,
  1000,
  1024,
  3600,
  86_400,
  1e6,
  1e9,
  1024 ** 2,
  1024 ** 3,
])
const operator = /^[\s()~≈]*([-+−–*/×÷·])[\s()~≈]*$/
const equals = /^[\s()]*[=≈][\s(~≈]*$/

/** Returns whether a number converts the unit of a stated computation, such as 100 in `120 / 480 × 100 = 25 %`. */
const isConstant = (figure: Figure, { figures }: ClaimFigures): boolean => {
  const before = figures[figures.indexOf(figure) - 1]
  const isOperand = before !== undefined && /[*/×÷·]/.test(operator.exec(before.gap)?.[1] ?? '')
  const [reading] = figure.readings
  return isOperand && reading?.kind === 'plain' && constants.has(reading.value) && endsInResult(figure, figures)
}

const endsInResult = (figure: Figure, figures: readonly Figure[]): boolean => {
  const rest = figures.slice(figures.indexOf(figure))
  const end = rest.findIndex(({ gap }) => !operator.test(gap))
  return end >= 0 && equals.test(rest[end]?.gap ?? '')
}

/** Evaluates the expression before a figure, such as `120 / 480 = 25 %`, if all its operands follow from the results. */
const evaluateExpression = (figure: Figure, { figures, traced }: ClaimFigures): number[] => {
  const end = figures.indexOf(figure) - 1
  if (end < 0 || !equals.test(figures[end]?.gap ?? '')) return []
  let begin = end
  while (begin > 0 && operator.test(figures[begin - 1]?.gap ?? '')) begin -= 1
  const operands = figures.slice(begin, end + 1)
  if (operands.length < 2) return []
  const operators = operands.slice(0, -1).map(({ gap }) => operator.exec(gap)?.[1] ?? '')
  // The writer may have computed with exact values of cells, or with the rounded figures in the text.
  const variants = [
    operands.map((operand) => traced.get(operand)?.value),
    operands.map((operand) => (traced.has(operand) ? operand.readings[0]?.value : undefined)),
  ]
  return variants.flatMap((values) => {
    const known = values.filter((value) => value !== undefined)
    if (known.length < values.length) return []
    const value = evaluate(known, operators)
    return [value, value * 100]
  })
}

const evaluate = ([first = 0, ...others]: readonly number[], operators: readonly string[]): number => {
  let sum = 0
  let product = first
  for (const [index, value] of others.entries()) {
    const sign = operators[index] ?? ''
    if ('*×·'.includes(sign)) product *= value
    else if ('/÷'.includes(sign)) product /= value
    else [sum, product] = [sum + product, sign === '+' ? value : -value]
  }
  return sum + product
}

/** A figure of the claim as an operand. */
interface Operand extends TracedFigure {
  place: number
}

const maxOperands = 16

/** Returns the sums, differences, averages and ratios that the words of the claim may state. */
const combineFigures = (figure: Figure, kind: FigureKind, { claim, figures, traced }: ClaimFigures): number[] => {
  const place = figures.indexOf(figure)
  const operands = figures
    .flatMap((other, index): Operand[] => {
      const found = traced.get(other)
      return found ? [{ ...found, place: index }] : []
    })
    .slice(0, maxOperands)
  if (kind === 'percent') return computePercentages(figure, place, { operands, claim })
  const pairs = pairOperands(operands)
  if (kind === 'times' || (kind === 'plain' && ratioWords.test(claim))) return pairs.map(([low, high]) => high / low)
  const same = operands.filter((operand) => operand.kind === kind).map(({ value }) => value)
  const sum = same.reduce((total, value) => total + value, 0)
  const samePairs = pairOperands(operands.filter((operand) => operand.kind === kind))
  const counts = operands.filter((operand) => operand.kind === 'plain')
  return [
    ...(sumWords.test(claim) && same.length > 1 ? [sum, ...samePairs.map(([low, high]) => low + high)] : []),
    ...(differencePattern.test(claim) ? samePairs.map(([low, high]) => high - low) : []),
    ...(averageWords.test(claim) && same.length > 1 ? [sum / same.length] : []),
    ...(averageWords.test(claim) ? same.flatMap((value) => counts.map((count) => value / count.value)) : []),
  ]
}

/** Returns percentages of neighbouring figures only, since any percentage would follow from enough pairs. */
const computePercentages = (
  figure: Figure,
  place: number,
  { operands, claim }: { operands: readonly Operand[]; claim: string },
): number[] => {
  if (isPointDifference(figure)) {
    return pairOperands(operands.filter(({ kind }) => kind === 'percent')).map(([low, high]) => high - low)
  }
  const near = operands.filter((operand) => Math.abs(operand.place - place) <= 2)
  const pairs = pairOperands(near.filter(({ kind }) => kind !== 'percent'))
  if (statesChange(figure)) return pairs.flatMap((pair) => computeChanges(figure, pair))
  const shares = pairs.flatMap(([low, high]) => [
    low / high,
    ...(remainderWords.test(claim) ? [(high - low) / high] : []),
  ])
  const changes = differencePattern.test(claim) ? pairs.flatMap((pair) => computeChanges(figure, pair)) : []
  const rest = remainderWords.test(claim)
    ? near.flatMap(({ kind, value }) => (kind === 'percent' ? [100 - value] : []))
    : []
  return [...shares.map((share) => share * 100), ...changes, ...rest]
}

/** Returns whether a figure is a difference of percentages, such as `1.5 percentage points`. */
export const isPointDifference = ({ text }: Pick<Figure, 'text'>): boolean => /(?:\bpp|points?)$/i.test(text)

const moreWords = /\b(?:more|increas\w*|rose|ris\w+|gr[eo]w\w*|higher|larger|bigger|longer|slower)\b/i
const lessWords =
  /\b(?:less|fewer|decreas\w*|dropp?\w*|fell|fall\w*|shr[aiu]nk\w*|reduc\w+|lower|smaller|shorter|faster)\b/i
const changeBefore =
  /\b(?:increased|increase of|rose|rise of|grew|growth of|decreased|decrease of|dropped|drop of|fell|shrank|by)\s*$/i

/** Returns whether a percentage is a change, such as `increased by 50 %`, and not a share. */
const statesChange = (figure: Figure): boolean =>
  figure.isDifference ||
  changeBefore.test(figure.lead) ||
  /^\s*(?:more|less|fewer|higher|lower|larger|smaller|longer|shorter|increase|decrease|growth|drop|rise|reduction)\b/i.test(
    figure.tail,
  )

/** Returns the change between two values in percent of the value that the words around the figure compare with. */
export const computeChanges = ({ lead, tail }: Figure, [one, two]: readonly [number, number]): number[] => {
  const [low, high] = [Math.min(one, two), Math.max(one, two)]
  const [isMore, isLess] = [moreWords, lessWords].map((pattern) => pattern.test(`${lead} ${tail}`))
  const bases = isMore === isLess ? [low, high] : [isMore ? low : high]
  return bases.filter((base) => base > 0).map((base) => (100 * (high - low)) / base)
}

/** Returns all pairs of operands of the same kind, the lower value first. */
const pairOperands = (operands: readonly Operand[]): (readonly [number, number])[] =>
  operands.flatMap((one, index) =>
    operands
      .slice(index + 1)
      .filter(({ kind }) => kind === one.kind)
      .map(({ value }) => [Math.min(one.value, value), Math.max(one.value, value)] as const),
  )
