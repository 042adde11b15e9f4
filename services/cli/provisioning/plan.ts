import { isDeepStrictEqual } from 'node:util'

/** The fields of an entry, as the API takes them. */
export type Fields = Readonly<Record<string, unknown>>

/** An entry that the files define. `key` identifies it within its kind. */
export interface DesiredEntry {
  kind: string
  key: string
  fields: Fields
  /** Values that are never shown; `fields` contains them masked. */
  secrets?: Fields
}

/** An entry of the server. */
export interface CurrentEntry extends DesiredEntry {
  /** The id in the API, if it differs from the key. */
  id: string
  /** Whether it was saved through the API. Other entries come from files and variables of the server. */
  isSaved: boolean
  /** Whether it always exists, such as the settings of all alerts. Such an entry is never deleted. */
  isPermanent?: boolean
  /** The version that a change must name. */
  version?: number
}

/** One difference between the files and the server. */
export type Change =
  | { action: 'add'; desired: DesiredEntry }
  | { action: 'change'; desired: DesiredEntry; current: CurrentEntry; fields: FieldChange[] }
  | { action: 'delete'; current: CurrentEntry }

/** A field with different values. */
export interface FieldChange {
  field: string
  from: unknown
  to: unknown
}

interface PlanOptions {
  prune: boolean
  /** Whether to save all secrets again. Masked secrets differ only if their last characters do. */
  updateSecrets: boolean
}

/**
 * Returns the changes that make the server equal to the files: additions and changes in file order, then
 * deletions in reverse order.
 * Only kinds that the files define are compared. Without `prune`, entries that no file defines stay.
 */
export const planChanges = (
  desired: readonly DesiredEntry[],
  current: readonly CurrentEntry[],
  { prune, updateSecrets }: PlanOptions,
): Change[] => {
  const known = new Map(current.map((entry) => [identify(entry), entry]))
  const wanted = new Set(desired.map(identify))
  const changes = desired.flatMap((entry): Change[] => {
    const present = known.get(identify(entry))
    if (!present) return [{ action: 'add', desired: entry }]
    const again = updateSecrets ? Object.keys(entry.secrets ?? {}) : []
    const fields = compareFields(present.fields, entry.fields, again)
    return fields.length === 0 ? [] : [{ action: 'change', desired: entry, current: present, fields }]
  })
  const surplus = current
    .filter((entry) => entry.isSaved && !entry.isPermanent && !wanted.has(identify(entry)))
    .toReversed()
  return prune ? [...changes, ...surplus.map((entry): Change => ({ action: 'delete', current: entry }))] : changes
}

const identify = ({ kind, key }: DesiredEntry): string => `${kind} ${key}`

/** Compares the fields that the file defines. Fields that it leaves out keep their value. `again` always differ. */
const compareFields = (current: Fields, desired: Fields, again: readonly string[]): FieldChange[] =>
  Object.entries(desired)
    .filter(([, to]) => to !== undefined)
    .filter(([field, to]) => again.includes(field) || !isDeepStrictEqual(toPlain(current[field]), toPlain(to)))
    .map(([field, to]) => ({ field, from: current[field], to }))

/** Returns a value as JSON transports it, so that absent and undefined fields are equal. */
const toPlain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)))
