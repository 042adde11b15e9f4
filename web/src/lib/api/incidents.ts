import { call, type RouteData } from './call.ts'
import { createRouteQuery } from './route-query.ts'

/** Query key of an incident. */
export const getIncidentKey = (episode: string) => ['incident', episode]

export type Incident = RouteData<'GET /api/v1/incidents/{episode}'>

/** Query for the events and notes of one episode of a condition. */
export const incidentQuery = (episode: string, hostId: number, since: number) =>
  createRouteQuery(getIncidentKey(episode), 'GET /api/v1/incidents/{episode}', {
    path: { episode },
    query: { hostId, since },
  })

export const addIncidentNote = (episode: string, text: string) =>
  call('POST /api/v1/incidents/{episode}/notes', { path: { episode }, body: { text } })

export const deleteIncidentNote = (episode: string, id: string) =>
  call('DELETE /api/v1/incidents/{episode}/notes/{id}', { path: { episode, id } })
