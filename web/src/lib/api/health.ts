import { queryOptions } from '@tanstack/svelte-query'
import { call, type Answer, type Body, type Data } from './call.ts'
import { routeQuery } from './route-query.ts'

/** Every query below begins with this key, so that what an operator says renews them all. */
export const healthKey = ['health'] as const

/** The most lines of the history that one answer has. */
export const mostLines = 200

export type AlertState = Answer<'GET /api/v1/health/alert-state'>
export type LiveCondition = AlertState['data'][number]
export type Check = Data<'GET /api/v1/health/checks'>[number]
export type HistoryLine = Data<'GET /api/v1/health/history'>[number]
export type Silence = Data<'GET /api/v1/health/ack'>[number]
export type HostFigures = Data<'GET /api/v1/health/snapshot'>[number]
export type AlertConfig = Answer<'GET /api/v1/health/alert-config'>

/** A host by its position, or all of them. */
export type Scope = number | 'all'

const ofScope = (scope: Scope) => (scope === 'all' ? {} : { hostId: scope })

/** What is not ok now. */
export const alertStateQuery = (scope: Scope) =>
  queryOptions({
    queryKey: [...healthKey, 'state', scope],
    queryFn: ({ signal }) => call('GET /api/v1/health/alert-state', { query: ofScope(scope), signal }),
  })

/** All hosts in a few figures. */
export const snapshotQuery = () => routeQuery(healthKey, 'GET /api/v1/health/snapshot')

/** Every rule on one host. Only a sweep changes them, so the sweep is part of what is asked for. */
export const checksQuery = (host: number, sweptAtMs: number | null | undefined) =>
  queryOptions({
    queryKey: [...healthKey, 'checks', host, sweptAtMs],
    queryFn: ({ signal }) => call('GET /api/v1/health/checks', { query: { hostId: host }, signal }),
    staleTime: Infinity,
  })

/** What became of conditions, on one day or lately. */
export const historyQuery = (scope: Scope, day: string | null) =>
  queryOptions({
    queryKey: [...healthKey, 'history', scope, day],
    queryFn: ({ signal }) =>
      call('GET /api/v1/health/history', { query: { ...ofScope(scope), day, limit: mostLines }, signal }),
  })

/** Who has silenced conditions, and why. What is silenced is part of what is asked for, so that it is asked when that changes. */
export const silencesQuery = (silenced: readonly string[]) =>
  queryOptions({
    queryKey: [...healthKey, 'silences', silenced],
    enabled: silenced.length > 0,
    staleTime: Infinity,
    queryFn: ({ signal }) => call('GET /api/v1/health/ack', { signal }),
  })

const configAgeMs = 10 * 60_000

/** Whether anybody is told, by which channels, and whether what operators say can be kept. */
export const alertConfigQuery = () =>
  queryOptions({
    queryKey: [...healthKey, 'config'],
    queryFn: ({ signal }) => call('GET /api/v1/health/alert-config', { signal }),
    staleTime: configAgeMs,
  })

/** The rows that explain a rule on a host; asked of the host, so once and not with every refresh. */
export const diagnosisQuery = (host: number, ruleId: string) =>
  queryOptions({
    queryKey: [...healthKey, 'diagnosis', host, ruleId],
    queryFn: ({ signal }) => call('POST /api/v1/health/actions', { signal, body: { hostId: host, ruleId } }),
    staleTime: 60_000,
  })

/**
 * How a condition is named to the service: with its episode, so that a later one is not silenced by mistake. What an inbound
 * event began is on no host, and its episode is all its name.
 */
export type Named = { hostId: number; ruleId: string; episode: string } | { episode: string }

/** Undefined for what is on a host that is not in the list any more. */
export const nameOf = ({ source, hostId, ruleId, episode }: LiveCondition): Named | undefined => {
  if (source !== null) return { episode }
  return hostId === null ? undefined : { hostId, ruleId, episode }
}

type Said = Body<'POST /api/v1/health/inbound/{episode}/ack'>
type Dismissed = Body<'POST /api/v1/health/inbound/{episode}/dismiss'>

export const acknowledge = (named: Named, said: Said) =>
  'ruleId' in named
    ? call('POST /api/v1/health/ack', { body: { ...named, ...said } })
    : call('POST /api/v1/health/inbound/{episode}/ack', { path: named, body: said })

export const dismiss = (named: Named, said: Dismissed) =>
  'ruleId' in named
    ? call('POST /api/v1/health/dismiss', { body: { ...named, ...said } })
    : call('POST /api/v1/health/inbound/{episode}/dismiss', { path: named, body: said })

const kinds = { ack: 'ack', dismissal: 'dismiss' } as const

/** Takes an acknowledgement or a dismissal back. */
export const takeBack = (kind: keyof typeof kinds, named: Named) =>
  'ruleId' in named
    ? call(`DELETE /api/v1/health/${kinds[kind]}`, { query: { hostId: named.hostId, ruleId: named.ruleId } })
    : call(`DELETE /api/v1/health/inbound/{episode}/${kinds[kind]}`, { path: named })
