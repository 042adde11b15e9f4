import { isWithinTolerance } from './figure-tolerance.ts'
import { type Figure, isPointDifference } from './figures.ts'
import { evaluateExpression, findExpression } from './stated-expressions.ts'
import type { FigureKind } from './units.ts'

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
    const values = [...evaluateStated(figure, claimed), ...combineFigures(figure, reading.kind, claimed)]
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

/** Returns the values of the stated expression, such as `120 / 480 = 25 %`, if all its operands follow from the results. */
const evaluateStated = (figure: Figure, { figures, traced }: ClaimFigures): number[] => {
  const operands = findExpression(figure, figures)
  // The writer may have computed with exact values of cells, or with the rounded figures in the text.
  const exact = evaluateExpression(operands, (operand) => traced.get(operand)?.value)
  const rounded = evaluateExpression(operands, (operand) =>
    traced.has(operand) ? operand.readings[0]?.value : undefined,
  )
  return operands.length === 0
    ? []
    : [exact, rounded].flatMap((value) => (value === undefined ? [] : toResults(value, figure, operands)))
}

/** Returns the results that a value can stand for: a ratio is also a percentage. */
const toResults = (value: number, { readings }: Figure, operands: readonly Figure[]): number[] => {
  const isPercent = readings[0]?.kind === 'percent'
  const isConverted = operands.some((operand) =>
    operand.readings.some(({ kind, value: own }) => kind === 'percent' || own === 100),
  )
  return isPercent ? [value * 100, ...(isConverted ? [value] : [])] : [value]
}

/** Returns whether the text states an expression with another result than the figure. */
export const hasWrongResult = (figure: Figure, { figures, traced }: Omit<ClaimFigures, 'claim'>): boolean => {
  const operands = findExpression(figure, figures)
  if (operands.length === 0) return false
  const written = evaluateExpression(operands, (operand) => operand.readings[0]?.value)
  const values = [written, evaluateExpression(operands, (operand) => traced.get(operand)?.value)]
  return !values
    .flatMap((value) => (value === undefined ? [] : toResults(value, figure, operands)))
    .some((value) => figure.readings.some((reading) => isWithinTolerance(figure, reading, { value })))
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
  if (kind === 'percent') return computePercentages(figure, place, { operands, claim, figures })
  if (kind === 'times' || (kind === 'plain' && ratioWords.test(claim)))
    return pairOrdered(operands).map(([one, two]) => {
      // After two values, `twice as many` may compare either with the other.
      const isAfter = one.place < place && two.place < place
      const directed = isAfter ? undefined : computeDirected(figure.tail, one.value, two.value)
      return directed ?? Math.max(one.value, two.value) / Math.min(one.value, two.value)
    })
  const same = operands.filter((operand) => operand.kind === kind).map(({ value }) => value)
  const sum = same.reduce((total, value) => total + value, 0)
  const samePairs = pairOperands(operands.filter((operand) => operand.kind === kind))
  const counts = operands.filter((operand) => operand.kind === 'plain')
  const phrase = `${figure.lead} ${figure.tail}`
  return [
    ...(sumWords.test(phrase) && same.length > 1 ? [sum, ...samePairs.map(([low, high]) => low + high)] : []),
    ...(differencePattern.test(phrase) ? samePairs.map(([low, high]) => high - low) : []),
    ...(averageWords.test(phrase) && same.length > 1 ? [sum / same.length] : []),
    ...(averageWords.test(phrase) ? same.flatMap((value) => counts.map((count) => value / count.value)) : []),
  ]
}

/** Returns percentages of neighbouring figures only, since any percentage would follow from enough pairs. */
const computePercentages = (
  figure: Figure,
  place: number,
  { operands, claim, figures }: { operands: readonly Operand[]; claim: string; figures: readonly Figure[] },
): number[] => {
  if (isPointDifference(figure)) {
    return pairOperands(operands.filter(({ kind }) => kind === 'percent')).map(([low, high]) => high - low)
  }
  const near = operands.filter((operand) => Math.abs(operand.place - place) <= 2)
  const pairs = pairOperands(near.filter(({ kind }) => kind !== 'percent'))
  if (statesChange(figure)) return pairs.flatMap((pair) => computeChanges(figure, pair))
  const phrase = `${figure.lead.split(/[,;]/).at(-1)} ${figure.tail}`
  const [isFree, isUsed] = [remainderWords.test(phrase), usedWords.test(phrase)]
  const shares = near
    .filter(({ kind }) => kind !== 'percent')
    .flatMap((part) =>
      near
        .filter((whole) => whole.kind === part.kind && whole.value > part.value)
        .map((whole) => {
          const isFreePart = remainderWords.test(figures[part.place]?.clause ?? '')
          const isSame = isFree === isFreePart || !(isFree || isUsed)
          return isSame ? part.value / whole.value : 1 - part.value / whole.value
        }),
    )
  const changes = differencePattern.test(claim) ? pairs.flatMap((pair) => computeChanges(figure, pair)) : []
  const rest = isFree || isUsed ? near.flatMap(({ kind, value }) => (kind === 'percent' ? [100 - value] : [])) : []
  return [...shares.map((share) => share * 100), ...changes, ...rest]
}

const usedWords = /\b(?:used|full|taken|occupied|in use|done)\b/i

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

const directedMore =
  /^\s*(?:as (?:many|much|large|big|high|long|often)|more|larger|bigger|higher|longer|slower)\b.*\b(?:as|than)\b|^\s*the\b.*\bof\b/i
const directedLess = /^\s*(?:less|fewer|smaller|lower|shorter|faster)\b.*\bthan\b/i

/** Returns the ratio of two values as the words after a figure direct it; undefined if they do not. */
export const computeDirected = (tail: string, one: number, two: number): number | undefined => {
  if (directedLess.test(tail)) return two / one
  return directedMore.test(tail) ? one / two : undefined
}

/** Returns all pairs of operands of the same kind, in the order of the text. */
const pairOrdered = (operands: readonly Operand[]): (readonly [Operand, Operand])[] =>
  operands.flatMap((one, index) =>
    operands
      .slice(index + 1)
      .filter(({ kind }) => kind === one.kind)
      .map((other) => [one, other] as const),
  )

/** Returns all pairs of operands of the same kind, the lower value first. */
const pairOperands = (operands: readonly Operand[]): (readonly [number, number])[] =>
  pairOrdered(operands).map(([one, two]) => [Math.min(one.value, two.value), Math.max(one.value, two.value)])
