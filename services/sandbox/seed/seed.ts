import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { HostDirectory } from '../directory.ts'
import { type StatementExecutor, StatementError } from '../statement.ts'
import type { SandboxUser } from '../users.ts'

/** A file of statements, the user that sends them, and whether they are expected to fail. */
interface Step {
  file: string
  user?: string
  fails?: true
  /** Whether the statements write rows into the log tables; these statements are not logged themselves. */
  history?: true
}

const STEPS: Step[] = [
  { file: 'tables.sql', user: 'default' },
  { file: 'data.sql', user: 'ingest' },
  { file: 'changes.sql', user: 'default' },
  { file: 'reports.sql', user: 'reports' },
  { file: 'analyst.sql', user: 'analyst' },
  { file: 'failures.sql', user: 'reports', fails: true },
  { file: 'history-queries.sql', history: true },
  { file: 'history-parts.sql', history: true },
  { file: 'history-metrics.sql', history: true },
]

const VARIANT_COUNT = 1000

/** Fills a host with example data, once per directory. The amount depends on the label. */
export async function seedOnce(
  execute: StatementExecutor,
  users: SandboxUser[],
  directory: HostDirectory,
): Promise<void> {
  if (directory.seeded) return
  writeFileSync(directory.seedingFile, String(process.pid))
  const variant = computeVariant(directory.label)
  for (const step of STEPS) {
    const user = users.find((known) => known.user === step.user)
    for (const sql of readExampleStatements(step.file)) await runStatement(execute, step, sql, variant, user)
  }
  await failLogin(execute)
  writeFileSync(directory.seededFile, '')
  rmSync(directory.seedingFile)
}

async function runStatement(
  execute: StatementExecutor,
  step: Step,
  sql: string,
  variant: number,
  user?: SandboxUser,
): Promise<void> {
  // A read-only user cannot change settings, including `log_comment`.
  const settings: Record<string, string | number> = { param_variant: variant }
  if (step.history) settings['log_queries'] = 0
  else if (user?.profile !== 'readonly') settings['log_comment'] = 'sandbox: example workload'
  const answer = execute(sql, { settings, ...(user && { user }) })
  const failure = await answer.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (step.fails && failure instanceof StatementError) return
  if (step.fails || failure !== undefined) throw new Error(`seeding failed in ${step.file}: ${sql}`, { cause: failure })
}

// Tries to log in with a wrong password, which adds a row to session_log.
async function failLogin(execute: StatementExecutor): Promise<void> {
  const user = { user: 'reports', password: 'guessed' }
  await execute('SELECT 1', { user }).catch((error: unknown) => {
    if (!(error instanceof StatementError)) throw error
  })
}

/** Returns the statements of a file of this folder. They have the parameter `variant`. */
export function readExampleStatements(file: string): string[] {
  return readFileSync(new URL(file, import.meta.url), 'utf8')
    .split(/;\n/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

function computeVariant(label: string): number {
  let sum = 7
  for (const character of label) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % VARIANT_COUNT
  return sum
}
