import { hash } from 'node:crypto'
import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { type InsightRow, type InsightRowSet, insightRowSets, isReplicationRowSet } from '#proto/insight-rows.ts'
import type { Insight } from '#proto/insights.ts'
import type { query } from '#proto/query.ts'
import type { Store } from '#shared/store/store.ts'
import { beginningOf } from '#shared/text/cut.ts'
import { detectors as allDetectors } from '../detectors/index.ts'
import {
  type AnyDetector,
  type Fleet,
  nothing,
  type Outcome,
  type Sight,
  figuresOf,
  leaveFigures,
  type HostFacts,
  type HostFigures,
  readFigures,
} from '../measures/detector.ts'

/** What was found, and what could not be told, in words. */
interface Found {
  insights: Insight[]
  notes: string[]
}

const longestNote = 500

interface Told {
  rows: readonly unknown[]
  sql: string
}

/** Asks a host for every set of rows, one after another, and has every detector look at those that it wants. */
export const lookAt = async (looking: Looking): Promise<Found> => {
  const { detectors = allDetectors } = looking
  const wanted = [...new Set(detectors.flatMap(({ sets }) => sets))]
  const told = new Map<InsightRowSet, Told>()
  const notes: string[] = []
  let failure: unknown
  for (const set of wanted) {
    try {
      const { rows, sql, unavailable } = await looking.query.insightRows(
        { hostKey: looking.hostKey, set },
        looking.call,
      )
      if (unavailable) notes.push(`${set}: ${unavailable.message}`)
      else told.set(set, { rows, sql })
    } catch (error) {
      // What one statement fails on, the others may answer.
      if (!(error instanceof ServiceError)) throw error
      failure = error
      notes.push(`${set}: ${error.message}`)
    }
  }
  const isToldByHost = [...told.keys()].some((set) => !isReplicationRowSet(set))
  if (failure !== undefined && !isToldByHost) throw failure
  const figures = figuresOf(rowsOf('fingerprint-days', told) ?? [], rowsOf('settings', told))
  await leaveFigures(looking.store, looking.hostKey, figures)
  const fleet = await readFleet(looking, figures)
  const outcomes = detectors.map((detector) => ({ detector, outcome: outcomeOf(detector, told, fleet) }))
  notes.push(...outcomes.flatMap(({ outcome }) => outcome.notes))
  const insights = outcomes.flatMap(({ detector, outcome }) =>
    outcome.sights.map((sight) => insightOf(looking, detector, sight, evidenceOf(detector, told))),
  )
  // Sights of one subject on one day are one insight.
  const byId = new Map(insights.map((insight) => [insight.id, insight]))
  return { insights: [...byId.values()], notes: notes.map((note) => beginningOf(note, longestNote)) }
}

/** The rows of one set, checked; undefined when it was not told. */
const rowsOf = <S extends InsightRowSet>(
  set: S,
  told: ReadonlyMap<InsightRowSet, Told>,
): InsightRow<S>[] | undefined => {
  const rows = told.get(set)?.rows
  // Checked against the schema that the type of a row is made of.
  return rows && (z.array(insightRowSets[set]).parse(rows) as InsightRow<S>[])
}

/** A detector looks when its first set was told; of the others, what was not told is empty. */
const outcomeOf = (detector: AnyDetector, told: ReadonlyMap<InsightRowSet, Told>, fleet: Fleet): Outcome => {
  const [first] = detector.sets
  if (first !== undefined && !told.has(first)) return nothing
  return detector.look(Object.fromEntries(detector.sets.map((set) => [set, told.get(set)?.rows ?? []])), fleet)
}

/** The statement that shows what a detector looked at. */
const evidenceOf = ({ sets: [first], evidenceSql = '' }: AnyDetector, told: ReadonlyMap<InsightRowSet, Told>): string =>
  (first && told.get(first)?.sql) ?? evidenceSql

const longestSubject = 300

/** An insight out of what a detector saw. */
const insightOf = (
  { hostKey, nowMs }: Pick<Looking, 'hostKey' | 'nowMs'>,
  { kind, signal, window, link }: Pick<AnyDetector, 'kind' | 'signal' | 'window' | 'link'>,
  { show, ...sight }: Sight,
  evidenceSql: string,
): Insight => {
  const day = new Date(nowMs).toISOString().slice(0, 10)
  const subject = beginningOf(sight.subject, longestSubject)
  return {
    id: hash('sha256', JSON.stringify([hostKey, kind, sight.subject, day])).slice(0, 32),
    hostKey,
    kind,
    day,
    signal,
    window,
    ...sight,
    subject,
    title: beginningOf(sight.title, 200),
    detail: beginningOf(sight.detail, 2_000),
    evidenceSql,
    link: show ? `${link}?${new URLSearchParams(show).toString()}` : link,
    foundAtMs: nowMs,
    dismissed: null,
  }
}

/** Others of the same group that a host is compared with, at most. */
const mostCompared = 32

/** What is known about a host and the others of the list, without asking the others: they left their figures when they were looked at. */
const readFleet = async (looking: Looking, figures: HostFigures): Promise<Fleet> => {
  const { query, call, hostKey, store } = looking
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
  const compared = others.filter(({ group }) => group === own.group).slice(0, mostCompared)
  const left = await Promise.all(compared.map(async ({ key }) => [key, await readFigures(store, key)] as const))
  const figuresByKey = new Map(left)
  return {
    self: { ...own, figures, ...(await now(looking)) },
    peers: others.map((peer) => ({ ...peer, figures: figuresByKey.get(peer.key) ?? null })),
  }
}

/** What the host says of itself now; nothing where it does not, or the caller may not know. */
const now = async ({ query, call, hostKey }: Looking): Promise<Partial<HostFacts>> => {
  try {
    const { version, clockSkewMs } = await query.hostStatus({ hostKey }, call)
    return { version, clockSkewMs }
  } catch (error) {
    if (error instanceof ServiceError) return {}
    throw error
  }
}

/** Whom to ask about which host. */
interface Looking {
  query: Client<typeof query>
  call: Call
  hostKey: string
  nowMs: number
  /** Where hosts leave what others of their group are compared with. */
  store: Store
  /** All of them unless others are named. */
  detectors?: readonly AnyDetector[]
}
