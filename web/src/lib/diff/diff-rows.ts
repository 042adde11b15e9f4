/** A line of one side of a diff; null where the other side has a line without a counterpart. */
export interface DiffLine {
  number: number
  text: string
}

/** A row of a side-by-side diff. Unchanged rows have the same text on both sides. */
export interface DiffRow {
  before: DiffLine | null
  after: DiffLine | null
  isChanged: boolean
}

/** A section of a unified diff, with a few unchanged lines around its changes. */
export interface DiffHunk {
  rows: readonly DiffRow[]
  /** The number of unchanged lines before the section that the diff leaves out. */
  skipped: number
}

const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/** Parses a unified diff of one file. Lines before the first section are ignored. */
export const parseUnifiedDiff = (diff: string): DiffHunk[] => {
  const hunks: { rows: DiffRow[]; skipped: number }[] = []
  let [before, after, last] = [1, 1, 1]
  let removed: DiffLine[] = []
  let added: DiffLine[] = []
  const pairChanges = () => {
    const rows = Array.from({ length: Math.max(removed.length, added.length) }, (_, index) => ({
      before: removed[index] ?? null,
      after: added[index] ?? null,
      isChanged: true,
    }))
    hunks.at(-1)?.rows.push(...rows)
    removed = []
    added = []
  }
  for (const line of diff.split('\n')) {
    const found = header.exec(line)
    if (found) {
      pairChanges()
      before = Number(found[1])
      after = Number(found[2])
      hunks.push({ rows: [], skipped: Math.max(0, after - last) })
    } else if (hunks.length > 0) {
      const text = line.slice(1)
      if (line.startsWith('-')) removed.push({ number: before++, text })
      else if (line.startsWith('+')) added.push({ number: after++, text })
      else if (line.startsWith(' ')) {
        pairChanges()
        const row = { before: { number: before++, text }, after: { number: after++, text }, isChanged: false }
        hunks.at(-1)?.rows.push(row)
      }
    }
    last = after
  }
  pairChanges()
  return hunks
}

/** Returns the number of added and removed lines. */
export const countDiffLines = (hunks: readonly DiffHunk[]): { added: number; removed: number } => {
  const changed = hunks.flatMap(({ rows }) => rows).filter(({ isChanged }) => isChanged)
  return {
    added: changed.filter(({ after }) => after !== null).length,
    removed: changed.filter(({ before }) => before !== null).length,
  }
}

/** A part of a line, and whether it differs from the line on the other side. */
export interface DiffPart {
  text: string
  isDifferent: boolean
}

/** Splits a line at what it has in common with its counterpart, so that long lines show what differs. */
export const splitDifference = (text: string, other: string): DiffPart[] => {
  const shorter = Math.min(text.length, other.length)
  let start = 0
  while (start < shorter && text[start] === other[start]) start++
  let end = 0
  while (end < shorter - start && text.at(-1 - end) === other.at(-1 - end)) end++
  // Parts of a word are hard to read, so that the difference begins and ends at words.
  const isWord = (character: string | undefined) => character !== undefined && /\w/.test(character)
  while (start > 0 && isWord(text[start - 1]) && (isWord(text[start]) || isWord(other[start]))) start--
  while (end > 0 && isWord(text.at(-end)) && (isWord(text.at(-end - 1)) || isWord(other.at(-end - 1)))) end--
  const parts = [
    { text: text.slice(0, start), isDifferent: false },
    { text: text.slice(start, text.length - end), isDifferent: true },
    { text: text.slice(text.length - end), isDifferent: false },
  ]
  return parts.filter((part) => part.text !== '')
}
