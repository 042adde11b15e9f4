import { type ReplacedText, replaceNumberWords } from './number-words.ts'

/** What a figure measures. `plain` is a count or a value without a unit, `times` a factor such as `3x`. */
export type FigureKind = 'plain' | 'bytes' | 'seconds' | 'percent' | 'times'

/** One way to read a figure. `GB`, for example, can stand for 10⁹ or 2³⁰ bytes. */
export interface FigureReading {
  kind: FigureKind
  /** The value of one written unit, in bytes or seconds; 1 for other kinds. */
  scale: number
  value: number
  /** Half the place value of the last written digit, because the text may be rounded. */
  tolerance: number
  /** Whether the unit is a letter or word that usually states a count, such as `k` or `million`. */
  isLetter?: boolean
}

/** How a text qualifies a figure, such as `about 5`, `over 5`, `at least 5` or `almost 5`. */
type FigureBound = 'exact' | 'about' | 'above' | 'at least' | 'below' | 'at most' | 'almost'

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
  /** Whether the bound must hold for all rows, as in `every table has more than 5 parts` or `between 3 and 5`. */
  isUniversal: boolean
  /** Whether the figure is a difference, such as `5 more parts than` or `rose by 5`. */
  isDifference: boolean
  /** Whether the figure is a common number word, such as `two` or `no`. */
  isCommonWord: boolean
}

interface Unit {
  kind: FigureKind
  scale: number
}

const bytes = (scale: number): Unit => ({ kind: 'bytes', scale })
const seconds = (scale: number): Unit => ({ kind: 'seconds', scale })
const plain = (scale: number): Unit => ({ kind: 'plain', scale })

const byteUnits = ['k', 'm', 'g', 't', 'p', 'e'].flatMap((letter, index): [string, Unit[]][] => {
  const [binary, decimal] = [bytes(1024 ** (index + 1)), bytes(1000 ** (index + 1))]
  return [
    [`${letter}ib`, [binary]],
    [`${letter}b`, [decimal, binary]],
  ]
})

/** The units by their names in lower case. Only `B` and `K` to `T` stand for counts as well as for bytes. */
const units: ReadonlyMap<string, readonly Unit[]> = new Map<string, readonly Unit[]>([
  ...byteUnits,
  ...(
    [
      [['b'], [bytes(1), plain(1e9)]],
      [
        ['byte', 'bytes'],
        [bytes(1), plain(1)],
      ],
      [['k'], [plain(1e3), bytes(1024)]],
      [['g'], [plain(1e9), bytes(1024 ** 3)]],
      [['t'], [plain(1e12), bytes(1024 ** 4)]],
      [['hundred'], [plain(100)]],
      [['thousand'], [plain(1e3)]],
      [
        ['million', 'mln', 'mio'],
        [plain(1e6), bytes(1024 ** 2)],
      ],
      [['billion', 'bn'], [plain(1e9)]],
      [['trillion'], [plain(1e12)]],
      [['ns', 'nanosecond', 'nanoseconds'], [seconds(1e-9)]],
      [['µs', 'μs', 'us', 'microsecond', 'microseconds'], [seconds(1e-6)]],
      [['ms', 'msec', 'millisecond', 'milliseconds'], [seconds(1e-3)]],
      [['s', 'sec', 'secs', 'second', 'seconds'], [seconds(1)]],
      [['m', 'min', 'mins', 'minute', 'minutes'], [seconds(60)]],
      [['h', 'hr', 'hrs', 'hour', 'hours'], [seconds(3600)]],
      [['d', 'day', 'days'], [seconds(86_400)]],
      [['w', 'week', 'weeks'], [seconds(604_800)]],
      [['%', 'percent', 'pp', 'percentage point', 'percentage points'], [{ kind: 'percent', scale: 1 }]],
      [['x', '×', 'times', 'fold'], [{ kind: 'times', scale: 1 }]],
    ] satisfies [string[], Unit[]][]
  ).flatMap(([names, found]) => names.map((name): [string, readonly Unit[]] => [name, found])),
])

/** Returns the unit that a word of a column name stands for, such as `ms`; undefined for other words. */
export const findUnit = (word: string): Unit | undefined => units.get(word)?.[0]

const months = '(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\\.?'
/** Texts that contain digits but no figure: addresses, dates, times, versions, identifiers, ids and list numbers. */
const exemptPatterns: readonly RegExp[] = [
  /https?:\/\/\S+/gi,
  /\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi,
  /(?<![\d.])(?:19|20)\d\d([-/.])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01])(?![\d.]*\d)(?:t(?=\d))?/gi,
  /(?<![\d.,-])(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?![\d.,-]*\d)/g,
  /(?<![\d.])(?:0?[1-9]|[12]\d|3[01])[./](?:0?[1-9]|1[0-2])[./](?:19|20)\d\d\b/g,
  new RegExp(`\\b${months} \\d{1,2}(?:st|nd|rd|th)?(?:,? (?:19|20)\\d\\d)?\\b(?![.,]?\\d)(?! ?%)`, 'gi'),
  new RegExp(`\\b\\d{1,2}(?:st|nd|rd|th)?\\.? ${months}(?: (?:19|20)\\d\\d)?(?![a-z])`, 'gi'),
  /\b(?:in|since|until|year) (?:19|20)\d\d(?=[.,;:)]|$)/gi,
  /(?<![\d.,:])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:z\b|[+-]\d\d:?\d\d\b)?(?![\d:])/gi,
  /(?:\b(?:versions?|clickhouse|release)\s+v?|\bv)\d+(?:\.\d+)+(?:-[\w.]+)?/gi,
  /(?<![\d.,])(?!\d{1,3}(?:\.\d{3}){2,}(?![\d.]))\d+\.\d+\.\d+(?:\.\d+)*(?:-[\w.]+)?/g,
  /\b(?:host|host ?id|shard|replica|node|port|pid|id|step|rule|option|code|errno|partition|level|rfc|issue)(?: #?|#|[:=] ?)\d+\b(?!\.\d)(?! ?[%×])/gi,
  /\b(?:hosts|shards|replicas|nodes|ports|codes|partitions|steps|rules) \d+(?:(?:, ?| and | or |, and |-|–)\d+)+\b(?!\.\d)/gi,
  /\bhttps?(?:\/\d(?:\.\d)?)?(?: status)?(?: code)?:? [1-5]\d\d\b(?!\.?\d)/gi,
  /#\d+\b/g,
  /(?<=\d):1\b(?![:.]?\d)/g,
  /\b\d+(?:st|nd|rd|th)\b/gi,
  /\b\d-?xx\b/gi,
  /\b\d+[- ]bit\b/gi,
  /^\s*\d{1,3}[.)](?=\s|$)/gm,
]

/** A code span is a figure if it contains only a number and its unit. Other code spans are names or statements. */
const plainCodeSpan = /^[-+~≈]?\s?\d[\d.,_\s]*\s?(?:[a-zµ%×]{1,12}(?:\/s)?)?$/i

const blank = (found: string): string => ' '.repeat(found.length)

/** Replaces code, Markdown marks and numbers that are no figures with as many spaces, so that positions stay valid. */
const blankExempt = (text: string): string => {
  const withoutCode = text.replaceAll(/(`+)([^`]+)\1/g, (found: string, marks: string, inner: string) =>
    plainCodeSpan.test(inner.trim()) ? `${blank(marks)}${inner}${blank(marks)}` : blank(found),
  )
  const withoutMarks = withoutCode
    .replaceAll(/^\s*(?:[-+*]|#+)\s/gm, blank)
    .replaceAll(/~{2,}|\*\*+|(?<!\d\s?)\*|\*(?!\s?\d)/g, blank)
    .replaceAll(/(?<![\p{L}\p{N}_])_+(?=[\d~≈-])|(?<=[\d%])_+(?![\p{L}\p{N}_])/gu, blank)
  return exemptPatterns.reduce((rest, pattern) => rest.replaceAll(pattern, blank), withoutMarks)
}

const unitNames = [...units.keys()]
  .toSorted((one, other) => other.length - one.length)
  // In `120 × 4`, `×` is an operator and not the unit `times`.
  .map((name) => (/^[x×]$/.test(name) ? String.raw`${name}(?!\s*[\d(])` : name))
  .join('|')
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
  const bare = names.reduce(
    (rest, name) => rest.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), blank),
    blankExempt(spaced),
  )
  const found = [...bare.matchAll(figurePattern)].flatMap((match) => toFigure(match, bare) ?? [])
  const merged = mergeDurations(shareUnits(found, bare), bare)
  return merged.map((figure, index) => {
    const end = merged[index + 1]?.start
    const begin = merged[index - 1]?.end ?? 0
    const gap = bare.slice(figure.end, end)
    const before = bare.slice(begin, figure.start)
    const clause = `${before.split(clauseBoundary).at(-1)} ${gap.split(clauseBoundary)[0]}`
    const after = spaced.slice(figure.end, end)
    const tail = /^\s*(\([^()]*\))/.exec(after)?.[1] ?? after.split(clauseBoundary)[0] ?? ''
    const followsOf = index > 0 && isTotal(figure, before)
    return {
      ...figure,
      ...findWords(figure, replacements),
      gap,
      clause,
      tail,
      followsOf,
      lead: spaced.slice(begin, figure.start),
    }
  })
}

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
const findWords = (
  { text, start, readings }: Figure,
  replacements: ReplacedText['replacements'],
): Pick<Figure, 'text' | 'isCommonWord'> => {
  const found = replacements.get(start)
  if (!found) return { text, isCommonWord: false }
  const rest = text.slice(found.end - start)
  return {
    text: found.written + rest,
    isCommonWord:
      found.isCommon && readings.some(({ kind, scale }) => kind === 'seconds' || (kind === 'plain' && scale === 1)),
  }
}

const clauseBoundary = /[,;:()|]|\b(?:and|but|while|with)\b/

const separateCompoundDurations = (text: string): string => text.replaceAll(/(?<=\d(?:h|d|m|min))(?=\d)/g, ' ')

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
  const possible = unit === undefined ? [plain(1)] : findUnits(unit)
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
      isLetter: kind === 'bytes' && /^(?:[bkmgt]|million|mln|mio)$/i.test(unit ?? ''),
    })),
    nouns: findNouns(before, after),
    isCondition: conditionPattern.test(before),
    followsOf: false,
    lead: '',
    tail: '',
    isUniversal: universalWords.test(before.split(/[.,;:()|]/).at(-1) ?? ''),
    isDifference: differenceBefore.test(before) || differenceAfter.test(after),
    isCommonWord: false,
  }
}

const stopWords =
  /^(?:in|of|on|and|or|for|with|at|per|by|from|to|is|are|was|were|has|have|had|across|between|while|that|which|than|but|as)$/

/**
 * Returns the words after a figure up to a preposition or conjunction. If there are none, returns the word before a
 * colon, as in `parts: 5`.
 */
const findNouns = (before: string, after: string): string[] => {
  const words = /^[\s-]*((?:\p{L}[\p{L}_]*[\s-]+){0,3}\p{L}[\p{L}_]*)/u.exec(after)?.[1]?.split(/[\s-]+/) ?? []
  const end = words.findIndex((word) => stopWords.test(word.toLowerCase()))
  const nouns = end === -1 ? words : words.slice(0, end)
  const label = /(\p{L}[\p{L}_]*)\s*[:=]\s*$/u.exec(before)?.[1]
  return nouns.length > 0 || label === undefined ? nouns : [label]
}

/** `M` stands for millions or mebibytes, `m` for minutes. */
const findUnits = (name: string): readonly Unit[] =>
  name === 'M' ? [plain(1e6), bytes(1024 ** 2)] : (units.get(name.toLowerCase()) ?? [])

const contextLength = 48
const conditionPattern =
  /(?:between|last|past|previous|next|top|first|than|over|above|below|under|exceed(?:s|ed|ing)?|least|most|within|every|limit(?: of)?|threshold(?: of)?|maximum of|interval of|[<>≥≤]=?)\s*(?:the\s)?$/i

/** Words that extend a bound to all rows. */
const universalWords = /\b(?:all|every|each|both|between|always|no|none|not|never|nothing)\b|n't\b/i
const differenceBefore =
  /\b(?:increas(?:ed?|es)|decreas(?:ed?|es)|rose|rises?|risen|gr[eo]wn?|grows|dropped|drops|fell|fallen|shrank|shrunk|differs?|differed)\s+by\s*(?:about\s|roughly\s)?[~≈]?$/i
const differenceAfter =
  /^\s*(?:(?:[\p{L}_]+\s)?(?:more|less|fewer)|higher|lower|larger|smaller|bigger|longer|shorter|faster|slower)\b[^.;,]*\bthan\b(?!\s*[\d~])/iu

const negations = /\b(?:no|none|not|never|neither|nothing)\b|n't\b/i
const opposites: Readonly<Partial<Record<FigureBound, FigureBound>>> = {
  above: 'at most',
  'at least': 'below',
  below: 'at least',
  'at most': 'above',
}

const findBound = (before: string, after: string): FigureBound => {
  const bound = findWrittenBound(before, after)
  const isNegated = negations.test(before.split(/[.,;:()|]/).at(-1) ?? '')
  return isNegated ? (opposites[bound] ?? bound) : bound
}

const findWrittenBound = (before: string, after: string): FigureBound => {
  if (/(?:about|around|approximately|approx\.?|roughly|circa|ca\.|some|[~≈])\s*$/i.test(before)) return 'about'
  if (/(?:at least|>=|≥|between)\s*$/i.test(before) || after.startsWith('+')) return 'at least'
  if (/(?:(?:more|longer|larger|bigger|higher|greater|slower) than|over|above|exceed(?:s|ed|ing)?|>)\s*$/i.test(before))
    return 'above'
  if (/(?:at most|up to|<=|≤|between\s\S+(?:\s[\p{L}%]+)?\sand)\s*$/iu.test(before)) return 'at most'
  if (/(?:nearly|almost|just under|close to)\s*$/i.test(before)) return 'almost'
  return /(?:(?:less|fewer|smaller|shorter|lower|faster) than|under|below|<)\s*$/i.test(before) ? 'below' : 'exact'
}

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
      !/^\s*(?:-|–|—|→|to|and|or|of|\/|,)\s*$/.test(gap)
    )
      continue
    const shared = next.readings
      .filter(({ kind, scale }) => kind !== 'plain' || scale !== 1)
      .map(({ kind, scale }) => ({ kind, scale, value: own.value * scale, tolerance: own.tolerance * scale }))
    const nouns = figure.nouns.length === 0 || /^\s*(?:to|and|or|of)/.test(gap) ? next.nouns : figure.nouns
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
