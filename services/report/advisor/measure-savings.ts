import type { VerificationLevel, Savings } from '#proto/advice.ts'
import { ServiceError } from '#proto/errors.ts'
import {
  type AdviceContext,
  type Proposal,
  type ProposalTest,
  estimateRowsPerMark,
  estimateSavings,
  type AdviceSubject,
  joinAllConditions,
} from './advice-subject.ts'

/** The savings of a proposal and their proof level. */
export interface MeasuredSavings {
  proof: VerificationLevel
  savings: Savings | null
}

/** The context of a test. Its `call` has the deadline of `testCall`. */
type TestContext = Omit<AdviceContext, 'testCall'>

/** Returns the savings of a proposal; null if it saves nothing. They are unverified if the host cannot test it. */
export const measureSavings = async (
  { testCall, ...rest }: AdviceContext,
  subject: AdviceSubject,
  { test, rewritten }: Proposal,
): Promise<MeasuredSavings | null> => {
  if (!testCall) return { proof: 'unverified', savings: null }
  const context = { ...rest, call: testCall }
  try {
    if (rewritten !== null && !(await isPrewhereApplied(context, subject, rewritten))) return null
    if (test.by === 'index') return await tryIndex(context, subject, test)
    const savings = await countSavings(context, subject, test)
    return savings && { proof: 'estimated', savings }
  } catch (error) {
    if (!isTestFailure(error)) throw error
    // The host stops counting at a limit. A proposal with more groups than that saves nothing.
    if (test.by === 'groups' && error.code === 'too-large') return null
    return { proof: 'unverified', savings: null }
  }
}

const tryIndex = async (
  { query, call, hostKey }: TestContext,
  subject: AdviceSubject,
  { column, type }: ProposalTest & { by: 'index' },
): Promise<MeasuredSavings | null> => {
  const { database, table } = subject.read
  const named = { hostKey, database, table, condition: joinAllConditions(subject) }
  const { outcome, marks, isEmpirical } = await query.tryIndex({ ...named, column, type }, call)
  if (outcome === 'of-no-use') return null
  if (outcome === 'tried' && marks !== null) {
    return { proof: isEmpirical ? 'verified' : 'estimated', savings: estimateSavings(subject, marks) }
  }
  // At best, an index skips all granules without a match.
  const { matchingGranules } = await query.countMatches({ ...named, rowsPerMark: estimateRowsPerMark(subject) }, call)
  return { proof: 'estimated', savings: estimateSavings(subject, matchingGranules) }
}

const countSavings = async (
  { query, call, hostKey }: TestContext,
  subject: AdviceSubject,
  test: Exclude<ProposalTest, { by: 'index' }>,
): Promise<Savings | null> => {
  const { database, table } = subject.read
  const named = { hostKey, database, table }
  if (test.by === 'groups') {
    return test.savings(await query.countGroups({ ...named, keys: test.keys, condition: test.condition }, call))
  }
  const request = { ...named, condition: test.condition, rowsPerMark: estimateRowsPerMark(subject) }
  return test.savings(await query.countMatches(request, call))
}

/** Returns whether the host would apply PREWHERE to the rewritten query. */
const isPrewhereApplied = async (
  { query, call, hostKey }: TestContext,
  { statement: { database } }: AdviceSubject,
  rewritten: string,
): Promise<boolean> => {
  const input = { hostKey, query: rewritten, ...(database !== undefined && { database }) }
  const { reads } = await query.statementReads(input, call)
  return reads.some(({ hasPrewhere }) => hasPrewhere)
}

const testFailureCodes = new Set<string>(['invalid', 'timeout', 'busy', 'too-large'])

/**
 * Returns whether the error concerns only this test, because the host rejected or aborted the test, or the test timed
 * out. Other tests may still succeed.
 */
const isTestFailure = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && (error.details?.clickhouseCode !== undefined || testFailureCodes.has(error.code))
