import type { AlertHistoryEntry } from '#proto/alert-history.ts'
import { maxAlertHistoryEntries } from '#proto/alerting.ts'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import {
  IncidentNotePath,
  IncidentNoteResponse,
  IncidentPath,
  IncidentQuery,
  IncidentResponse,
  type IncidentNote,
  NewIncidentNote,
  type StoredIncidentNote,
} from '#proto/http/incidents.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { nameAuthor } from '../dashboards/dashboards.ts'
import type { Gateway } from '../gateway.ts'
import { findMonitoredHost } from '../hosts/host-list.ts'
import { defineDeleteRoute, defineGetRoute, definePostRoute, type Route } from '../http-route.ts'
import { parseRequestInput } from '../request/parse.ts'
import { createSuccessBody } from '../response/envelope.ts'

const path = '/api/v1/incidents/{episode}'
const common = { feature: 'HEALTH', limit: 'data' } as const

const toNote = ({ episode: _, subject, ...note }: StoredIncidentNote, { identity }: CallContext): IncidentNote => ({
  ...note,
  isOwn: subject === identity.subject,
})

const read = defineGetRoute({
  ...common,
  path,
  doc: 'Returns the events of one episode of a condition, and the notes of users about it',
  access: 'read',
  query: IncidentQuery,
  answer: IncidentResponse,
  handle: async ({ path, query: { hostId, since }, call }, gateway) => {
    const { episode } = parseRequestInput(IncidentPath, path)
    const { key, name } = await findMonitoredHost(gateway.hosts, hostId)
    const [events, notes] = await Promise.all([
      readEvents(gateway, { hostKey: key, episode, fromMs: since }, call),
      gateway.incidentNotes.list(episode),
    ])
    return createSuccessBody(
      { events, notes: notes.map((note) => toNote(note, call)) },
      { host: name, persistent: gateway.incidentNotes.persistent },
    )
  },
})

/** Maximum number of pages of the history that are searched for the events of an episode. */
const maxPages = 25

/** Returns the events of an episode, oldest first. The history has no index by episode, so its pages are filtered. */
const readEvents = async (
  { alerts }: Gateway,
  { hostKey, episode, fromMs }: { hostKey: string; episode: string; fromMs: number },
  call: CallContext,
): Promise<Omit<AlertHistoryEntry, 'hostKey'>[]> => {
  const events = new Map<string, AlertHistoryEntry>()
  let toMs: number | undefined
  for (let page = 0; page < maxPages; page += 1) {
    const entries = await alerts.alertHistory({ hostKey, fromMs, toMs, limit: maxAlertHistoryEntries }, call)
    for (const entry of entries) if (entry.episode === episode) events.set(entry.id, entry)
    const oldestMs = entries.at(-1)?.atMs
    if (oldestMs === undefined || entries.length < maxAlertHistoryEntries) break
    // All events of a sweep have the same time, so the next page begins with that time again.
    toMs = oldestMs + 1 === toMs ? oldestMs : oldestMs + 1
  }
  return [...events.values()].map(({ hostKey: _, ...event }) => event).toReversed()
}

const addNote = definePostRoute({
  ...common,
  path: `${path}/notes`,
  doc: 'Adds a note to an incident',
  access: 'write',
  query: noQuery,
  body: NewIncidentNote,
  answer: IncidentNoteResponse,
  handle: async ({ path, body: { text }, call, requestId }, { audit, clock, incidentNotes }) => {
    const { episode } = parseRequestInput(IncidentPath, path)
    const { identity } = call
    const note = { episode, text, subject: identity.subject, by: nameAuthor(identity), atMs: clock.now() }
    const action = { action: 'add-incident-note', host: null, target: { episode } }
    const added = await audit.of(action, { call, requestId }, () => incidentNotes.add(note))
    return createSuccessBody(toNote(added, call), {})
  },
})

const removeNote = defineDeleteRoute({
  ...common,
  path: `${path}/notes/{id}`,
  doc: 'Deletes a note of the caller',
  access: 'write',
  query: noQuery,
  answer: IncidentNoteResponse,
  handle: async ({ path, call, requestId }, { audit, incidentNotes }) => {
    const { episode, id } = parseRequestInput(IncidentNotePath, path)
    const found = await incidentNotes.get(id)
    if (found?.episode !== episode) throw new ServiceError('not-found', `no note of this incident has the id "${id}"`)
    if (found.subject !== call.identity.subject)
      throw new ServiceError('forbidden', 'only its author can delete a note')
    const action = { action: 'delete-incident-note', host: null, target: { episode } }
    await audit.of(action, { call, requestId }, () => incidentNotes.remove(id))
    return createSuccessBody(toNote(found, call), {})
  },
})

/** Routes of incidents, which are episodes of conditions, and of the notes about them. */
export const incidentRoutes: readonly Route[] = [read, addNote, removeNote]
