import { type adviceMethods, type Recommendation, adviceKinds, type Savings } from '#proto/advice.ts'
import type { TableRead } from '#proto/advice-data.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { settings } from '../config.ts'
import type { ReportServiceDeps } from '../background-tasks.ts'
import { queryAdvisors } from './kinds/index.ts'
import { measureSavings, type MeasuredSavings } from './measure-savings.ts'
import { type AdviceContext, type Proposal, readAdviceSubject, type AdviceSubject } from './advice-subject.ts'

/** Time limit for the tests of all proposals, in milliseconds. Proposals that are not tested by then are unverified. */
const testingTimeoutMs = 20_000
/** Time before the deadline of the caller that is reserved for sending the response, in milliseconds. */
const marginMs = 1_000

/** Returns the handler for ranked advice on one query. */
export const createAdviseHandler =
  ({ env, clock, query }: ReportServiceDeps): ServiceHandlers<Service<typeof adviceMethods>>['advise'] =>
  async ({ hostKey, ...request }, call) => {
    const testCall = { ...call, deadline: Math.min(call.deadline - marginMs, clock.elapsedMs() + testingTimeoutMs) }
    const { SVC_ADVICE_READS_DATA: readsData } = parseSettings(settings, env)
    const context = { query, call, hostKey, testCall: readsData ? testCall : undefined }
    return adviseOnStatement(context, await findStatement(context, request))
  }

/** The query to advise on. */
interface AdvisedStatement {
  query: string
  database: string | undefined
  /** Set if the query comes from the query log. */
  queryId: string | undefined
}

interface AdviceRequest {
  query?: string | undefined
  queryId?: string | undefined
  database?: string | undefined
}

/** Returns the query of the request, or the query from the query log if the request has only a query id. */
const findStatement = async (
  { query, call, hostKey }: AdviceContext,
  { query: statement, queryId, database }: AdviceRequest,
): Promise<AdvisedStatement> => {
  if (statement !== undefined) return { query: statement, database, queryId: undefined }
  if (queryId === undefined) throw createInvalidError('query', 'advice requires either a query or a queryId')
  const { detail, unavailable } = await query.queryDetail({ hostKey, queryId }, call)
  if (!detail)
    throw createInvalidError(
      'queryId',
      `no query found for this queryId: ${unavailable?.message ?? 'the query log has no entry'}`,
    )
  const { kind, query: text, currentDatabase } = detail.summary
  if (kind !== 'Select')
    throw createInvalidError('queryId', `advice supports only SELECT; this query is of kind ${kind}`)
  return { query: text, database: currentDatabase || undefined, queryId }
}

const createInvalidError = (parameter: string, sentence: string): ServiceError =>
  new ServiceError('invalid', sentence, { details: { parameter } })

/** A proposal with its measured or estimated savings. */
export interface MeasuredProposal {
  proposal: Proposal
  measured: MeasuredSavings
}

/** Minimum share of the read data that a change must save. Smaller savings are noise from merges and inserts. */
const minShare = 0.2

/** Returns the worthwhile proposals, best first. Of several proposals with the same purpose, keeps only the best. */
export const rankProposals = <W extends MeasuredProposal>(weighed: readonly W[]): W[] => {
  const worth = weighed.filter(({ measured: { savings } }) => !savings || computeSavedShare(savings) >= minShare)
  const sorted = worth.toSorted(
    (a, b) =>
      roundSavingsToTenths(b) - roundSavingsToTenths(a) ||
      getEffort(a) - getEffort(b) ||
      getSavedBytes(b) - getSavedBytes(a),
  )
  return sorted.filter(
    ({ proposal }, index) => sorted.findIndex((other) => other.proposal.purpose === proposal.purpose) === index,
  )
}

/** Returns the share of the currently read bytes that the change saves. */
const computeSavedShare = ({ bytesBefore, bytesAfter }: Savings): number =>
  bytesBefore > 0 ? (bytesBefore - bytesAfter) / bytesBefore : 0

/** Returns the saved share, rounded to tenths. Proposals with similar savings are then ranked by effort. */
const roundSavingsToTenths = ({ measured: { savings } }: MeasuredProposal): number =>
  savings ? Math.round(10 * computeSavedShare(savings)) : 0

const getEffort = ({ proposal }: MeasuredProposal): number => adviceKinds.indexOf(proposal.kind)

const getSavedBytes = ({ measured: { savings } }: MeasuredProposal): number =>
  savings ? savings.bytesBefore - savings.bytesAfter : 0

const maxTables = 5
/** Maximum number of proposals to test per table. */
const maxProposals = 12
/** Minimum number of granules that the query reads of a table. Tables below it get no advice. */
const minMarks = 10

const skipReasons = {
  engine: 'it is not a MergeTree table, or the query does not read its data. For a view, analyze its SELECT',
  repeated: 'it is read more than once. Analyze one SELECT at a time',
} as const
const noSavingsNote = 'No skip index, projection, view, partition key or PREWHERE would save 20% of the data read.'

interface Advice {
  recommendations: Recommendation[]
  /** Reasons for skipped tables and for missing recommendations. */
  notes: string[]
}

/** Proposes changes to each table, tests them on the host and returns those that are worthwhile. */
const adviseOnStatement = async (context: AdviceContext, statement: AdvisedStatement): Promise<Advice> => {
  const { reads, others, formatted } = await analyzeStatement(context, statement)
  const notes = others.map(({ name, reason }) => `${name} was skipped: ${skipReasons[reason]}.`)
  const large = reads.filter(({ marks }) => marks >= minMarks)
  for (const read of reads) if (read.marks < minMarks) notes.push(formatTooSmallNote(read))
  if (large.length > maxTables) notes.push(`Only the ${maxTables} tables with the most data read were analyzed.`)
  const measured: (MeasuredProposal & { read: TableRead })[] = []
  for (const read of large.toSorted((a, b) => b.marks - a.marks).slice(0, maxTables)) {
    const subject = await readAdviceSubject(context, read, { formatted, database: statement.database })
    if (typeof subject === 'string') notes.push(`${formatTableName(read)} was skipped: ${subject}.`)
    else measured.push(...(await measureAll(context, subject)))
  }
  const recommendations = rankProposals(measured).map(toRecommendation)
  if (reads.length + others.length === 0) notes.push('The query reads no table.')
  else if (recommendations.length === 0 && notes.length < reads.length + others.length) notes.push(noSavingsNote)
  return { recommendations, notes }
}

/**
 * Returns the tables that the query reads. If a query from the query log cannot be analyzed, the error contains only
 * the error name of the host. The full error text may quote the query, which the caller did not write.
 */
const analyzeStatement = async (
  { query, call, hostKey }: AdviceContext,
  { query: text, database, queryId }: AdvisedStatement,
) => {
  try {
    return await query.statementReads({ hostKey, query: text, ...(database !== undefined && { database }) }, call)
  } catch (error) {
    if (queryId === undefined || !(error instanceof ServiceError) || error.code !== 'invalid') throw error
    const why = error.details?.clickhouseName ?? error.details?.reason
    throw new ServiceError('invalid', `query "${queryId}" can no longer be analyzed: ${String(why)}`, {
      details: { parameter: 'queryId' },
    })
  }
}

/** Tests the proposals one after another, so that advice occupies only one slot of the host queue. */
const measureAll = async (
  context: AdviceContext,
  subject: AdviceSubject,
): Promise<(MeasuredProposal & { read: TableRead })[]> => {
  const results = []
  for (const proposal of listProposals(subject).slice(0, maxProposals)) {
    const measured = await measureSavings(context, subject, proposal)
    if (measured) results.push({ proposal, measured, read: subject.read })
  }
  return results
}

const listProposals = (subject: AdviceSubject): Proposal[] =>
  Object.values(queryAdvisors).flatMap((propose) => propose(subject))

const toRecommendation = ({ proposal, measured, read }: MeasuredProposal & { read: TableRead }): Recommendation => {
  const { purpose: _purpose, test: _test, ...advice } = proposal
  return { ...advice, ...measured, table: formatTableName(read) }
}

const formatTableName = ({ database, table }: TableRead): string => `${database}.${table}`

const formatTooSmallNote = (read: TableRead): string =>
  `${formatTableName(read)} was skipped: the query reads only ${read.marks} of its granules.`
