import { DashboardResponse, SavedViewResponse } from '#proto/http/dashboards.ts'
import { IncidentNoteResponse } from '#proto/http/incidents.ts'
import type { ValidRequest } from './valid-requests.ts'

const base = '/api/v1/dashboards'
const views = '/api/v1/saved-views'
const incidents = '/api/v1/incidents'

/** A dashboard with a chart, a statement and a variable. */
export const sampleDashboard = {
  schemaVersion: 1,
  title: 'Shop',
  folder: 'Team',
  variables: [{ kind: 'query', name: 'shop', sql: 'SELECT DISTINCT shop FROM orders' }],
  panels: [
    { id: 'a', kind: 'chart', x: 0, y: 0, w: 6, h: 6, chart: 'query-count' },
    {
      id: 'b',
      kind: 'sql',
      x: 6,
      y: 0,
      w: 6,
      h: 6,
      sql: 'SELECT count() FROM orders WHERE shop = {shop}',
      view: 'number',
    },
    { id: 'c', kind: 'table', x: 0, y: 6, w: 12, h: 6, table: 'running-queries' },
  ],
}

/** Returns valid requests for the routes of dashboards, saved views and incidents, by route. */
export const createDashboardRequests = (
  post: (request: ValidRequest) => Promise<unknown>,
): Record<string, () => Promise<ValidRequest>> => {
  const add = { url: base, body: { content: sampleDashboard } }
  const added = async () => `${base}/${DashboardResponse.parse(await post(add)).data.id}`
  const view = { url: views, body: { table: 'running-queries', name: 'Slow', query: 'sort=elapsed.desc' } }
  const note = { url: `${incidents}/e1/notes`, body: { text: 'Restarted the server' } }
  return {
    [`GET ${base}`]: async () => ({ url: base }),
    [`POST ${base}`]: async () => add,
    [`POST ${base}/import`]: async () => ({ url: `${base}/import`, body: { content: sampleDashboard } }),
    [`GET ${base}/{id}`]: async () => ({ url: `${await added()}?version=1` }),
    [`PUT ${base}/{id}`]: async () => ({ url: await added(), body: { version: 1, content: sampleDashboard } }),
    [`DELETE ${base}/{id}`]: async () => ({ url: await added() }),
    [`GET ${base}/{id}/versions`]: async () => ({ url: `${await added()}/versions` }),
    [`POST ${base}/{id}/restore`]: async () => ({ url: `${await added()}/restore`, body: { version: 1, current: 1 } }),
    [`GET ${base}/{id}/export`]: async () => ({ url: `${await added()}/export?format=grafana&hostId=1` }),
    [`POST ${base}/{id}/rows`]: async () => ({
      url: `${await added()}/rows`,
      body: { panel: 'b', values: { shop: 'x' } },
    }),
    [`GET ${incidents}/{episode}`]: async () => ({ url: `${incidents}/e1?hostId=0&since=2026-06-01T12:00:00Z` }),
    [`POST ${incidents}/{episode}/notes`]: async () => note,
    [`DELETE ${incidents}/{episode}/notes/{id}`]: async () => ({
      url: `${note.url}/${IncidentNoteResponse.parse(await post(note)).data.id}`,
    }),
    [`GET ${views}`]: async () => ({ url: `${views}?table=running-queries` }),
    [`POST ${views}`]: async () => view,
    [`DELETE ${views}/{id}`]: async () => ({
      url: `${views}/${SavedViewResponse.parse(await post(view)).data.id}`,
    }),
  }
}
