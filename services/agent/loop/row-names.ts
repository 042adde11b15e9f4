import { findMoments, isSameMoment } from './moments.ts'
import { findNameOfValue, type ResultCell, type ResultColumn, type ResultTable } from './result-cells.ts'
import { splitIntoWords, toStem } from './words.ts'

/** A column whose cells name the rows of a table, and the names among them that occur in a claim. */
export interface NameColumn {
  index: number
  /** Whether the names are dates and times. */
  isMoment: boolean
  /** Whether the names are those of metrics, of which single words count, too. */
  isMetric: boolean
  /** Returns the names that occur in a part of the claim, in their order there. */
  find(text: string): readonly string[]
}

/** Returns the name of a cell: its text, or the digits of an identifier such as the number of a shard. */
export const toName = ({ text, number }: ResultCell): string => text ?? String(number?.value ?? '')

/** Returns the columns of a table whose names occur in a claim. */
export const findNameColumns = (table: ResultTable, claim: string): NameColumn[] =>
  table.columns.flatMap((_column, index) => {
    const find = createFinder(table, index)
    const found = find(claim)
    return found.length > 0
      ? [
          {
            index,
            isMoment: (table.columns[index]?.moments.size ?? 0) > 0,
            isMetric: index === findNameOfValue(table.columns),
            find,
          },
        ]
      : []
  })

/** Columns of numbers that identify objects, as in `shard 2`. */
const labels = /^(?:shard|replica|node|port|pid|id|code|errno|partition|level|step|signal|thread|bucket)$/

/** Returns the label of a column of numbers that identify objects. */
const findLabel = ({ words, isPlural }: ResultColumn): string | undefined =>
  isPlural ? undefined : words.findLast((word) => labels.test(word))

/** Returns the numbers that a claim states after the label of a column, and where. */
export const findLabelledNumbers = (column: ResultColumn, claim: string): StatedIdentifier[] => {
  const label = findLabel(column)
  return label === undefined ? [] : findLabelled(claim, label)
}

/** An identifier in a claim. */
export interface StatedIdentifier {
  text: string
  start: number
}

/** Returns the rows that a claim names beside an identifier of a column: before it, otherwise anywhere. */
export const selectRowsBeside = (
  table: ResultTable,
  index: number,
  { claim, from, start }: { claim: string; from: number; start: number },
): ResultTable['rows'] => {
  const columns = findNameColumns(table, claim).filter((column) => column.index !== index)
  const [after = ''] = claim.slice(start).split(/[,;)]|\band\b/)
  for (const part of [claim.slice(from, start), claim.slice(0, start), after]) {
    const named = columns
      .map((column) => [column.index, column.find(part)] as const)
      .filter(([, names]) => names.length > 0)
    const rows = table.rows.filter((row) =>
      named.every(([place, names]) => row[place] && names.includes(toName(row[place]))),
    )
    if (named.length > 0 && rows.length > 0) return rows
  }
  return table.rows
}

const createFinder = (table: ResultTable, index: number): NameColumn['find'] => {
  const { texts = [], moments = new Map() } = table.columns[index] ?? {}
  const findNumbers = createNumberFinder(table, index)
  const role = table.columns[index]?.words.find((word) => /^(?:from|to)$/.test(word))
  const isMetric = index === findNameOfValue(table.columns)
  return (text) => {
    const stated = moments.size > 0 ? findMoments(text) : []
    const found = [
      ...[...moments].filter(([, moment]) => stated.some((each) => isSameMoment(moment, each))).map(([name]) => name),
      ...(moments.size > 0 ? [] : findTexts(keepRole(text, role), texts)),
      ...findNumbers(text),
    ]
    return isMetric && found.length === 0 ? findSimilarNames(table, index, text) : found
  }
}

/** Blanks the names that have another role than the column: after `to` for `disk_from`, not after it for `disk_to`. */
const keepRole = (text: string, role: string | undefined): string => {
  if (role === undefined) return text
  return text.replaceAll(/(\bto\s)?([\w.-]+)/g, (found, to: string | undefined, name: string) =>
    (to === undefined) === (role === 'from') ? found : ' '.repeat(found.length - name.length) + '·'.repeat(name.length),
  )
}

const findTexts = (text: string, names: readonly string[]): string[] => {
  const versions = findVersions(text, names)
  return [...versions, ...findNames(text, names).filter((name) => !versions.includes(name))]
}

const minHashLength = 5

/** Creates a function that finds the numbers of a column after its label, and hashes and long ids anywhere. */
const createNumberFinder = ({ columns, rows }: ResultTable, index: number): ((text: string) => string[]) => {
  const column = columns[index]
  const label = column && findLabel(column)
  const isHash = /^(?:hash|id)$/.test(column?.words.at(-1) ?? '')
  if (label === undefined && !isHash) return () => []
  const numbers = rows.flatMap((row) => (row[index]?.text === null && row[index].number ? toName(row[index]) : []))
  const hashes = isHash ? numbers.filter((name) => name.length >= minHashLength) : []
  return (text) => {
    const labelled =
      label === undefined || numbers.length === 0 ? [] : findLabelled(text, label).map((each) => each.text)
    const found = hashes.filter((name) => findName(text, name) !== -1)
    return [...new Set([...found, ...labelled.filter((name) => numbers.includes(name))])]
  }
}

/** Finds the versions that a text states completely or in part: `25.8` is 25.8.1.5101. */
const findVersions = (text: string, names: readonly string[]): string[] => {
  const versions = names.filter((name) => versionName.test(name))
  const stated = versions.length > 0 ? (text.match(statedVersion) ?? []) : []
  return versions.filter((name) => stated.some((each) => `${name.replace(/^v/, '')}.`.startsWith(`${each}.`)))
}

export const versionName = /^v?\d+\.\d+\.\d+(?:\.\d+)*(?:-\S+)?$/
/** A version in a text, but not a number with a unit. */
export const statedVersion =
  /(?<![\d.,])\d+\.\d+(?:\.\d+)*(?![\d.]*\d|\s?(?:%|[kmgtp]i?b?\b|[nuµm]?s\b|min|h(?:ours?)?\b|days?|x\b|times|percent))/gi

/** Other words for the labels of columns. */
const synonyms: Readonly<Partial<Record<string, string>>> = {
  code: 'code|error|exception',
  errno: 'errno|error',
  pid: 'pid|session|process|backend',
}

/** Finds the numbers after a label, such as 1 and 2 in `shards 1 and 2`. */
const findLabelled = (text: string, label: string): StatedIdentifier[] => {
  const names = synonyms[label] ?? label
  const pattern = new RegExp(
    String.raw`\b(?:(?:${names})s\s(\d+(?:(?:,\s?|\s?and\s|\s?or\s)\d+)*)|(?:${names})\s*[#:=(]?\s*(\d+))\b`,
    'gi',
  )
  return [...text.matchAll(pattern)].flatMap(({ 1: list, 2: number = '', index }) =>
    ((list ?? number).match(/\d+/g) ?? []).map((number) => ({ text: number, start: index })),
  )
}

/** Finds the names that a text contains, in their order. A name within a longer name is not found. */
const findNames = (text: string, names: readonly string[]): string[] => {
  const found: { name: string; at: number }[] = []
  let rest = text
  for (const name of names.filter((each) => text.includes(each)).toSorted((one, other) => other.length - one.length)) {
    const at = findName(rest, name)
    if (at === -1) continue
    found.push({ name, at })
    rest = rest.slice(0, at) + ' '.repeat(name.length) + rest.slice(at + name.length)
  }
  return found.toSorted((one, other) => one.at - other.at).map(({ name }) => name)
}

const maxNameLength = 256

/** Returns the position of a name as a whole word in a text; -1 if it does not occur. */
export const findName = (text: string, name: string): number => {
  // The article and the pronoun are no names.
  if (/^[ai]?$/i.test(name) || name.length > maxNameLength) return -1
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const around = `${text.charAt(at - 1)} ${text.charAt(at + name.length)}`
    if (!/[\p{L}\p{N}_]/u.test(around)) return at
  }
  return -1
}

const maxPhraseLength = 64
/** Maximum names of a column that are compared word by word. In longer lists, only complete names count. */
const maxSimilarNames = 200

/**
 * Returns the names that share the most words with a text: `TCP connections` is the row `TCPConnection`. Words that all
 * names share distinguish nothing, and words of columns name a column.
 */
export const findSimilarNames = ({ columns, words }: ResultTable, index: number, text: string): string[] => {
  const { texts = [], moments } = columns[index] ?? {}
  const names = texts.filter((name) => name.length <= maxPhraseLength && !moments?.has(name))
  if (names.length < 2 || names.length > maxSimilarNames) return []
  const ofColumns = new Set([...words, ...columns.flatMap((column) => column.words)].map(toStem))
  const stated = new Set(toStems(text).filter((stem) => !ofColumns.has(stem)))
  const stems = names.map((name) => new Set(toStems(name)))
  const scores = stems.map((own) => {
    const distinctive = [...own].filter((stem) => !stems.every((other) => other.has(stem)))
    const shared = distinctive.filter((stem) => stated.has(stem)).length
    return shared === 0 ? 0 : shared - (distinctive.length - shared) / 100
  })
  const best = Math.max(...scores)
  return best > 0 ? names.filter((_name, place) => scores[place] === best) : []
}

const toStems = (text: string): string[] =>
  splitIntoWords(text)
    .filter((word) => word.length > 2)
    .map(toStem)
