/** A statement in a tab of the console. */
export interface Draft {
  id: string
  sql: string
  /** The database of unqualified names; empty for the default one. */
  database: string
  /** The name that the user gave; otherwise the beginning of the statement is shown. */
  name?: string
}

/** A statement in the history. */
export interface PastRun {
  sql: string
  database: string
  host: string
  atMs: number
  durationMs: number
  /** Number of result rows; null for a failed statement. */
  rows: number | null
}

/** A closed tab with its position. */
export interface ClosedDraft {
  draft: Draft
  place: number
}

export interface Workspace {
  drafts: readonly Draft[]
  /** Newest first. */
  closed: readonly ClosedDraft[]
  past: readonly PastRun[]
}

/** Maximum number of open tabs. Opening another one closes the oldest, which can be reopened. */
export const maxDrafts = 20
const maxClosed = 20
const maxPastRuns = 200
/** Browsers limit local storage to about five million characters per origin. */
const maxStoredLength = 20_000

export const emptyWorkspace: Workspace = { drafts: [], closed: [], past: [] }

/** Returns the stored state; invalid entries are dropped. */
export const readWorkspace = (stored: unknown): Workspace => {
  const { drafts, closed, past } = isRecord(stored) ? stored : {}
  return {
    drafts: (Array.isArray(drafts) ? drafts : []).filter(isDraft).slice(-maxDrafts),
    closed: (Array.isArray(closed) ? closed : []).filter(isClosedDraft).slice(0, maxClosed),
    past: (Array.isArray(past) ? past : []).filter(isPastRun).slice(0, maxPastRuns),
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

export const withDraft = (workspace: Workspace, draft: Draft): Workspace => {
  const withRoom = withRoomForOne(workspace)
  return {
    ...withRoom,
    drafts: [...withRoom.drafts, draft],
    closed: withRoom.closed.filter((each) => each.draft.id !== draft.id),
  }
}

const withRoomForOne = (workspace: Workspace): Workspace => {
  const oldest = nextToClose(workspace)
  return oldest ? withoutDraft(workspace, oldest.id) : workspace
}

/** Returns the draft that is closed when another one opens; undefined below the limit. */
export const nextToClose = ({ drafts }: Workspace): Draft | undefined =>
  drafts.length < maxDrafts ? undefined : drafts[0]

/** Closes a draft. It can be reopened unless it is empty. */
export const withoutDraft = (workspace: Workspace, id: string): Workspace => {
  const place = workspace.drafts.findIndex((draft) => draft.id === id)
  const draft = workspace.drafts[place]
  if (!draft) return workspace
  const isReopenable = draft.sql.trim() !== '' || draft.name !== undefined
  return {
    ...workspace,
    drafts: workspace.drafts.toSpliced(place, 1),
    closed: isReopenable ? [{ draft, place }, ...workspace.closed].slice(0, maxClosed) : workspace.closed,
  }
}

/** Reopens the last closed draft at its position. */
export const withReopened = (workspace: Workspace): Workspace => {
  const [last, ...closed] = workspace.closed
  if (!last) return workspace
  const withRoom = withRoomForOne({ ...workspace, closed })
  return { ...withRoom, drafts: withRoom.drafts.toSpliced(last.place, 0, last.draft) }
}

/** Changes a draft. One that another window has closed is reopened, as it is still being edited. */
export const changedDraft = (workspace: Workspace, draft: Draft, change: Partial<Draft>): Workspace => {
  if (!workspace.drafts.some(({ id }) => id === draft.id)) return withDraft(workspace, { ...draft, ...change })
  return {
    ...workspace,
    drafts: workspace.drafts.map((each) => (each.id === draft.id ? { ...each, ...change } : each)),
  }
}

/** Adds a run to the history, newest first. The same statement on the same host is listed once. */
export const withRun = (workspace: Workspace, run: PastRun): Workspace => {
  if (run.sql.length > maxStoredLength) return workspace
  const others = workspace.past.filter(({ sql, host }) => sql !== run.sql || host !== run.host)
  return { ...workspace, past: [run, ...others].slice(0, maxPastRuns) }
}

/** Returns the title of a tab: its name, or the beginning of its statement. */
export const titleOf = ({ sql, name }: Draft): string => {
  if (name) return name
  const words = sql
    .slice(0, maxStoredLength)
    .replaceAll(/--.*$|\/\*[^]*?\*\//gm, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const maxLength = 28
  if (words === '') return 'New query'
  return words.length > maxLength ? `${words.slice(0, maxLength)}…` : words
}
