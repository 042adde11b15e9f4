import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSkills } from '../agent/skills/skills.ts'
import { checkReadOnly } from '../query/read-only/read-only.ts'
import { reportRuns, type StatementRuns } from '../query/testing/statement-runs.ts'
import { fetchText } from '../sandbox/curl.ts'
import type { Sandbox } from '../sandbox/start.ts'
import { startSeededHost } from '../testing/seeded-hosts.ts'

/** Timeout for loading the example data of a sandbox, which is slow while other suites run. */
const startLimitMs = 180_000

const directory = fileURLToPath(new URL('../../skills', import.meta.url))
const { list, load } = await openSkills(directory)
const skills = list().map(({ name }) => load(name))

/** The statements that ran, with the servers that ran them. The report is printed at the end. */
const branches: StatementRuns['branches'] = []
let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await startSeededHost('one')
}, startLimitMs)
afterAll(async () => {
  const version = await fetchText(sandbox.url, 'SELECT version()')
  await sandbox[Symbol.asyncDispose]()
  reportRuns({ where: `the embedded engine ${version}`, branches })
})

/** Runs a statement and returns its result. Throws the error of the server. */
const runSql = (
  sql: string,
  parameters: Readonly<Record<string, string>> = {},
  settings: Record<string, string> = {},
) => {
  const bound = Object.entries(parameters).map(([name, value]) => [`param_${name}`, asTsv(value)])
  return fetchText(sandbox.url, sql, { ...Object.fromEntries(bound), ...settings })
}

/** Escapes a value for a query parameter, which ClickHouse reads in TSV format. */
const asTsv = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t')

describe('the skills', () => {
  it('include all specified skills', async () => {
    const promised =
      'anomaly-detection clickhouse-best-practices cluster-operations concept-explainer data-analysis hardware-tuning incident-response migration-patterns plan-and-verify query-optimization query-tuning-advisor replication-guide schema-design-advisor security-hardening storage-optimization system-tables-reference troubleshooting version-upgrade-advisor'
    expect(skills.map(({ name }) => name)).toEqual(promised.split(' '))
    expect((await readdir(directory)).toSorted()).toEqual(promised.split(' '))
  })

  it('refer to existing recipes', () => {
    const recipes = new Set(
      skills.flatMap(({ name, body }) =>
        [...body.matchAll(/^### (\d+)\. /gm)].map(([, number]) => `${name} ${number}`),
      ),
    )
    const referred = skills.flatMap(({ body }) =>
      [...body.matchAll(/`([a-z-]+)`, recipes? (\d+)/g)].map(([, name, number]) => `${name} ${number}`),
    )
    expect(referred.length).toBeGreaterThan(5)
    expect(referred.filter((each) => !recipes.has(each))).toEqual([])
  })

  it('refer to existing skills', () => {
    const names = new Set(skills.map(({ name }) => name))
    const sent = skills.flatMap(({ body }) =>
      [...body.matchAll(/\bload ([a-z]+(?:-[a-z]+)+)/g)].map(([, name]) => name),
    )
    expect(sent.length).toBeGreaterThan(5)
    expect(sent.filter((name = '') => !names.has(name))).toEqual([])
  })
})

describe.each(skills)('the skill $name', ({ name, text, body, statements, examples }) => {
  it('has an appropriate length', () => {
    const lines = text.trimEnd().split('\n').length
    expect(lines).toBeGreaterThanOrEqual(150)
    expect(lines).toBeLessThanOrEqual(400)
  })

  it('explains when to use it, decisions, limits, version differences and verification', () => {
    const headings = [...body.matchAll(/^#{2,3} (.*)$/gm)].map(([, heading = '']) => heading)
    for (const wanted of [/^When to use$/, /^Thresholds/, /by version$/i, /^Verify/]) {
      expect(headings).toContainEqual(expect.stringMatching(wanted))
    }
    expect(body).toMatch(/^```text$/m)
  })

  it('has statements that run with both the new and the old analyzer', async () => {
    for (const { line, sql, cannotRun } of statements) {
      branches.push({ name: `the skill ${name}, line ${line}`, ...(cannotRun !== undefined && { lacking: cannotRun }) })
      if (cannotRun !== undefined) continue
      for (const analyzer of ['1', '0']) {
        const ran = runSql(sql, examples, { allow_experimental_analyzer: analyzer })
        await expect(ran, `line ${line}`).resolves.toEqual(expect.any(String))
      }
    }
  })

  it('has statements that only read, or that parse', async () => {
    for (const { line, sql, cannotRun } of statements) {
      if (cannotRun === undefined) expect(() => checkReadOnly(sql), `line ${line}`).not.toThrow()
      else await expect(runSql('SELECT formatQuery({sql:String})', { sql }), `line ${line}`).resolves.not.toBe('')
    }
  })
})
