import type { Proof, Savings } from '#proto/advice.ts'
import { ServiceError } from '#proto/errors.ts'
import {
  type Asking,
  type Proposal,
  type Test,
  rowsPerMark,
  savedMarks,
  type Subject,
  wholeCondition,
} from './subject.ts'

/** What is known of the savings of a proposal. */
export interface Measured {
  proof: Proof
  savings: Savings | null
}

type Trying = Omit<Asking, 'trying'>

/** Has the host tell what a proposal would save; null when nothing. What the host cannot tell stays unverified. */
export const measure = async (
  { trying, ...asked }: Asking,
  subject: Subject,
  { test, rewritten }: Proposal,
): Promise<Measured | null> => {
  if (!trying) return { proof: 'unverified', savings: null }
  const asking = { ...asked, call: trying }
  try {
    if (rewritten !== null && !(await isFiltered(asking, subject, rewritten))) return null
    if (test.by === 'index') return await tryIndex(asking, subject, test)
    const savings = await counted(asking, subject, test)
    return savings && { proof: 'estimated', savings }
  } catch (error) {
    if (!isAboutTest(error)) throw error
    // More groups than may be counted are too many to be worth anything.
    if (test.by === 'groups' && error.code === 'too-large') return null
    return { proof: 'unverified', savings: null }
  }
}

const tryIndex = async (
  { query, call, hostKey }: Trying,
  subject: Subject,
  { column, type }: Test & { by: 'index' },
): Promise<Measured | null> => {
  const { database, table } = subject.read
  const named = { hostKey, database, table, condition: wholeCondition(subject) }
  const { outcome, marks, isEmpirical } = await query.tryIndex({ ...named, column, type }, call)
  if (outcome === 'of-no-use') return null
  if (outcome === 'tried' && marks !== null) {
    return { proof: isEmpirical ? 'verified' : 'estimated', savings: savedMarks(subject, marks) }
  }
  // No index can leave out more than the granules without a match.
  const { matchingGranules } = await query.countMatches({ ...named, rowsPerMark: rowsPerMark(subject) }, call)
  return { proof: 'estimated', savings: savedMarks(subject, matchingGranules) }
}

const counted = async (
  { query, call, hostKey }: Trying,
  subject: Subject,
  test: Exclude<Test, { by: 'index' }>,
): Promise<Savings | null> => {
  const { database, table } = subject.read
  const named = { hostKey, database, table }
  if (test.by === 'groups') {
    return test.savings(await query.countGroups({ ...named, keys: test.keys, condition: test.condition }, call))
  }
  const asked = { ...named, condition: test.condition, rowsPerMark: rowsPerMark(subject) }
  return test.savings(await query.countMatches(asked, call))
}

/** Whether the host would filter before reading, as the rewritten statement wants it to. */
const isFiltered = async (
  { query, call, hostKey }: Trying,
  { statement: { database } }: Subject,
  rewritten: string,
): Promise<boolean> => {
  const input = { hostKey, query: rewritten, ...(database !== undefined && { database }) }
  const { reads } = await query.statementReads(input, call)
  return reads.some(({ hasPrewhere }) => hasPrewhere)
}

const ownCodes = new Set<string>(['invalid', 'timeout', 'busy', 'too-large'])

/** The host refused or gave up on this test, or there is no time left; another may do. */
const isAboutTest = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && (error.details?.clickhouseCode !== undefined || ownCodes.has(error.code))
