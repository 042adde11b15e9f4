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

/** Statements being written and those that were run, kept by this browser alone. */
export const createDesk = () => {
  let desk = $state.raw(readDesk(readStoredJson(storedAs)))
  const set = (next: Desk): void => {
    desk = next
    writeStored(storedAs, JSON.stringify(next))
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
      set(withDraft(desk, draft))
      return draft
    },
    close: (id: string): void => set(withoutDraft(desk, id)),
    change: (id: string, change: Partial<Draft>): void => set(changedDraft(desk, id, change)),
    remember: (run: PastRun): void => set(withRun(desk, run)),
    forget: (): void => set({ ...desk, past: [] }),
  }
}
