import { hash } from 'node:crypto'
import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { type InsightRow, type InsightRowSet, insightRowSets, isReplicationRowSet } from '#proto/insight-rows.ts'
import type { Insight } from '#proto/insights.ts'
import { markInstant } from '#proto/instant-marks.ts'
import type { query } from '#proto/query.ts'
import type { Store } from '#shared/store/store.ts'
import { shortenText } from '#shared/text/strings.ts'
import { detectors as allDetectors } from '../detectors/index.ts'
import {
  type AnyDetector,
  type Fleet,
  emptyOutcome,
  type DetectorOutcome,
  type Observation,
  collectHostStatistics,
  storeHostStatistics,
  type HostFacts,
  type HostStatistics,
  readHostStatistics,
} from '../detection/detector.ts'

/** The insights of a scan, and notes that explain missing data. */
interface ScanResult {
  insights: Insight[]
  notes: string[]
}

const maxNoteLength = 500

interface RowSet {
  rows: readonly unknown[]
  sql: string
}

/** Fetches the row sets of a host, one after another, and runs the detectors on them. */
export const scanHost = async (context: ScanContext): Promise<ScanResult> => {
  const { detectors = allDetectors } = context
  const needed = [...new Set(detectors.flatMap(({ sets }) => sets))]
  const rowSets = new Map<InsightRowSet, RowSet>()
  const notes: string[] = []
  let failure: unknown
  for (const set of needed) {
    try {
      const { rows, sql, unavailable, incomplete } = await context.query.insightRows(
        { hostKey: context.hostKey, set },
        context.call,
      )
      if (unavailable) notes.push(`${set}: ${unavailable.message}`)
      if (incomplete) notes.push(`${set} is incomplete: ${incomplete.message}; to see them, run ${incomplete.grant}`)
      else rowSets.set(set, { rows, sql })
    } catch (error) {
      // If one statement fails, the others may still succeed.
      if (!(error instanceof ServiceError)) throw error
      failure = error
      notes.push(`${set}: ${error.message}`)
    }
  }
  const hasHostRows = [...rowSets.keys()].some((set) => !isReplicationRowSet(set))
  if (failure !== undefined && !hasHostRows) throw failure
  const figures = collectHostStatistics(parseRows('fingerprint-days', rowSets) ?? [], parseRows('settings', rowSets))
  await storeHostStatistics(context.store, context.hostKey, figures)
  const fleet = await readFleet(context, figures)
  const outcomes = detectors.map((detector) => ({ detector, outcome: evaluateDetector(detector, rowSets, fleet) }))
  notes.push(...outcomes.flatMap(({ outcome }) => outcome.notes))
  const insights = outcomes.flatMap(({ detector, outcome }) =>
    outcome.observations.map((observation) =>
      createInsight(context, detector, observation, getEvidenceSql(detector, rowSets)),
    ),
  )
  // Observations of the same kind and subject on the same day have the same id, so they are one insight.
  const byId = new Map(insights.map((insight) => [insight.id, insight]))
  return { insights: [...byId.values()], notes: notes.map((note) => shortenText(note, maxNoteLength)) }
}

/** Returns the validated rows of a row set; undefined if it is missing. */
const parseRows = <S extends InsightRowSet>(
  set: S,
  rowSets: ReadonlyMap<InsightRowSet, RowSet>,
): InsightRow<S>[] | undefined => {
  const rows = rowSets.get(set)?.rows
  // The cast is safe, because the row type is derived from the schema that validates the rows.
  return rows && (z.array(insightRowSets[set]).parse(rows) as InsightRow<S>[])
}

/** Runs a detector if its first row set is available. Other missing row sets count as empty. */
const evaluateDetector = (
  detector: AnyDetector,
  rowSets: ReadonlyMap<InsightRowSet, RowSet>,
  fleet: Fleet,
): DetectorOutcome => {
  const [first] = detector.sets
  if (first !== undefined && !rowSets.has(first)) return emptyOutcome
  return detector.evaluate(Object.fromEntries(detector.sets.map((set) => [set, rowSets.get(set)?.rows ?? []])), fleet)
}

/** Returns the evidence of a detector: the statement of its first row set, or its own statement. */
const getEvidenceSql = (
  { sets: [first], evidenceSql = '' }: AnyDetector,
  rowSets: ReadonlyMap<InsightRowSet, RowSet>,
): string => (first && rowSets.get(first)?.sql) ?? evidenceSql

const maxSubjectLength = 300

/** Creates an insight from an observation of a detector. */
const createInsight = (
  { hostKey, nowMs }: Pick<ScanContext, 'hostKey' | 'nowMs'>,
  { kind, signal, window, link }: Pick<AnyDetector, 'kind' | 'signal' | 'window' | 'link'>,
  { show, ...observation }: Observation,
  evidenceSql: string,
): Insight => {
  const day = new Date(nowMs).toISOString().slice(0, 10)
  const subject = shortenText(observation.subject, maxSubjectLength)
  return {
    id: hash('sha256', JSON.stringify([hostKey, kind, observation.subject, day])).slice(0, 32),
    hostKey,
    kind,
    day,
    signal,
    window,
    ...observation,
    subject,
    title: shortenText(observation.title, 200),
    detail: shortenText(resolveDetail(observation.detail, nowMs), 2_000),
    evidenceSql,
    link: show ? `${link}?${new URLSearchParams(show).toString()}` : link,
    foundAtMs: nowMs,
    dismissed: null,
  }
}

const resolveDetail = (detail: Observation['detail'], nowMs: number): string =>
  typeof detail === 'string' ? detail : detail((seconds) => markInstant(nowMs + seconds * 1_000))

/** Maximum number of other hosts of the group with which a host is compared. */
const maxComparedHosts = 32

/** Returns the facts about all hosts. The statistics of other hosts are those that their last scans stored. */
const readFleet = async (context: ScanContext, figures: HostStatistics): Promise<Fleet> => {
  const { query, call, hostKey, store } = context
  const [hosts, states] = await Promise.all([query.hosts({}, call), query.hostStates({}, call)])
  const versions = new Map(states.map(({ key, version }) => [key, version]))
  const facts = hosts.map(({ key, name, group }) => ({
    key,
    name,
    group,
    version: versions.get(key) ?? null,
    clockSkewMs: null,
    figures: null,
  }))
  const listed = facts.find(({ key }) => key === hostKey)
  const own: HostFacts = listed ?? { name: hostKey, group: null, version: null, clockSkewMs: null, figures: null }
  const others = facts.filter(({ key }) => key !== hostKey)
  const compared = others.filter(({ group }) => group === own.group).slice(0, maxComparedHosts)
  const figuresOfPeers = await Promise.all(
    compared.map(async ({ key }) => [key, await readHostStatistics(store, key)] as const),
  )
  const figuresByKey = new Map(figuresOfPeers)
  return {
    self: { ...own, figures, ...(await readCurrentFacts(context)) },
    peers: others.map((peer) => ({ ...peer, figures: figuresByKey.get(peer.key) ?? null })),
  }
}

/** Returns the current version and clock skew of a host; an empty object if the request fails. */
const readCurrentFacts = async ({ query, call, hostKey }: ScanContext): Promise<Partial<HostFacts>> => {
  try {
    const { version, clockSkewMs } = await query.hostStatus({ hostKey }, call)
    return { version, clockSkewMs }
  } catch (error) {
    if (error instanceof ServiceError) return {}
    throw error
  }
}

/** The host to scan, and the dependencies of a scan. */
interface ScanContext {
  query: ServiceClient<typeof query>
  call: CallContext
  hostKey: string
  nowMs: number
  /** The store of the statistics with which hosts are compared. */
  store: Store
  /** The detectors to run; all by default. */
  detectors?: readonly AnyDetector[]
}
