import { blank, blankExempt } from './exempt-texts.ts'
import { type FigureBound, findBound } from './figure-bounds.ts'
import { type ReplacedText, replaceNumberWords } from './number-words.ts'
import { type FigureKind, findUnits, plain, unitNames } from './units.ts'

/** One way to read a figure. `GB`, for example, can stand for 10⁹ or 2³⁰ bytes. */
export interface FigureReading {
  kind: FigureKind
  /** The value of one written unit, in bytes or seconds; 1 for other kinds. */
  scale: number
  value: number
  /** Half the place value of the last written digit, because the text may be rounded. */
  tolerance: number
}

/** A number in a text, with its unit and its context. */
export interface Figure {
  /** The figure as it is written, with its unit. */
  text: string
  start: number
  end: number
  readings: readonly FigureReading[]
  bound: FigureBound
  /** The text up to the next figure. */
  gap: string
  /** The words around the figure, without those around other figures. */
  clause: string
  /** The words that name what the figure counts: those after it, or the label before a colon. */
  nouns: readonly string[]
  /** Whether the figure is part of a condition or a window, such as `the last 24 hours` or `more than 300 parts`. */
  isCondition: boolean
  /** Whether the figure is a total, such as the second one of `5 of 12 parts`. */
  followsOf: boolean
  /** The text since the previous figure, and the text after the figure in its clause. Both include code. */
  lead: string
  tail: string
  /** The text up to the next figure, including code. */
  following: string
  /** Whether the bound must hold for all rows, as in `every table has more than 5 parts` or `between 3 and 5`. */
  isUniversal: boolean
  /** Whether the figure is a difference, such as `5 more parts than` or `rose by 5`. */
  isDifference: boolean
  /** Whether the figure is a common number word, such as `two` or `no`. */
  isCommonWord: boolean
  /** Whether the figure is a part of the total after it, such as the first one of `5 of 12 parts`. */
  isPart?: boolean
  /** The figure before this one, if this one restates it, or is its share or its total. */
  relatesTo?: Figure | undefined
  /** The figure before this one in the same sentence, whose nouns this one may leave out. */
  elides?: Figure | undefined
}

/** Digits with thousands separators, decimals or an exponent. */
const digits = String.raw`\d{1,3}(?:[,_'’\u00A0\u2009\u202F ]\d{3})+(?!\d)(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}(?![\d.])|\d+,\d{1,2}(?![\d,])|\d+(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+`
const figurePattern = new RegExp(
  String.raw`(?<![\p{L}\p{N}_]|\p{L}[-./]|[#@\\]|\d[.])((?<![\p{L}\p{N}%)\]])(?<![\p{N}%)\]]\s)[-−])?(${digits})(?:[\s-]?(${unitNames})(?![\p{L}\p{N}_]))?([\p{L}_][\p{L}\p{N}_]*)?`,
  'giu',
)

/** Extracts the figures of a text, in order. Dates, times, versions, identifiers and list numbers are not figures. */
export const extractFigures = (text: string): Figure[] =>
  extractAllFigures(text).filter(({ isCommonWord }) => !isCommonWord)

/** Extracts the figures of a text and its common number words, such as `two`. The names, such as 202611, are no figures. */
export const extractAllFigures = (text: string, names: readonly string[] = []): Figure[] => {
  const { text: spaced, replacements } = replaceNumberWords(separateCompoundDurations(text))
  const bare = blankNames(blankExempt(spaced), names)
  const found = [...bare.matchAll(figurePattern)].flatMap((match) => toFigure(match, bare) ?? [])
  const merged = mergeDurations(shareUnits(found, bare), bare)
  const named: Figure[] = []
  for (const [index, figure] of merged.entries()) {
    const end = merged[index + 1]?.start
    const begin = merged[index - 1]?.end ?? 0
    const gap = bare.slice(figure.end, end)
    const before = bare.slice(begin, figure.start)
    const clause = `${before.split(clauseBoundary).at(-1)} ${gap.split(clauseBoundary)[0]}`
    const after = spaced.slice(figure.end, end)
    const [start = ''] = /^\s*with\s/.exec(after) ?? []
    const tail =
      /^\s*(\([^()]*\))/.exec(after)?.[1] ?? start + (after.slice(start.length).split(clauseBoundary)[0] ?? '')
    const isRatio = /^:1(?![:.]?\d)/.test(after)
    const followsOf = index > 0 && isTotal(figure, before)
    const part = followsOf ? named.pop() : undefined
    if (part) named.push({ ...part, isPart: true, clause: `${part.clause} ${tail}` })
    const restated = figure.nouns.length === 0 && restates.test(before) ? named.at(-1) : undefined
    const previous = named.at(-1)
    const isSameKind = previous?.readings[0]?.kind === 'plain' && figure.readings[0]?.kind === 'plain'
    const elides = isSameKind && !/[|;\n.(+*/×÷=]/.test(before.replaceAll(/\([^()]*\)/g, '')) ? previous : undefined
    named.push({
      ...figure,
      elides,
      ...(isRatio && { readings: figure.readings.map((reading) => ({ ...reading, kind: 'times' as const })) }),
      ...findWords(figure, replacements),
      ...(restated && { nouns: restated.nouns }),
      relatesTo: restated ?? part,
      gap,
      clause: restated?.readings[0]?.kind === figure.readings[0]?.kind ? `${restated?.clause ?? ''} ${clause}` : clause,
      tail,
      following: after,
      followsOf,
      lead: spaced.slice(begin, figure.start),
    })
  }
  return named
}

/** The text between a figure and the same value in another unit, or its share, as in `48 failures (2 %)`. */
const restates = /(?:\(|\bi\.e\.,?|\bthat is,?|\bor)\s*[~≈]?$/

/** Blanks numbers that are names, such as 202611 and the version 25.8. A number with a unit is none. */
const blankNames = (text: string, names: readonly string[]): string =>
  names.reduce((rest, name) => {
    const digitsOnly = name.replaceAll('.', String.raw`\.`)
    return rest.replaceAll(
      new RegExp(String.raw`(?<![\d.])${digitsOnly}(?!\.?\d)(?!\s?(?:${unitNames})\b)`, 'gi'),
      blank,
    )
  }, text)

/** Returns whether a figure is a total. `10 inserts of 5 rows` has none, because the nouns differ. */
const isTotal = ({ readings, nouns }: Figure, before: string): boolean => {
  const found = afterOf.exec(before)
  const word = found?.[1]?.trim().split(/\s+/).at(-1) ?? ''
  const isSame = word === '' || word === 'out' || nouns.length === 0 || nouns.includes(word)
  return found !== null && (isSame || readings[0]?.kind !== 'plain')
}

/** The words between a part and its total: `of`, as in `5 GiB free of 12 GiB`, or a slash. */
const afterOf = /^\W*((?:[\p{L}_]+\s+){0,2})(?:of|\/)\s*(?:(?:the|all|its|their|about|an? total of)\s+)?\W*$/iu

/** Returns the number words of a figure as they were written. */
const findWords = ({ text, start, readings }: Figure, replacements: ReplacedText['replacements']): Partial<Figure> => {
  const found = replacements.get(start)
  if (!found) return { text, isCommonWord: false }
  const rest = text.slice(found.end - start)
  return {
    text: found.written + rest,
    ...(/\band\sa\shalf$/i.test(found.written) && {
      readings: readings.map((reading) => ({ ...reading, tolerance: reading.scale / 4 })),
    }),
    isCommonWord:
      found.isCommon && readings.some(({ kind, scale }) => kind === 'seconds' || (kind === 'plain' && scale === 1)),
  }
}

const boundaries = String.raw`[,;()|\n]|:(?!\d)|[.!?]\s|(?<!\bbetween\s[^,;]{0,32})\band\b|\b(?:but|while)\b`
/** The end of the words that can be about a figure. */
export const clauseEnd = new RegExp(boundaries)
/** The boundary between figures that have own columns, as in `300 parts with 5 GiB`. */
const clauseBoundary = new RegExp(String.raw`${boundaries}|\bwith\b`)

/** Separates durations such as `1h20m`, and writes `1:20 h` as `1 h 20 min`. */
const separateCompoundDurations = (text: string): string =>
  text
    .replaceAll(/(?<=(?<![\p{L}\p{N}])\d+(?:h|d|m|min))(?=\d)/gu, ' ')
    .replaceAll(/(?<![\d:])(\d+):([0-5]\d)\s?h\b/g, '$1 h $2 min')

const toFigure = (match: RegExpExecArray, bare: string): Figure | undefined => {
  const [whole, sign = '', number = '', unit, rest = ''] = match
  // Digits within a longer word, such as a hash or the name of a part, belong to an identifier.
  if (/[\p{N}_]/u.test(rest)) return undefined
  const start = match.index
  const end = start + whole.length - rest.length
  const { value, step } = parseNumber(number)
  const before = bare.slice(Math.max(0, start - contextLength), start)
  const after = bare.slice(start + whole.length - rest.length, start + whole.length + contextLength)
  const bound = findBound(before, after)
  const signed = sign === '' ? value : -value
  // `About 64 GB` may stand for 64 GiB; without `about`, a decimal unit is one.
  const found = unit === undefined ? [plain(1)] : findUnits(unit)
  const possible = /^[kmgtpe]b$/i.test(unit ?? '') && bound !== 'about' ? found.slice(0, 1) : found
  return {
    text: bare.slice(start, end).trim(),
    start,
    end,
    bound,
    gap: '',
    clause: '',
    readings: possible.map(({ kind, scale }) => ({
      kind,
      scale,
      value: signed * scale,
      tolerance: (step * scale) / 2,
    })),
    nouns: findNouns(before, after),
    isCondition: conditionPattern.test(before),
    followsOf: false,
    lead: '',
    tail: '',
    following: '',
    isUniversal: universalWords.test(before.split(/[.,;:()|]/).at(-1) ?? ''),
    isDifference: differenceBefore.test(before) || differenceAfter.test(after),
    isCommonWord: false,
  }
}

const stopWords =
  /^(?:in|of|on|and|or|for|with|at|per|by|from|to|is|are|was|were|has|have|had|across|between|while|that|which|than|but|as|within|during|after|before|over|since|until|when|because|if|then|against|versus|vs|into)$/

/**
 * Returns the words after a figure up to a preposition or conjunction. If there are none, returns the word before a
 * colon, as in `parts: 5`.
 */
const findNouns = (before: string, after: string): string[] => {
  const words =
    /^(?:-|[^\S\n])*((?:\p{L}[\p{L}_]*(?:-|[^\S\n])+){0,3}\p{L}[\p{L}_]*)/u.exec(after)?.[1]?.split(/[\s-]+/) ?? []
  const end = words.findIndex((word) => stopWords.test(word.toLowerCase()))
  // In `5 GiB compressed to 1 GiB`, the participle is a verb.
  const isVerb = words[end] === 'to' && /\p{L}{3}ed$/u.test(words[end - 1] ?? '')
  const nouns = end === -1 ? words : words.slice(0, isVerb ? end - 1 : end)
  const label =
    /(\p{L}[\p{L}_]*)\s*[:=]\s*$/u.exec(before)?.[1] ?? /\b(?:most|fewest|least)\s(\p{L}+)\b[^.;]*$/u.exec(before)?.[1]
  return nouns.length > 0 || label === undefined ? nouns : [label]
}

const contextLength = 48
const conditionPattern =
  /(?:between|last|past|previous|next|top|first|than|over|above|below|under|exceed(?:s|ed|ing)?|least|most|within|every|limit(?: of)?|threshold(?: of)?|maximum of|interval of|[<>≥≤]=?)\s*(?:the\s)?$/i

/** Words that extend a bound to all rows. */
const universalWords = /\b(?:all|every|each|both|between|always|no(?:body|ne)?|not|never|nothing)\b|n't\b/i
const differenceBefore =
  /\b(?:increas(?:ed?|es)|decreas(?:ed?|es)|rose|rises?|risen|gr[eo]wn?|grows|dropped|drops|fell|fallen|shrank|shrunk|differs?|differed)\s+by\s*(?:about\s|roughly\s)?[~≈]?$/i
const differenceAfter =
  /^\s*(?:(?:[\p{L}_]+\s)?(?:more|less|fewer)|higher|lower|larger|smaller|bigger|longer|shorter|faster|slower)\b[^.;,]*\bthan\b(?!\s*[\d~])/iu

/** Parses written digits. `step` is the value of the last written digit. */
const parseNumber = (written: string): { value: number; step: number } => {
  const isDecimalComma = /^\d+,\d{1,2}$/.test(written)
  const areDotsSeparators = /^\d{1,3}(?:\.\d{3}){2,}$/.test(written)
  const text = isDecimalComma
    ? written.replace(',', '.')
    : written.replaceAll(areDotsSeparators ? '.' : /[,_'’\s]/g, '')
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const decimals = mantissa.split('.')[1]?.length ?? 0
  return { value: Number(text), step: 10 ** (Number(exponent) - decimals) }
}

/** Applies the unit of the last figure to the preceding figures of a range or list, such as `3–5 GiB`. */
const shareUnits = (figures: readonly Figure[], bare: string): Figure[] => {
  const result = [...figures]
  for (let index = result.length - 2; index >= 0; index -= 1) {
    const [figure, next] = [result[index], result[index + 1]]
    if (figure === undefined || next === undefined) continue
    const gap = bare.slice(figure.end, next.start)
    const [own] = figure.readings
    if (
      own === undefined ||
      own.kind !== 'plain' ||
      own.scale !== 1 ||
      !/^\s*(?:-|–|—|→|to|and|or|vs\.?|versus|(?:out )?of(?: the| its| all| their)?|\/|,)\s*$/.test(gap)
    )
      continue
    const shared = next.readings
      .filter(({ kind, scale }) => kind !== 'plain' || scale !== 1)
      .map(({ kind, scale }) => ({ kind, scale, value: own.value * scale, tolerance: own.tolerance * scale }))
    const nouns = figure.nouns.length === 0 || /^\s*(?:to|and|or|of|out of)/.test(gap) ? next.nouns : figure.nouns
    const isRange = figure.bound === 'at least' && shared.length > 0
    result[index] = { ...figure, readings: isRange ? shared : [...shared, own], nouns }
  }
  return result
}

/** Merges the pieces of a duration such as `1 h 20 min` into one figure. */
const mergeDurations = (figures: readonly Figure[], bare: string): Figure[] => {
  const result: Figure[] = []
  for (const figure of figures) {
    const before = result.at(-1)
    const [longer, shorter] = [before?.readings[0], figure.readings[0]]
    const isPiece =
      before !== undefined &&
      longer?.kind === 'seconds' &&
      shorter?.kind === 'seconds' &&
      longer.scale > shorter.scale &&
      /^\s*(?:,|and)?\s*$/.test(bare.slice(before.end, figure.start))
    if (!isPiece) {
      result.push(figure)
      continue
    }
    const merged = { ...shorter, value: longer.value + shorter.value }
    const text = bare.slice(before.start, figure.end).trim()
    result[result.length - 1] = { ...before, text, end: figure.end, readings: [merged] }
  }
  return result
}

/** Returns whether a figure is a difference of percentages, such as `1.5 percentage points`. */
export const isPointDifference = ({ text }: Pick<Figure, 'text'>): boolean => /(?:\bpp|points?)$/i.test(text)

/** Returns whether a figure is an operand of a computation that the text states. */
export const isOperand = ({ lead, following }: Figure): boolean =>
  /[-+−–*/×÷·]\s*\(?\s*$/.test(lead) || /^\s*[-+−*/×÷·]/.test(following)
