import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type {
  AlertConfigAnswer,
  AlertStateAnswer,
  ChecksAnswer,
  DiagnosisAnswer,
  HistoryAnswer,
  InboundAckRequest,
  InboundDismissRequest,
  SilenceAnswer,
  SilencesAnswer,
  SnapshotAnswer,
} from '#proto/http/alerts.ts'
import { requestJson } from './request.ts'

const base = '/api/v1/health'

/** Every query below begins with this key, so that what an operator says renews them all. */
export const healthKey = ['health'] as const

/** The most lines of the history that one answer has. */
export const mostLines = 200

export type AlertState = z.infer<typeof AlertStateAnswer>
export type LiveCondition = AlertState['data'][number]
export type Check = z.infer<typeof ChecksAnswer>['data'][number]
export type HistoryLine = z.infer<typeof HistoryAnswer>['data'][number]
export type Silence = z.infer<typeof SilencesAnswer>['data'][number]
export type HostFigures = z.infer<typeof SnapshotAnswer>['data'][number]
export type AlertConfig = z.infer<typeof AlertConfigAnswer>

/** A host by its position, or all of them. */
export type Scope = number | 'all'

const ofScope = (scope: Scope): Record<string, string> => (scope === 'all' ? {} : { hostId: String(scope) })

/** What is not ok now. */
export const alertStateQuery = (scope: Scope) =>
  queryOptions({
    queryKey: [...healthKey, 'state', scope],
    queryFn: ({ signal }) =>
      requestJson<AlertState>(`${base}/alert-state?${new URLSearchParams(ofScope(scope))}`, { signal }),
  })

/** All hosts in a few figures. */
export const snapshotQuery = () =>
  queryOptions({
    queryKey: [...healthKey, 'snapshot'],
    queryFn: ({ signal }) => requestJson<z.infer<typeof SnapshotAnswer>>(`${base}/snapshot`, { signal }),
  })

/** Every rule on one host. Only a sweep changes them, so the sweep is part of what is asked for. */
export const checksQuery = (host: number, sweptAtMs: number | null | undefined) =>
  queryOptions({
    queryKey: [...healthKey, 'checks', host, sweptAtMs],
    queryFn: ({ signal }) => requestJson<z.infer<typeof ChecksAnswer>>(`${base}/checks?hostId=${host}`, { signal }),
    staleTime: Infinity,
  })

/** What became of conditions, on one day or lately. */
export const historyQuery = (scope: Scope, day: string | null) =>
  queryOptions({
    queryKey: [...healthKey, 'history', scope, day],
    queryFn: ({ signal }) => {
      const search = new URLSearchParams({ ...ofScope(scope), ...(day && { day }), limit: String(mostLines) })
      return requestJson<z.infer<typeof HistoryAnswer>>(`${base}/history?${search}`, { signal })
    },
  })

/** Who has silenced conditions, and why. What is silenced is part of what is asked for, so that it is asked when that changes. */
export const silencesQuery = (silenced: readonly string[]) =>
  queryOptions({
    queryKey: [...healthKey, 'silences', silenced],
    enabled: silenced.length > 0,
    staleTime: Infinity,
    queryFn: ({ signal }) => requestJson<z.infer<typeof SilencesAnswer>>(`${base}/ack`, { signal }),
  })

const configAgeMs = 10 * 60_000

/** Whether anybody is told, by which channels, and whether what operators say can be kept. */
export const alertConfigQuery = () =>
  queryOptions({
    queryKey: [...healthKey, 'config'],
    queryFn: ({ signal }) => requestJson<AlertConfig>(`${base}/alert-config`, { signal }),
    staleTime: configAgeMs,
  })

/** The rows that explain a rule on a host; asked of the host, so once and not with every refresh. */
export const diagnosisQuery = (host: number, ruleId: string) =>
  queryOptions({
    queryKey: [...healthKey, 'diagnosis', host, ruleId],
    queryFn: ({ signal }) =>
      requestJson<z.infer<typeof DiagnosisAnswer>>(`${base}/actions`, { signal, body: { hostId: host, ruleId } }),
    staleTime: 60_000,
  })

type Silenced = z.infer<typeof SilenceAnswer>

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

const paths = { ack: 'ack', dismissal: 'dismiss' } as const
type Kind = keyof typeof paths

const inboundPath = (kind: Kind, { episode }: Named): string =>
  `${base}/inbound/${encodeURIComponent(episode)}/${paths[kind]}`

const silence = (kind: Kind, named: Named, said: object) =>
  'ruleId' in named
    ? requestJson<Silenced>(`${base}/${paths[kind]}`, { body: { ...named, ...said } })
    : requestJson<Silenced>(inboundPath(kind, named), { body: said })

export const acknowledge = (named: Named, said: z.input<typeof InboundAckRequest>) => silence('ack', named, said)
export const dismiss = (named: Named, said: z.input<typeof InboundDismissRequest>) => silence('dismissal', named, said)

/** Takes an acknowledgement or a dismissal back. */
export const takeBack = (kind: Kind, named: Named) => {
  const method = 'DELETE'
  if (!('ruleId' in named)) return requestJson<Silenced>(inboundPath(kind, named), { method })
  const search = new URLSearchParams({ hostId: String(named.hostId), ruleId: named.ruleId })
  return requestJson<Silenced>(`${base}/${paths[kind]}?${search}`, { method })
}
