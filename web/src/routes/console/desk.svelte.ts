import { readStoredJson, writeStored } from '#lib/state/stored.ts'
import { randomId } from '#lib/ui/random-id.ts'
import {
  changedDraft,
  readDesk,
  withDraft,
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
    get past(): readonly PastRun[] {
      return desk.past
    },
    open(sql = '', database = ''): Draft {
      const draft = { id: randomId().slice(0, idLength), sql, database }
      apply((present) => withDraft(present, draft))
      return draft
    },
    close: (id: string): void => apply((present) => withoutDraft(present, id)),
    change: (draft: Draft, change: Partial<Draft>): void => apply((present) => changedDraft(present, draft, change)),
    remember: (run: PastRun): void => apply((present) => withRun(present, run)),
    forget: (): void => apply((present) => ({ ...present, past: [] })),
  }
}
