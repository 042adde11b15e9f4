import { type adviceMethods, type Recommendation, adviceKinds, type Savings } from '#proto/advice.ts'
import type { TableRead } from '#proto/advising.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { read } from '#shared/config/setting.ts'
import { settings } from '../config.ts'
import type { Parts } from '../work.ts'
import { kinds } from './kinds/index.ts'
import { measure, type Measured } from './measure.ts'
import { type Asking, type Proposal, readSubject, type Subject } from './subject.ts'

/** After this nothing more is tried out, and what was not is unverified. */
const tryingMs = 20_000
/** The answer has to be on its way before its caller stops listening. */
const marginMs = 1_000

/** Ranked advice for one statement. */
export const advise =
  ({ env, clock, query }: Parts): Handlers<Service<typeof adviceMethods>>['advise'] =>
  async ({ hostKey, ...asked }, call) => {
    const trying = { ...call, deadline: Math.min(call.deadline - marginMs, clock.elapsedMs() + tryingMs) }
    const { SVC_ADVICE_READS_DATA: readsData } = read(settings, env)
    const asking = { query, call, hostKey, trying: readsData ? trying : undefined }
    return adviseOn(asking, await askedStatement(asking, asked))
  }

/** A statement to advise on. */
interface AskedStatement {
  query: string
  database: string | undefined
  /** The query in the log that it was found by. */
  queryId: string | undefined
}

interface Asked {
  query?: string | undefined
  queryId?: string | undefined
  database?: string | undefined
}

/** The statement as it was given, or as the log of the host has it. */
const askedStatement = async (
  { query, call, hostKey }: Asking,
  { query: given, queryId, database }: Asked,
): Promise<AskedStatement> => {
  if (given !== undefined) return { query: given, database, queryId: undefined }
  if (queryId === undefined) throw refused('query', 'advice needs either a statement or a queryId')
  const { detail, unavailable } = await query.queryDetail({ hostKey, queryId }, call)
  if (!detail) throw refused('queryId', `the statement of a queryId is not known: ${unavailable?.message ?? 'no log'}`)
  const { kind, query: text, currentDatabase } = detail.summary
  if (kind !== 'Select') throw refused('queryId', `there is advice for SELECT alone, and this query is of kind ${kind}`)
  return { query: text, database: currentDatabase || undefined, queryId }
}

const refused = (parameter: string, sentence: string): ServiceError =>
  new ServiceError('invalid', sentence, { details: { parameter } })

/** A proposal and what is known of its savings. */
export interface Weighed {
  proposal: Proposal
  measured: Measured
}

/** Less than a fifth of the bytes is within what the next merge or insert changes. */
const leastShare = 0.2

/** Those that are worth it, of one purpose the best alone, the best first. Proposals come in the order of their cost. */
export const rank = <W extends Weighed>(weighed: readonly W[]): W[] => {
  const worth = weighed.filter(({ measured: { savings } }) => !savings || shareOf(savings) >= leastShare)
  const sorted = worth.toSorted((a, b) => tenths(b) - tenths(a) || effortOf(a) - effortOf(b) || bytesOf(b) - bytesOf(a))
  return sorted.filter(
    ({ proposal }, index) => sorted.findIndex((other) => other.proposal.purpose === proposal.purpose) === index,
  )
}

/** Of the bytes that are read now. */
const shareOf = ({ bytesBefore, bytesAfter }: Savings): number =>
  bytesBefore > 0 ? (bytesBefore - bytesAfter) / bytesBefore : 0

/** Savings that hardly differ are the same, so that the smaller change comes first. */
const tenths = ({ measured: { savings } }: Weighed): number => (savings ? Math.round(10 * shareOf(savings)) : 0)

const effortOf = ({ proposal }: Weighed): number => adviceKinds.indexOf(proposal.kind)

const bytesOf = ({ measured: { savings } }: Weighed): number => (savings ? savings.bytesBefore - savings.bytesAfter : 0)

/** Tables of one statement, and proposals for each, beyond which nobody would read on. */
const mostTables = 5
const mostProposals = 12
/** A table that is read in fewer granules is read at once. */
const leastMarks = 10

const leftOut = {
  engine: 'it is no MergeTree table, or is answered without reading. For a view, ask about its own statement',
  repeated: 'it is read more than once. Ask about one SELECT at a time',
} as const
const nothingHelps = 'No skip index, projection, view, partition key or PREWHERE would save a fifth of what is read.'

interface Advice {
  recommendations: Recommendation[]
  /** Why nothing is advised, or not on some table. */
  notes: string[]
}

/** Proposes changes table by table, has the host try them out, and tells those that are worth it. */
const adviseOn = async (asking: Asking, asked: AskedStatement): Promise<Advice> => {
  const { reads, others, formatted } = await analysed(asking, asked)
  const notes = others.map(({ name, reason }) => `${name} is left out: ${leftOut[reason]}.`)
  const large = reads.filter(({ marks }) => marks >= leastMarks)
  for (const read of reads) if (read.marks < leastMarks) notes.push(tooSmall(read))
  if (large.length > mostTables) notes.push(`Only the ${mostTables} tables that are read most are looked at.`)
  const weighed: (Weighed & { read: TableRead })[] = []
  for (const read of large.toSorted((a, b) => b.marks - a.marks).slice(0, mostTables)) {
    const subject = await readSubject(asking, read, { formatted, database: asked.database })
    if (typeof subject === 'string') notes.push(`${nameOf(read)} is left out: ${subject}.`)
    else weighed.push(...(await weigh(asking, subject)))
  }
  const recommendations = rank(weighed).map(recommendation)
  if (reads.length + others.length === 0) notes.push('The statement reads no table.')
  else if (recommendations.length === 0 && notes.length < reads.length + others.length) notes.push(nothingHelps)
  return { recommendations, notes }
}

/** A statement of the log was not written by who asks, so that what its host says of it is not told in its words. */
const analysed = async ({ query, call, hostKey }: Asking, { query: text, database, queryId }: AskedStatement) => {
  try {
    return await query.statementReads({ hostKey, query: text, ...(database !== undefined && { database }) }, call)
  } catch (error) {
    if (queryId === undefined || !(error instanceof ServiceError) || error.code !== 'invalid') throw error
    const why = error.details?.clickhouseName ?? error.details?.reason
    throw new ServiceError('invalid', `the statement of this queryId cannot be analysed any more: ${String(why)}`, {
      details: { parameter: 'queryId' },
    })
  }
}

/** One after another, so that advice takes one turn on the host at a time. */
const weigh = async (asking: Asking, subject: Subject): Promise<(Weighed & { read: TableRead })[]> => {
  const weighed = []
  for (const proposal of proposalsFor(subject).slice(0, mostProposals)) {
    const measured = await measure(asking, subject, proposal)
    if (measured) weighed.push({ proposal, measured, read: subject.read })
  }
  return weighed
}

const proposalsFor = (subject: Subject): Proposal[] => Object.values(kinds).flatMap((propose) => propose(subject))

const recommendation = ({ proposal, measured, read }: Weighed & { read: TableRead }): Recommendation => {
  const { purpose: _purpose, test: _test, ...told } = proposal
  return { ...told, ...measured, table: nameOf(read) }
}

const nameOf = ({ database, table }: TableRead): string => `${database}.${table}`

const tooSmall = (read: TableRead): string =>
  `There is nothing to gain on ${nameOf(read)}, of which ${read.marks} ${read.marks === 1 ? 'granule is' : 'granules are'} read.`
