import { createSubscriber } from 'svelte/reactivity'
import { readStoredJson, writeStored } from '#lib/state/stored.ts'

/** What somebody said to being measured; `unasked` until then, which counts as no. */
export type Consent = 'unasked' | 'given' | 'refused'

const storedAs = 'analytics-consent'

/** What was kept; a browser that asks all sites not to (Global Privacy Control) has refused, whatever was kept. */
export const readConsent = (kept: unknown, refusesAll: boolean): Consent => {
  if (refusesAll) return 'refused'
  return kept === 'given' || kept === 'refused' ? kept : 'unasked'
}

const refusesAll = (): boolean => 'globalPrivacyControl' in navigator && navigator.globalPrivacyControl === true

let announce = (): void => {}
const subscribe = createSubscriber((update) => {
  announce = update
  return () => (announce = () => {})
})

/** What somebody said in this browser. */
export const consent = {
  get current(): Consent {
    subscribe()
    return readConsent(readStoredJson(storedAs), refusesAll())
  },
  say(said: Exclude<Consent, 'unasked'>): void {
    writeStored(storedAs, JSON.stringify(said))
    announce()
  },
}
