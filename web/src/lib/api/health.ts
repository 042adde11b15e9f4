import { queryOptions } from '@tanstack/svelte-query'
import { call, type ResponseBody, type RouteBody, type RouteData } from './call.ts'
import { createRouteQuery } from './route-query.ts'

/** Query key prefix of all health queries, so that a change invalidates them together. */
export const healthKey = ['health'] as const

/** Maximum number of history entries per response. */
export const maxHistoryEntries = 200

export type AlertState = ResponseBody<'GET /api/v1/health/alert-state'>
export type ActiveCondition = AlertState['data'][number]
export type Check = RouteData<'GET /api/v1/health/checks'>[number]
export type ConditionHistoryEntry = RouteData<'GET /api/v1/health/history'>[number]
export type Silence = RouteData<'GET /api/v1/health/ack'>[number]
export type HostHealthSnapshot = RouteData<'GET /api/v1/health/snapshot'>[number]
export type AlertConfig = ResponseBody<'GET /api/v1/health/alert-config'>

/** A host by its position in the list, or all hosts. */
export type HostScope = number | 'all'

const toHostParameter = (scope: HostScope) => (scope === 'all' ? {} : { hostId: scope })

/** Query for the conditions that are not ok. */
export const alertStateQuery = (scope: HostScope) =>
  queryOptions({
    queryKey: [...healthKey, 'state', scope],
    queryFn: ({ signal }) => call('GET /api/v1/health/alert-state', { query: toHostParameter(scope), signal }),
  })

/** Query for the key metrics of all hosts. */
export const snapshotQuery = () => createRouteQuery(healthKey, 'GET /api/v1/health/snapshot')

/** Query for the checks of one host. They change only with a sweep, so the time of the sweep is part of the key. */
export const checksQuery = (host: number, sweptAtMs: number | null | undefined) =>
  queryOptions({
    queryKey: [...healthKey, 'checks', host, sweptAtMs],
    queryFn: ({ signal }) => call('GET /api/v1/health/checks', { query: { hostId: host }, signal }),
    staleTime: Infinity,
  })

/** Query for the condition history of one day, or for the latest entries. */
export const historyQuery = (scope: HostScope, day: string | null) =>
  queryOptions({
    queryKey: [...healthKey, 'history', scope, day],
    queryFn: ({ signal }) =>
      call('GET /api/v1/health/history', {
        query: { ...toHostParameter(scope), day, limit: maxHistoryEntries },
        signal,
      }),
  })

/** Query for silences with author and reason. Its key includes the silenced conditions, so that changes refetch it. */
export const silencesQuery = (silenced: readonly string[]) =>
  queryOptions({
    queryKey: [...healthKey, 'silences', silenced],
    enabled: silenced.length > 0,
    staleTime: Infinity,
    queryFn: ({ signal }) => call('GET /api/v1/health/ack', { signal }),
  })

const alertConfigStaleTimeMs = 10 * 60_000

/** Query for the alert configuration: whether alerting is enabled, its channels, and whether changes can be stored. */
export const alertConfigQuery = () =>
  queryOptions({
    queryKey: [...healthKey, 'config'],
    queryFn: ({ signal }) => call('GET /api/v1/health/alert-config', { signal }),
    staleTime: alertConfigStaleTimeMs,
  })

/** Query for rows that explain a condition. They are fetched once, regardless of the refresh interval of the page. */
export const diagnosisQuery = (host: number, ruleId: string) =>
  queryOptions({
    queryKey: [...healthKey, 'diagnosis', host, ruleId],
    queryFn: ({ signal }) => call('POST /api/v1/health/actions', { signal, body: { hostId: host, ruleId } }),
    staleTime: 60_000,
  })

/**
 * The key of a condition. It includes the episode, so that a later episode is not silenced by mistake. Conditions from
 * inbound events belong to no host and are identified by their episode alone.
 */
export type ConditionKey = { hostId: number; ruleId: string; episode: string } | { episode: string }

/** Returns the key of a condition; undefined if its host is no longer configured. */
export const toConditionKey = ({ source, hostId, ruleId, episode }: ActiveCondition): ConditionKey | undefined => {
  if (source !== null) return { episode }
  return hostId === null ? undefined : { hostId, ruleId, episode }
}

type AckBody = RouteBody<'POST /api/v1/health/inbound/{episode}/ack'>
type DismissBody = RouteBody<'POST /api/v1/health/inbound/{episode}/dismiss'>

export const acknowledgeCondition = (conditionKey: ConditionKey, body: AckBody) =>
  'ruleId' in conditionKey
    ? call('POST /api/v1/health/ack', { body: { ...conditionKey, ...body } })
    : call('POST /api/v1/health/inbound/{episode}/ack', { path: conditionKey, body: body })

export const dismissCondition = (conditionKey: ConditionKey, body: DismissBody) =>
  'ruleId' in conditionKey
    ? call('POST /api/v1/health/dismiss', { body: { ...conditionKey, ...body } })
    : call('POST /api/v1/health/inbound/{episode}/dismiss', { path: conditionKey, body: body })

const silencePathSegments = { ack: 'ack', dismissal: 'dismiss' } as const

/** Removes an acknowledgement or a dismissal. */
export const removeSilence = (kind: keyof typeof silencePathSegments, conditionKey: ConditionKey) =>
  'ruleId' in conditionKey
    ? call(`DELETE /api/v1/health/${silencePathSegments[kind]}`, {
        query: { hostId: conditionKey.hostId, ruleId: conditionKey.ruleId },
      })
    : call(`DELETE /api/v1/health/inbound/{episode}/${silencePathSegments[kind]}`, { path: conditionKey })
