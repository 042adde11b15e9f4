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

/** A tab that was closed, with its place among the others. */
export interface ClosedDraft {
  draft: Draft
  place: number
}

export interface Desk {
  drafts: readonly Draft[]
  /** The latest first. */
  closed: readonly ClosedDraft[]
  past: readonly PastRun[]
}

/** As many as can be told apart; the oldest give way to further ones, and can be had back as those that somebody closed. */
export const mostDrafts = 20
const mostClosed = 20
const mostPast = 200
/** The browser gives a page some five million characters in all. */
const longestKept = 20_000

export const emptyDesk: Desk = { drafts: [], closed: [], past: [] }

/** What was kept, in so far as it is what was written. */
export const readDesk = (kept: unknown): Desk => {
  const { drafts, closed, past } = isRecord(kept) ? kept : {}
  return {
    drafts: (Array.isArray(drafts) ? drafts : []).filter(isDraft).slice(-mostDrafts),
    closed: (Array.isArray(closed) ? closed : []).filter(isClosedDraft).slice(0, mostClosed),
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

const isClosedDraft = (given: unknown): given is ClosedDraft =>
  isRecord(given) && isDraft(given['draft']) && typeof given['place'] === 'number'

const isPastRun = (given: unknown): given is PastRun =>
  isRecord(given) &&
  areTexts(given, 'sql', 'database', 'host') &&
  typeof given['atMs'] === 'number' &&
  typeof given['durationMs'] === 'number' &&
  (given['rows'] === null || typeof given['rows'] === 'number')

export const withDraft = (desk: Desk, draft: Draft): Desk => {
  const withRoom = withRoomForOne(desk)
  return {
    ...withRoom,
    drafts: [...withRoom.drafts, draft],
    closed: withRoom.closed.filter((each) => each.draft.id !== draft.id),
  }
}

const withRoomForOne = (desk: Desk): Desk => {
  const oldest = givingWay(desk)
  return oldest ? withoutDraft(desk, oldest.id) : desk
}

/** The draft that is closed when there is one more; none while there is room. */
export const givingWay = ({ drafts }: Desk): Draft | undefined => (drafts.length < mostDrafts ? undefined : drafts[0])

/** What is closed can be had back, unless nothing was written in it. */
export const withoutDraft = (desk: Desk, id: string): Desk => {
  const place = desk.drafts.findIndex((draft) => draft.id === id)
  const draft = desk.drafts[place]
  if (!draft) return desk
  const isWorthKeeping = draft.sql.trim() !== '' || draft.name !== undefined
  return {
    ...desk,
    drafts: desk.drafts.toSpliced(place, 1),
    closed: isWorthKeeping ? [{ draft, place }, ...desk.closed].slice(0, mostClosed) : desk.closed,
  }
}

/** The draft that was closed last, open again where it was. */
export const withReopened = (desk: Desk): Desk => {
  const [last, ...closed] = desk.closed
  if (!last) return desk
  const withRoom = withRoomForOne({ ...desk, closed })
  return { ...withRoom, drafts: withRoom.drafts.toSpliced(last.place, 0, last.draft) }
}

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
