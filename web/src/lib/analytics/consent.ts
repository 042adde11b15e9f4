import { createSubscriber } from 'svelte/reactivity'
import { readStoredJson, writeStoredText } from '#lib/state/browser-storage.ts'

/** The consent of the user to analytics. `unset` counts as denied. */
export type Consent = 'unset' | 'granted' | 'denied'

const storageKey = 'analytics-consent'

/** Returns the stored consent. Global Privacy Control in the browser overrides it with `denied`. */
export const readConsent = (stored: unknown, refusesAll: boolean): Consent => {
  if (refusesAll) return 'denied'
  return stored === 'granted' || stored === 'denied' ? stored : 'unset'
}

const hasGlobalPrivacyControl = (): boolean =>
  'globalPrivacyControl' in navigator && navigator.globalPrivacyControl === true

let announce = (): void => {}
const subscribe = createSubscriber((update) => {
  announce = update
  return () => (announce = () => {})
})

/** The consent stored in this browser. */
export const consent = {
  get current(): Consent {
    subscribe()
    return readConsent(readStoredJson(storageKey), hasGlobalPrivacyControl())
  },
  set(choice: Exclude<Consent, 'unset'>): void {
    writeStoredText(storageKey, JSON.stringify(choice))
    announce()
  },
}
