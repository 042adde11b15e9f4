/** A statement that is being written, in a tab of its own. */
export interface Draft {
  id: string
  sql: string
  /** Where names without a database are looked up; empty for the usual one. */
  database: string
  /** What somebody calls it; without it the first words of the statement do. */
  name?: string
}

/** A statement that was run. */
export interface PastRun {
  sql: string
  database: string
  host: string
  atMs: number
  durationMs: number
  /** Rows of the answer; null for one that failed. */
  rows: number | null
}

export interface Desk {
  drafts: readonly Draft[]
  past: readonly PastRun[]
}

/** As many as can be told apart; the oldest give way. */
const mostDrafts = 20
const mostPast = 200
/** The browser gives a page some five million characters in all. */
const longestKept = 20_000

export const emptyDesk: Desk = { drafts: [], past: [] }

/** What was kept, in so far as it is what was written. */
export const readDesk = (kept: unknown): Desk => {
  const { drafts, past } = isRecord(kept) ? kept : {}
  return {
    drafts: (Array.isArray(drafts) ? drafts : []).filter(isDraft).slice(-mostDrafts),
    past: (Array.isArray(past) ? past : []).filter(isPastRun).slice(0, mostPast),
  }
}

const isRecord = (given: unknown): given is Record<string, unknown> => typeof given === 'object' && given !== null

const areTexts = (given: Record<string, unknown>, ...names: string[]): boolean =>
  names.every((name) => typeof given[name] === 'string')

const isDraft = (given: unknown): given is Draft =>
  isRecord(given) &&
  areTexts(given, 'id', 'sql', 'database') &&
  (given['name'] === undefined || typeof given['name'] === 'string')

const isPastRun = (given: unknown): given is PastRun =>
  isRecord(given) &&
  areTexts(given, 'sql', 'database', 'host') &&
  typeof given['atMs'] === 'number' &&
  typeof given['durationMs'] === 'number' &&
  (given['rows'] === null || typeof given['rows'] === 'number')

export const withDraft = (desk: Desk, draft: Draft): Desk => ({
  ...desk,
  drafts: [...desk.drafts, draft].slice(-mostDrafts),
})

export const withoutDraft = (desk: Desk, id: string): Desk => ({
  ...desk,
  drafts: desk.drafts.filter((draft) => draft.id !== id),
})

/** A draft with a change; one that another window has closed meanwhile is there again, as somebody still writes it. */
export const changedDraft = (desk: Desk, draft: Draft, change: Partial<Draft>): Desk => {
  if (!desk.drafts.some(({ id }) => id === draft.id)) return withDraft(desk, { ...draft, ...change })
  return { ...desk, drafts: desk.drafts.map((each) => (each.id === draft.id ? { ...each, ...change } : each)) }
}

/** The latest first; the same statement on the same host is told once, as it was run last. */
export const withRun = (desk: Desk, run: PastRun): Desk => {
  if (run.sql.length > longestKept) return desk
  const others = desk.past.filter(({ sql, host }) => sql !== run.sql || host !== run.host)
  return { ...desk, past: [run, ...others].slice(0, mostPast) }
}

/** What a tab is called: its name, or the first words of its statement. */
export const titleOf = ({ sql, name }: Draft): string => {
  if (name) return name
  const words = sql
    .slice(0, longestKept)
    .replaceAll(/--.*$|\/\*[^]*?\*\//gm, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const longest = 28
  if (words === '') return 'New'
  return words.length > longest ? `${words.slice(0, longest)}…` : words
}
