import { z } from 'zod'
import { AlertHistoryEntry } from '../alert-history.ts'
import { createTimeParameter, hostId, textParameter } from './parameters.ts'
import { createResponseSchema } from './response.ts'

const Episode = textParameter.min(1, 'must not be empty').max(160, 'must not be longer than 160 characters')

/** Path parameters of requests about one incident, which is an episode of a condition. */
export const IncidentPath = z.object({ episode: Episode })
/** Path parameters of requests about one note. */
export const IncidentNotePath = z.object({ episode: Episode, id: z.string().regex(/^[a-z0-9-]{1,64}$/) })

/** The stored note of a user about an incident. */
export const StoredIncidentNote = z.object({
  id: z.string(),
  episode: z.string(),
  text: z.string(),
  /** Subject of the author, and the name under which the note is shown. */
  subject: z.string(),
  by: z.string(),
  atMs: z.int(),
})
export type StoredIncidentNote = z.infer<typeof StoredIncidentNote>

const IncidentNote = StoredIncidentNote.omit({ episode: true, subject: true }).extend({
  /** Whether the caller wrote the note, and may therefore delete it. */
  isOwn: z.boolean(),
})
export type IncidentNote = z.infer<typeof IncidentNote>

/** Query parameters of `GET /api/v1/incidents/{episode}`. `since` is the start of the episode. */
export const IncidentQuery = z.strictObject({ hostId, since: createTimeParameter('milliseconds') })
/** Response of `GET /api/v1/incidents/{episode}`: the events of the episode and the notes, oldest first. */
export const IncidentResponse = createResponseSchema(
  z.object({
    events: z.array(AlertHistoryEntry.omit({ hostKey: true })),
    notes: z.array(IncidentNote),
  }),
  /** `persistent` is false if notes are lost when the process ends. */
  z.object({ host: z.string(), persistent: z.boolean() }),
)
/** Body of `POST /api/v1/incidents/{episode}/notes`. */
export const NewIncidentNote = z.strictObject({
  text: z.string().trim().min(1, 'must not be empty').max(4_000, 'must not be longer than 4000 characters'),
})
/** Response with one note. */
export const IncidentNoteResponse = createResponseSchema(IncidentNote, z.object({}))
