import { readStoredText, writeStoredText } from './browser-storage.ts'

const storageKey = 'setup-dismissed'
let isDismissed = $state(readStoredText(storageKey) === 'true')

/** Whether the user hides the steps of a new installation on the overview, in this browser. */
export const setupDismissal = {
  get isDismissed() {
    return isDismissed
  },
  set(value: boolean): void {
    isDismissed = value
    writeStoredText(storageKey, value ? 'true' : null)
  },
}
