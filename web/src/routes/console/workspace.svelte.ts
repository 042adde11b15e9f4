import { readStoredJson, writeStoredText } from '#lib/state/browser-storage.ts'
import { createRandomId } from '#lib/ui/random-id.ts'
import {
  updateDraft,
  findDraftToClose,
  readWorkspace,
  addDraft,
  reopenDraft,
  closeDraft,
  addPastRun,
  type Workspace,
  type Draft,
  type PastRun,
} from './drafts.ts'

const storageKey = 'console'
/** Length of draft ids. Short ids suffice, because they are unique only among a few drafts. */
const idLength = 8

/** Creates the state of drafts and history. The browser stores it, and all its windows share it. */
export const createWorkspace = () => {
  let workspace = $state.raw(readWorkspace(readStoredJson(storageKey)))
  let isStored = true
  /** Applies a change to the stored state, so that changes of other windows are preserved. */
  const apply = (change: (present: Workspace) => Workspace): void => {
    workspace = change(isStored ? readWorkspace(readStoredJson(storageKey)) : workspace)
    isStored = writeStoredText(storageKey, JSON.stringify(workspace))
  }
  return {
    get drafts(): readonly Draft[] {
      return workspace.drafts
    },
    /** The draft that `reopen` would open; undefined if there is none. */
    get lastClosed(): Draft | undefined {
      return workspace.closed[0]?.draft
    },
    /** The draft that opening another one will close; undefined if the limit is not reached. */
    get nextToClose(): Draft | undefined {
      return findDraftToClose(workspace)
    },
    get past(): readonly PastRun[] {
      return workspace.past
    },
    open(sql = '', database = ''): Draft {
      const draft = { id: createRandomId().slice(0, idLength), sql, database }
      apply((present) => addDraft(present, draft))
      return draft
    },
    /** Reopens the last closed draft at its former position and returns it; undefined if there is none. */
    reopen(): Draft | undefined {
      let draft: Draft | undefined
      apply((present) => {
        draft = present.closed[0]?.draft
        return reopenDraft(present)
      })
      return draft
    },
    close: (id: string): void => apply((present) => closeDraft(present, id)),
    change: (draft: Draft, change: Partial<Draft>): void => apply((present) => updateDraft(present, draft, change)),
    remember: (run: PastRun): void => apply((present) => addPastRun(present, run)),
    clearHistory: (): void => apply((present) => ({ ...present, past: [], closed: [] })),
  }
}
