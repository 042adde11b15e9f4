import { createSubscriber } from 'svelte/reactivity'
import { readStoredJson, writeStoredText } from './browser-storage.ts'

const storageKey = 'starred-dashboards'
/** Maximum number of starred dashboards. */
const maxStarred = 100

const read = (): readonly string[] => {
  const stored = readStoredJson(storageKey)
  return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string').slice(0, maxStarred) : []
}

let announce = (): void => {}
const subscribe = createSubscriber((update) => {
  announce = update
  return () => (announce = () => {})
})

/** The dashboards that the user of this browser starred. */
export const starredDashboards = {
  has: (id: string): boolean => {
    subscribe()
    return read().includes(id)
  },
  toggle: (id: string): void => {
    const before = read()
    const after = before.includes(id) ? before.filter((each) => each !== id) : [...before, id].slice(-maxStarred)
    writeStoredText(storageKey, JSON.stringify(after))
    announce()
  },
}
