import { writeFileSync } from 'node:fs'
import { z } from 'zod'

/** The catalogue statements that ran on one server, by version branch. */
export const StatementRuns = z.object({
  /** The server that ran the statements, such as `the embedded engine 25.8`. */
  where: z.string(),
  branches: z.array(z.object({ name: z.string(), since: z.string().optional(), lacking: z.string().optional() })),
})
export type StatementRuns = z.infer<typeof StatementRuns>
type Branch = StatementRuns['branches'][number]

/** Formats the runs as text: the branches that ran, and the missing requirement of each other branch. */
export const formatRuns = ({ where, branches }: StatementRuns): string => {
  const ran = branches.filter((branch) => branch.lacking === undefined)
  const never = branches.filter((branch) => branch.lacking !== undefined)
  return [
    `statements on ${where}: ${ran.length} ran, ${never.length} never`,
    `  ran: ${ran.map(label).join(', ')}`,
    ...(never.length > 0 ? [`  never: ${never.map((each) => `${label(each)} (${each.lacking})`).join(', ')}`] : []),
  ].join('\n')
}

/** Formats the runs of several servers as one line per statement branch, with the servers that ran it. */
export const compareRuns = (all: readonly StatementRuns[]): string => {
  const places = new Map<string, string[]>()
  for (const { where, branches } of all) {
    for (const branch of branches) {
      const known = places.get(label(branch)) ?? []
      places.set(label(branch), branch.lacking === undefined ? [...known, where] : known)
    }
  }
  const sorted = [...places].toSorted(([a], [b]) => a.localeCompare(b))
  const never = sorted.filter(([, found]) => found.length === 0).length
  const lines = sorted.map(([name, found]) => `${name}: ${found.join(', ') || 'never'}`)
  return [...lines, `${sorted.length} statements and branches, ${never} of them never ran`].join('\n')
}

const label = ({ name, since }: Branch): string => (since === undefined ? name : `${name} since ${since}`)

/** Prints the runs and writes them to the file named by `TEST_STATEMENT_REPORT`. */
export const reportRuns = (runs: StatementRuns): void => {
  process.stdout.write(`${formatRuns(runs)}\n`)
  const file = process.env.TEST_STATEMENT_REPORT
  if (file) writeFileSync(file, JSON.stringify(runs))
}
