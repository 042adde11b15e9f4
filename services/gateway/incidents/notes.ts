import { randomUUID } from 'node:crypto'
import { ServiceError } from '#proto/errors.ts'
import { StoredIncidentNote } from '#proto/http/incidents.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'

/** Notes of users about incidents. */
export interface IncidentNotes {
  /** False if the notes are lost when the process ends. */
  readonly persistent: boolean
  /** Returns the notes of an incident, oldest first. */
  list(episode: string): Promise<StoredIncidentNote[]>
  /** Adds a note; throws `conflict` if the incident has too many. */
  add(note: Omit<StoredIncidentNote, 'id'>): Promise<StoredIncidentNote>
  get(id: string): Promise<StoredIncidentNote | undefined>
  remove(id: string): Promise<void>
  /** Deletes notes from before this time, in epoch milliseconds; returns their number. */
  prune(beforeMs: number): Promise<number>
}

/** Maximum number of notes of one incident. */
const maxNotes = 200

const notes = defineCollection({
  name: 'watchhouse_incident_notes',
  schema: StoredIncidentNote,
  columns: { episode: 'text', atMs: 'integer' },
  indexes: [['episode', 'atMs'], ['atMs']],
  idOf: ({ id }) => id,
  valuesOf: (note) => note,
})

/** Opens the notes in the state database, or in memory without one. */
export const openIncidentNotes = async (database: Database | undefined): Promise<IncidentNotes> => {
  const collections = await openCollections('incidents', [notes], database)
  const stored = collections.of(notes)
  return {
    persistent: collections.kind !== 'memory',
    list: (episode) => stored.list({ where: { episode }, orderBy: 'atMs', limit: maxNotes }),
    add: async (note) => {
      if ((await stored.count({ episode: note.episode })) >= maxNotes)
        throw new ServiceError('conflict', `too many notes: an incident has at most ${maxNotes}`)
      const added = { ...note, id: randomUUID() }
      await stored.put([added])
      return added
    },
    get: (id) => stored.get(id),
    remove: async (id) => {
      await stored.remove({ id })
    },
    prune: (beforeMs) => stored.remove({ atMs: { before: beforeMs } }),
  }
}
