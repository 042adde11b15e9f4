import { createSubscriber } from 'svelte/reactivity'
import { readStoredJson, writeStored } from './stored.ts'

/** What each preference may be; the first is what holds until somebody chooses. */
export const preferenceChoices = {
  zone: ['default', 'browser', 'utc', 'host'],
  bytes: ['binary', 'decimal'],
  palette: ['standard', 'colour-blind', 'grey'],
  density: ['compact', 'comfortable'],
  /** Keys of one letter, which somebody who dictates or types by a switch may set off unawares. */
  keys: ['on', 'off'],
} as const

type Choices = typeof preferenceChoices
export type Preference = keyof Choices
export type Preferences = { [Name in Preference]: Choices[Name][number] }

const storedAs = 'preferences'

/** What was kept, in so far as it still is a choice. */
export const readPreferences = (kept: unknown): Preferences => {
  const given = new Map<string, unknown>(Object.entries(typeof kept === 'object' && kept !== null ? kept : {}))
  return {
    zone: readPreferredZone(given),
    bytes: oneOf(preferenceChoices.bytes, given.get('bytes')),
    palette: oneOf(preferenceChoices.palette, given.get('palette')),
    density: oneOf(preferenceChoices.density, given.get('density')),
    keys: oneOf(preferenceChoices.keys, given.get('keys')),
  }
}

/** Earlier releases kept every preference as soon as one was chosen, with the browser's zone as the default. */
const readPreferredZone = (given: ReadonlyMap<string, unknown>): Preferences['zone'] => {
  const zone = oneOf(preferenceChoices.zone, given.get('zone'))
  const keepsDefaults = names.some((name) => given.get(name) === preferenceChoices[name][0])
  return zone === 'browser' && keepsDefaults ? 'default' : zone
}

// The keys of a constant are those of its type.
const names = Object.keys(preferenceChoices) as Preference[]

/** What is kept: a preference that is not chosen follows the default of the product and of its operator. */
export const chosenPreferences = (current: Preferences): Partial<Preferences> =>
  Object.fromEntries(
    names.filter((name) => current[name] !== preferenceChoices[name][0]).map((name) => [name, current[name]]),
  )

const oneOf = <Choice>(choices: readonly [Choice, ...Choice[]], given: unknown): Choice =>
  choices.find((choice) => choice === given) ?? choices[0]

let current = readPreferences(readStoredJson(storedAs))
let announce = (): void => {}
const subscribe = createSubscriber((update) => {
  announce = update
  return () => (announce = () => {})
})

/** What somebody likes, in this browser. What a link should show to others stands in the URL instead. */
export const preferences = {
  get current(): Readonly<Preferences> {
    subscribe()
    return current
  },
  set<Name extends Preference>(name: Name, value: Preferences[Name]): void {
    current = { ...current, [name]: value }
    writeStored(storedAs, JSON.stringify(chosenPreferences(current)))
    applyPreferences()
    announce()
  },
}

/** Tells the style sheet; `app.html` does the same before the first paint. */
const applyPreferences = (): void => {
  for (const name of ['palette', 'density'] as const) {
    if (current[name] === preferenceChoices[name][0]) delete document.documentElement.dataset[name]
    else document.documentElement.dataset[name] = current[name]
  }
}
