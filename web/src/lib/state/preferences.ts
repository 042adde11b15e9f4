import { createSubscriber } from 'svelte/reactivity'
import { readStoredJson, writeStoredText } from './browser-storage.ts'

/** The values of each preference; the first is the default. */
export const preferenceChoices = {
  zone: ['default', 'browser', 'utc', 'host'],
  bytes: ['binary', 'decimal'],
  palette: ['standard', 'colour-blind', 'grey'],
  density: ['compact', 'comfortable'],
  /** Single-letter shortcuts. Users can turn them off, because speech or switch input may trigger them by accident. */
  keys: ['on', 'off'],
  /** Whether tables, charts and key metrics include the statements of Watchhouse itself. */
  own: ['hidden', 'shown'],
  /** How diffs are shown, where they have the space. */
  diff: ['split', 'unified'],
  /** Whether charts mark what changed on a host. */
  changes: ['shown', 'hidden'],
} as const

type Choices = typeof preferenceChoices
export type Preference = keyof Choices
export type Preferences = { [Name in Preference]: Choices[Name][number] }

const storageKey = 'preferences'

/** Returns the stored preferences; invalid values become defaults. */
export const readPreferences = (stored: unknown): Preferences => {
  const values = new Map<string, unknown>(Object.entries(typeof stored === 'object' && stored !== null ? stored : {}))
  return {
    zone: readPreferredZone(values),
    bytes: oneOf(preferenceChoices.bytes, values.get('bytes')),
    palette: oneOf(preferenceChoices.palette, values.get('palette')),
    density: oneOf(preferenceChoices.density, values.get('density')),
    keys: oneOf(preferenceChoices.keys, values.get('keys')),
    own: oneOf(preferenceChoices.own, values.get('own')),
    diff: oneOf(preferenceChoices.diff, values.get('diff')),
    changes: oneOf(preferenceChoices.changes, values.get('changes')),
  }
}

/**
 * Returns the preferred time zone. A stored `browser` is ignored if other defaults are stored, because
 * earlier releases, whose default was `browser`, stored all preferences when one was changed.
 */
const readPreferredZone = (values: ReadonlyMap<string, unknown>): Preferences['zone'] => {
  const zone = oneOf(preferenceChoices.zone, values.get('zone'))
  const keepsDefaults = names.some((name) => values.get(name) === preferenceChoices[name][0])
  return zone === 'browser' && keepsDefaults ? 'default' : zone
}

// `Object.keys` is typed as `string[]`, but the keys of this constant are known.
const names = Object.keys(preferenceChoices) as Preference[]

/** Returns the preferences to store. Defaults are omitted, so that changes of the defaults take effect. */
export const omitDefaultPreferences = (current: Preferences): Partial<Preferences> =>
  Object.fromEntries(
    names.filter((name) => current[name] !== preferenceChoices[name][0]).map((name) => [name, current[name]]),
  )

const oneOf = <Choice>(choices: readonly [Choice, ...Choice[]], value: unknown): Choice =>
  choices.find((choice) => choice === value) ?? choices[0]

let current = readPreferences(readStoredJson(storageKey))
let announce = (): void => {}
const subscribe = createSubscriber((update) => {
  announce = update
  return () => (announce = () => {})
})

/** The preferences of this browser. State that links should share is in the URL instead. */
export const preferences = {
  get current(): Readonly<Preferences> {
    subscribe()
    return current
  },
  set<Name extends Preference>(name: Name, value: Preferences[Name]): void {
    current = { ...current, [name]: value }
    writeStoredText(storageKey, JSON.stringify(omitDefaultPreferences(current)))
    applyPreferences()
    announce()
  },
}

/** Applies preferences to the document; `app.html` does the same before the first paint. */
const applyPreferences = (): void => {
  for (const name of ['palette', 'density'] as const) {
    if (current[name] === preferenceChoices[name][0]) delete document.documentElement.dataset[name]
    else document.documentElement.dataset[name] = current[name]
  }
}
