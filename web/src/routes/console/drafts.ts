/** A statement in a tab of the console. */
export interface Draft {
  id: string
  sql: string
  /** The database in which unqualified table names are resolved. An empty text means the default database. */
  database: string
  /** The name that the user chose. Without it, the tab shows the beginning of the statement. */
  name?: string
}

/** A run in the history, with its statement and result. */
export interface PastRun {
  sql: string
  database: string
  host: string
  atMs: number
  durationMs: number
  /** Number of result rows. Null for a failed statement. */
  rows: number | null
}

/** A closed tab with its former position. */
export interface ClosedDraft {
  draft: Draft
  place: number
}

export interface Workspace {
  drafts: readonly Draft[]
  /** Closed tabs, newest first. */
  closed: readonly ClosedDraft[]
  past: readonly PastRun[]
}

/** Maximum number of open tabs. Opening another one closes the oldest, which can be reopened. */
export const maxDrafts = 20
const maxClosed = 20
const maxPastRuns = 200
/** Maximum length of a stored statement. Browsers limit local storage to about five million characters per origin. */
const maxStoredLength = 20_000

export const emptyWorkspace: Workspace = { drafts: [], closed: [], past: [] }

/** Parses the stored state. Invalid entries are dropped. */
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

export const addDraft = (workspace: Workspace, draft: Draft): Workspace => {
  const withRoom = removeExcessDraft(workspace)
  return {
    ...withRoom,
    drafts: [...withRoom.drafts, draft],
    closed: withRoom.closed.filter((each) => each.draft.id !== draft.id),
  }
}

const removeExcessDraft = (workspace: Workspace): Workspace => {
  const oldest = findDraftToClose(workspace)
  return oldest ? closeDraft(workspace, oldest.id) : workspace
}

/** Returns the draft that opening another one will close; undefined if the limit is not reached. */
export const findDraftToClose = ({ drafts }: Workspace): Draft | undefined =>
  drafts.length < maxDrafts ? undefined : drafts[0]

/** Closes a draft. Users can reopen it unless it is empty. */
export const closeDraft = (workspace: Workspace, id: string): Workspace => {
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

/** Reopens the last closed draft at its former position. */
export const reopenDraft = (workspace: Workspace): Workspace => {
  const [last, ...closed] = workspace.closed
  if (!last) return workspace
  const withRoom = removeExcessDraft({ ...workspace, closed })
  return { ...withRoom, drafts: withRoom.drafts.toSpliced(last.place, 0, last.draft) }
}

/** Changes a draft. If another window has closed it, reopens it, because this window still edits it. */
export const updateDraft = (workspace: Workspace, draft: Draft, change: Partial<Draft>): Workspace => {
  if (!workspace.drafts.some(({ id }) => id === draft.id)) return addDraft(workspace, { ...draft, ...change })
  return {
    ...workspace,
    drafts: workspace.drafts.map((each) => (each.id === draft.id ? { ...each, ...change } : each)),
  }
}

/** Adds a run at the start of the history. Removes an earlier run of the same statement on the same host. */
export const addPastRun = (workspace: Workspace, run: PastRun): Workspace => {
  if (run.sql.length > maxStoredLength) return workspace
  const others = workspace.past.filter(({ sql, host }) => sql !== run.sql || host !== run.host)
  return { ...workspace, past: [run, ...others].slice(0, maxPastRuns) }
}

/** Returns the title of a tab: its name, or the beginning of its statement. */
export const formatDraftTitle = ({ sql, name }: Draft): string => {
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
