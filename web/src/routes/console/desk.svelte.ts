import { readStoredJson, writeStored } from '#lib/state/stored.ts'
import { randomId } from '#lib/ui/random-id.ts'
import {
  changedDraft,
  givingWay,
  readDesk,
  withDraft,
  withReopened,
  withoutDraft,
  withRun,
  type Desk,
  type Draft,
  type PastRun,
} from './drafts.ts'

const storedAs = 'console'
/** A name of one's own among a few is enough. */
const idLength = 8

/** Statements being written and those that were run, kept by this browser alone, for all its windows. */
export const createDesk = () => {
  let desk = $state.raw(readDesk(readStoredJson(storedAs)))
  let isKept = true
  /** What other windows have kept meanwhile stays. */
  const apply = (change: (present: Desk) => Desk): void => {
    desk = change(isKept ? readDesk(readStoredJson(storedAs)) : desk)
    isKept = writeStored(storedAs, JSON.stringify(desk))
  }
  return {
    get drafts(): readonly Draft[] {
      return desk.drafts
    },
    /** What “open again” would open; undefined while nothing was closed. */
    get lastClosed(): Draft | undefined {
      return desk.closed[0]?.draft
    },
    /** What is closed when a further one is opened; undefined while there is room. */
    get givingWay(): Draft | undefined {
      return givingWay(desk)
    },
    get past(): readonly PastRun[] {
      return desk.past
    },
    open(sql = '', database = ''): Draft {
      const draft = { id: randomId().slice(0, idLength), sql, database }
      apply((present) => withDraft(present, draft))
      return draft
    },
    /** Opens again what was closed last, with its place; undefined when that was nothing. */
    reopen(): Draft | undefined {
      let draft: Draft | undefined
      apply((present) => {
        draft = present.closed[0]?.draft
        return withReopened(present)
      })
      return draft
    },
    close: (id: string): void => apply((present) => withoutDraft(present, id)),
    change: (draft: Draft, change: Partial<Draft>): void => apply((present) => changedDraft(present, draft, change)),
    remember: (run: PastRun): void => apply((present) => withRun(present, run)),
    forget: (): void => apply((present) => ({ ...present, past: [], closed: [] })),
  }
}
